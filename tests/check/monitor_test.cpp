// A search with a monitor beside the model: what it forbids does not happen, and only what it judges counts.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include "model/check/checker.hpp"
#include "model/check/window_monitor.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/live_reference.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// From = the first state that is judged: 0 all, 1 after a fault, 2 none.
class Plain : public Monitor {
 public:
  Plain(bool faults, int from) : faults_(faults), from_(from) {}
  int next(const Program&, const std::uint8_t*, int state, const Event& e) const override {
    if (e.fault == kNoBudget) return state;
    return faults_ ? 1 : kForbidden;
  }
  bool judges(int state) const override { return state >= from_; }

 private:
  bool faults_;
  int from_;
};

class Honest : public Plain {
 public:
  using Plain::Plain;
  bool forbids_only_paid() const override { return true; }
};

// Goes from 0 to 1 and back whenever a client hears something.
class Turn : public Monitor {
 public:
  int next(const Program&, const std::uint8_t*, int state, const Event& e) const override {
    return e.kind == EventKind::Receive ? 1 - state : state;
  }
  bool judges(int) const override { return true; }
  bool forbids_only_paid() const override { return true; }
};

// Says that it forbids only what a fault pays for, and forbids that a client sends.
class Liar : public Turn {
 public:
  int next(const Program&, const std::uint8_t*, int state, const Event& e) const override { return e.kind == EventKind::Send ? kForbidden : state; }
};

const char* const kLeftOpen = R"j({
  "title": "A record that a crash leaves open",
  "databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text PRIMARY KEY, state text)" ] } },
  "services": { "s": {
    "on_request": [ { "sql": "INSERT INTO t VALUES (:key, 'OPEN')" }, { "sql": "UPDATE t SET state = 'DONE' WHERE id = :key" }, { "reply": 200 } ],
    "jobs": { "look": { "every": "1m", "steps": [ { "sql": "SELECT id FROM t WHERE state = 'OPEN'" } ] } } } },
  "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ], "timeout": "5s" } },
  "faults": { "crash": 1 },
  "invariants": [ { "use": "no-stuck-intent", "record": "d.t", "open": "OPEN" } ]
})j";

CheckResult check_with(const Program& program, const Monitor* monitor, bool stop_at_first = false) {
  CheckOptions options;
  options.threads = 2;
  options.explore_all = !stop_at_first;
  options.stop_at_first = stop_at_first;
  options.monitor = monitor;
  options.symmetry = false;  // there is none beside a monitor
  return check(program, options);
}

bool faultless(const std::vector<Event>& trace) {
  for (const Event& e : trace) {
    if (e.fault != kNoBudget) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a monitor that lets everything pass and judges everything changes no verdict and no depth") {
  for (const auto& program : programs_of(shipped("rpc-in-transaction.jsonc"))) {
    const Plain monitor(true, 0);
    const CheckResult plain = check_with(*program, nullptr), watched = check_with(*program, &monitor);
    CHECK(watched.depth == plain.depth);
    REQUIRE(watched.invariants.size() == plain.invariants.size());
    for (std::size_t i = 0; i < plain.invariants.size(); ++i) {
      CHECK(watched.invariants[i].verdict == plain.invariants[i].verdict);
      CHECK(watched.invariants[i].trace.size() == plain.invariants[i].trace.size());
    }
    // Budgets tell whether a fault has happened, so the byte of the monitor tells no two worlds apart.
    CHECK(watched.states == plain.states);
    CHECK(watched.transitions == plain.transitions);
  }
}

TEST_CASE("what is forbidden does not happen; what is not judged does not count") {
  const auto program = std::move(programs_of(shipped("rpc-in-transaction.jsonc")).front());
  const CheckResult plain = check_with(*program, nullptr);
  REQUIRE(plain.invariants[0].verdict == Verdict::Violated);
  const Plain no_faults(false, 0), nothing(true, 2), after(true, 1);
  const CheckResult quiet = check_with(*program, &no_faults);
  CHECK(quiet.invariants[0].verdict == Verdict::Holds);
  CHECK(quiet.states < plain.states);
  CHECK(quiet.unseen.faults.size() == program->faults.size());
  CHECK(check_with(*program, &nothing).invariants[0].verdict == Verdict::Holds);
  const CheckResult late = check_with(*program, &after);
  CHECK(late.invariants[0].verdict == Verdict::Violated);
  CHECK(!faultless(late.invariants[0].trace));
}

TEST_CASE("a promise that is broken before it is judged counts as soon as it is") {
  // The broken row is there from the beginning, and nothing that the promise reads changes any more.
  const auto program = program_from(R"j({
    "title": "Broken from the beginning",
    "databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (a int NOT NULL)", "INSERT INTO t VALUES (1)" ] } },
    "services": { "s": { "on_request": [ { "reply": 200 } ] } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } },
    "faults": { "lose_request": 1 },
    "invariants": [ { "name": "empty", "always_empty": "SELECT a FROM d.t" } ]
  })j");
  CHECK(check_with(*program, nullptr).invariants[0].trace.empty());
  const Plain after(true, 1);
  const CheckResult late = check_with(*program, &after);
  REQUIRE(late.invariants[0].verdict == Verdict::Violated);
  CHECK(late.invariants[0].trace.size() == 2);
}

TEST_CASE("stop_at_first ends with the level in which a promise breaks") {
  const auto program = std::move(programs_of(shipped("rpc-in-transaction.jsonc")).front());
  const CheckResult all = check_with(*program, nullptr), first = check_with(*program, nullptr, true);
  CHECK(first.invariants[0].verdict == Verdict::Violated);
  CHECK(first.invariants[0].trace.size() == all.invariants[0].trace.size());
  CHECK(first.invariants[1].verdict == Verdict::Inconclusive);
  CHECK(first.states < all.states);
}

TEST_CASE("promises of liveness are asked beside a monitor that forbids only what a fault pays for, and beside no other") {
  const auto program = program_from(kLeftOpen);
  const auto verdict = [&](const Monitor& m) { return check_with(*program, &m).invariants[0].verdict; };
  CHECK(verdict(Plain(true, 0)) == Verdict::Inconclusive);
  CHECK(verdict(Honest(true, 0)) == Verdict::Violated);
  CHECK(verdict(Honest(true, 1)) == Verdict::Violated);  // after the crash
  CHECK(verdict(Honest(true, 2)) == Verdict::Holds);     // nothing is judged
  CHECK(verdict(Honest(false, 0)) == Verdict::Holds);    // no crash
  CHECK(verdict(Turn()) == Verdict::Violated);
}

TEST_CASE("a monitor that breaks its word is a bug of ours") {
  const auto program = program_from(kLeftOpen);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(9);
    CheckOptions options;
    options.threads = 1;
    const Liar liar;
    options.monitor = &liar;
    check(*program, options);
    std::_Exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
}

TEST_CASE("beside monitors, the checker and the plain way agree on promises of liveness of generated scenarios") {
  int compared = 0, violated = 0, cycles = 0, differ = 0;
  const std::uint64_t count = generated_count(120);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const auto program = program_from(generated_live_scenario(seed), "", false);
    const std::vector<Window> windows = windows_of(*program);
    bool endless = false;
    for (const FaultBudget& f : program->faults) endless = endless || f.endless;
    const FaultKind kind = program->faults.empty() ? FaultKind::DuplicateRequest : program->faults[seed % program->faults.size()].kind;
    const WindowMonitor one(windows, kind, static_cast<int>(seed / 2 % windows.size()), endless);
    const WindowMonitor any(windows, kind, kAnyWindow, endless);
    const Honest after(true, 1);
    const Turn turn;
    for (const Monitor* monitor : {static_cast<const Monitor*>(&one), static_cast<const Monitor*>(&any), static_cast<const Monitor*>(&after),
                                   static_cast<const Monitor*>(&turn)}) {
      CheckOptions options;
      options.threads = 2;
      options.max_states = 1000;
      options.monitor = monitor;
      const CheckResult got = check(*program, options);
      if (!got.complete) continue;
      for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(got.invariants[i].name);
        const std::optional<Verdict> want = live_reference(*program, i, 1000, monitor);
        if (!want) continue;
        ++compared;
        CHECK(verdict_name(got.invariants[i].verdict) == std::string(verdict_name(*want)));
        const std::optional<Verdict> alone = live_reference(*program, i, 1000);
        if (monitor == &turn && alone) CHECK(verdict_name(*alone) == std::string(verdict_name(*want)));
        differ += alone && *alone != *want ? 1 : 0;
        if (*want != Verdict::Violated) continue;
        ++violated;
        cycles += got.invariants[i].cycle_from.value() < got.invariants[i].trace.size() ? 1 : 0;
      }
    }
  }
  MESSAGE(compared << " verdicts compared, " << violated << " violated, " << cycles << " of them by a cycle, " << differ << " others than without a monitor");
  CHECK(static_cast<std::uint64_t>(compared) > count);
  CHECK(static_cast<std::uint64_t>(cycles) > count / 50);
  CHECK(static_cast<std::uint64_t>(differ) > count / 20);
}

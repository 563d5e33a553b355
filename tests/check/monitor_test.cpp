// A search with a monitor beside the model: what it forbids does not happen, and only what it judges counts.
#include <doctest/doctest.h>

#include "model/check/checker.hpp"
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

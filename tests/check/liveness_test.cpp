// Promises of liveness: what goes on for ever once faults have stopped.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "invariants/liveness.hpp"
#include "model/check/checker.hpp"
#include "model/program/diagnostic.hpp"
#include "sim/replay.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/live_reference.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kStuck = R"j({"use": "no-stuck-intent", "record": "db.t", "open": "OPEN"})j";
const std::string kAnswered = R"j("answered-eventually")j";

struct Parts {
  std::string promise;
  std::string on_request;
  std::string jobs = "";       // NAME: {...}
  std::string endpoints = "";  // NAME: [...]
  std::string client = R"j("timeout": "5s")j";
  std::string faults = "";
};

std::string text_of(const Parts& p) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [
      "CREATE TABLE t (id text PRIMARY KEY, state text, until timestamptz)", "CREATE TABLE u (id text PRIMARY KEY)",
      "INSERT INTO u VALUES ('A'), ('B')"]}}}},
    "redis": {{"r": {{}}}},
    "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "honoured", "may_decline": true}}}}}}}},
    "services": {{"s": {{"on_request": [{}], "endpoints": {{{}}}, "jobs": {{{}}}}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], {}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     p.on_request, p.endpoints, p.jobs, p.client, p.faults, p.promise);
}

// Of the only promise. Threads make no difference, the plain way of judging neither, and a counterexample is one.
InvariantResult judged(const Parts& parts) {
  const auto program = program_from(text_of(parts));
  CheckOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const CheckResult result = check(*program, one), again = check(*program, three);
  const InvariantResult& r = result.invariants[0];
  CHECK(again.invariants[0].verdict == r.verdict);
  CHECK(again.invariants[0].trace == r.trace);
  CHECK(again.invariants[0].cycle_from == r.cycle_from);
  const std::optional<Verdict> plain = live_reference(*program, 0, 3000);
  REQUIRE(plain);
  CHECK(verdict_name(*plain) == std::string(verdict_name(r.verdict)));
  if (r.verdict == Verdict::Violated) {
    const Replay run = replay(*program, choices_of(*program, r.trace));
    REQUIRE(!run.divergence);
    CHECK(breaks_at_end(*program, run.events, r.name, r.cycle_from));
  }
  return r;
}

std::string verdict(const Parts& parts) { return verdict_name(judged(parts).verdict); }

std::size_t cycle_length(const InvariantResult& r) { return r.trace.size() - r.cycle_from.value(); }

bool in_cycle(const InvariantResult& r, EventKind kind) {
  return std::any_of(r.trace.begin() + static_cast<std::ptrdiff_t>(r.cycle_from.value()), r.trace.end(),
                     [&](const Event& e) { return e.kind == kind; });
}

const std::string kOpens = R"j({"sql": "INSERT INTO t VALUES (:key, 'OPEN', NULL) ON CONFLICT DO NOTHING"})j";
const std::string kCloses = R"j({"sql": "UPDATE t SET state = 'DONE' WHERE id = :key"})j";
const std::string kReply = R"j({"reply": 200})j";
const std::string kPass = R"j({"sql": "UPDATE t SET state = 'DONE' WHERE state = 'OPEN'"})j";
const std::string kLook = R"j({"sql": "SELECT id FROM t WHERE state = 'OPEN'", "into": "a"})j";

std::string job(const std::string& name, const std::string& steps) {
  return "\"" + name + R"j(": {"every": "1m", "steps": [)j" + steps + "]}";
}

}  // namespace

TEST_CASE("a record that a crash leaves behind ends only when a job ends it") {
  Parts p{kStuck, kOpens + ", " + kCloses + ", " + kReply};
  CHECK(verdict(p) == "holds");
  p.faults = R"j("crash": 1)j";
  const InvariantResult left = judged(p);
  CHECK(left.verdict == Verdict::Violated);
  CHECK(cycle_length(left) == 0);
  p.jobs = job("look", kLook);
  const InvariantResult looked = judged(p);
  CHECK(looked.verdict == Verdict::Violated);
  CHECK(in_cycle(looked, EventKind::StartJob));
  p.jobs = job("sweep", kPass);
  CHECK(verdict(p) == "holds");
  // The job that helps is started some time, however often the other one runs.
  p.jobs = job("look", kLook) + ", " + job("sweep", kPass);
  CHECK(verdict(p) == "holds");
}

TEST_CASE("rows are judged one by one: a different one each time is no stuck one") {
  Parts p{R"j({"name": "p", "eventually_empty": "SELECT state FROM db.t"})j", R"j({"sql": "INSERT INTO t VALUES (:key, 'OPEN', NULL)"}, {"reply": 200})j"};
  p.jobs = job("turn", R"j({"sql": "UPDATE t SET state = CASE WHEN state = 'OPEN' THEN 'DONE' ELSE 'OPEN' END"})j");
  CHECK(verdict(p) == "holds");
  p.promise = R"j({"name": "p", "eventually_empty": "SELECT id FROM db.t"})j";
  CHECK(verdict(p) == "violated");
}

TEST_CASE("a client that asks for ever: the work that it waits for is not put off for ever") {
  Parts p{kAnswered, kOpens + R"j(, {"reply": 202, "continue": true}, )j" + kCloses};
  p.endpoints = R"j("status": [{"sql": "SELECT state FROM t WHERE id = :key", "into": "o"},
    {"if": ":o.state = 'DONE'", "then": [{"reply": 200}], "else": [{"reply": 202}]}])j";
  p.client = R"j("timeout": "5s", "poll": {"to": "s.status", "times": "unlimited"})j";
  CHECK(verdict(p) == "holds");
  // It asks only so often, and that may be too soon.
  Parts few = p;
  few.client = R"j("timeout": "5s", "poll": {"to": "s.status", "times": 2})j";
  CHECK(verdict(few) == "violated");
  // The work dies with its process, and nobody takes it up.
  p.faults = R"j("crash": 1)j";
  const InvariantResult r = judged(p);
  CHECK(r.verdict == Verdict::Violated);
  CHECK(in_cycle(r, EventKind::Send));
  CHECK(in_cycle(r, EventKind::Receive));
  p.jobs = job("sweep", kPass);
  CHECK(verdict(p) == "holds");
}

TEST_CASE("a client that gives up breaks the promise unless a fault struck its last request") {
  Parts p{kAnswered, kReply};
  p.client = R"j("timeout": "5s", "retries": 1)j";
  p.faults = R"j("lose_response": 2)j";
  CHECK(verdict(p) == "holds");
  p.on_request = R"j({"reply": 500})j";
  CHECK(verdict(p) == "violated");
  p.client = R"j("timeout": "5s", "retries": "unlimited")j";
  const InvariantResult r = judged(p);
  CHECK(r.verdict == Verdict::Violated);
  CHECK(cycle_length(r) > 0);
  p.on_request = R"j({"stop": true})j";
  CHECK(verdict(p) == "violated");
}

TEST_CASE("a client without a time-out waits for ever for what a fault took away") {
  Parts p{kAnswered, kReply};
  p.client = R"j("retries": 1)j";
  CHECK(verdict(p) == "holds");
  p.faults = R"j("lose_response": 1)j";
  const InvariantResult r = judged(p);
  CHECK(r.verdict == Verdict::Violated);
  CHECK(cycle_length(r) == 0);
  p.client = R"j("retries": 1, "timeout": "5s")j";
  CHECK(verdict(p) == "holds");
}

TEST_CASE("a fault that never heals may go on for ever, but need not happen") {
  Parts p{kAnswered, R"j({"call": "p.charge", "key": ":key", "timeout": "3s", "on_timeout": [{"reply": 503}], "on_error": [{"reply": 503}]}, {"reply": 200})j"};
  p.client = R"j("timeout": "5s", "retries": "unlimited")j";
  p.faults = R"j("error_before_effect": 2, "lose_response": 1)j";
  CHECK(verdict(p) == "violated");  // it may be declined for ever: a choice of the provider
  p.on_request = R"j({"call": "p.charge", "key": ":key", "timeout": "3s", "on_timeout": [{"reply": 503}], "on_error": {"declined": [{"reply": 422}], "5xx": [{"reply": 503}]}}, {"reply": 200})j";
  CHECK(verdict(p) == "holds");
  for (const char* kind : {"error_before_effect", "error_after_effect", "lose_response"}) {
    CAPTURE(kind);
    p.faults = fmt::format(R"j("{}": {{"provider": "p", "heals": false}})j", kind);
    const InvariantResult r = judged(p);
    CHECK(r.verdict == Verdict::Violated);
    CHECK(cycle_length(r) > 0);
  }
  // Without it nothing is left to happen but the fault: nobody may wait for that.
  p.on_request = R"j({"stop": true})j";
  p.client = R"j("retries": 1)j";
  p.faults = R"j("crash": {"heals": false})j";
  CHECK(verdict(p) == "violated");
}

TEST_CASE("time goes on: a lease runs out, unless somebody renews it again and again") {
  Parts p{kStuck, R"j({"sql": "INSERT INTO t VALUES (:key, 'OPEN', NOW() + interval '30s') ON CONFLICT DO NOTHING"}, )j" + kCloses + ", " + kReply};
  p.faults = R"j("crash": 1)j";
  p.jobs = job("take", R"j({"sql": "UPDATE t SET state = 'DONE' WHERE state = 'OPEN' AND until < NOW()"})j");
  CHECK(verdict(p) == "holds");
  p.jobs += ", " + job("look", kLook + R"j(, {"pause": true}, {"pause": true})j");
  CHECK(verdict(p) == "holds");
  p.jobs += ", " + job("beat", R"j({"sql": "UPDATE t SET until = NOW() + interval '30s' WHERE until > NOW()"})j");
  const InvariantResult r = judged(p);
  CHECK(r.verdict == Verdict::Violated);
  CHECK(!in_cycle(r, EventKind::PassDeadline));
}

TEST_CASE("a lock that a dead owner left: a time to live ends it") {
  Parts p{"", R"j({"redis": "SET lock 1 NX"}, {"redis": "DEL lock"}, {"reply": 200})j"};
  p.promise = R"j({"use": "no-stuck-intent", "lock": "lock"})j";
  CHECK(verdict(p) == "holds");
  p.faults = R"j("crash": 1)j";
  CHECK(verdict(p) == "violated");
  p.on_request = R"j({"redis": "SET lock 1 NX PX 30000"}, {"redis": "DEL lock"}, {"reply": 200})j";
  CHECK(verdict(p) == "holds");
  // Records and locks at once.
  p.promise = R"j({"use": "no-stuck-intent", "record": "db.t", "open": ["OPEN", "NEW"], "lock": ["lock", "other"]})j";
  CHECK(verdict(p) == "holds");
  p.on_request = R"j({"redis": "SET other 1"}, {"reply": 200})j";
  CHECK(verdict(p) == "violated");
  p.on_request = kOpens + R"j(, {"reply": 200})j";
  CHECK(verdict(p) == "violated");
}

TEST_CASE("who spins until a timer fires gets no verdict, until timers may fire at any moment") {
  Parts p{kAnswered, R"j({"set": {"got": "0"}}, {"while": ":got = 0", "do": [
      {"redis": "SET lock 1 NX PX 30000", "into": "lock"}, {"if": ":lock IS NOT NULL", "then": [{"set": {"got": "1"}}]}]},
    {"redis": "DEL lock"}, {"reply": 200})j"};
  p.client = R"j("timeout": "5s", "clicks": 2)j";
  CHECK(verdict(p) == "holds");
  p.faults = R"j("crash": 1)j";
  CHECK(verdict(p) == "inconclusive");
  p.faults = R"j("crash": 1, "expire": {"heals": false})j";
  CHECK(verdict(p) == "holds");
  // A client that tries again for ever while a lease runs: the lease ends, and it goes on trying.
  Parts again{kAnswered, R"j({"sql": "INSERT INTO t VALUES (:key, 'OPEN', NOW() + interval '30s') ON CONFLICT DO NOTHING"}, {"reply": 500})j"};
  again.client = R"j("timeout": "5s", "retries": "unlimited")j";
  CHECK(verdict(again) == "inconclusive");
  again.faults = R"j("expire": 1)j";
  CHECK(verdict(again) == "violated");
}

TEST_CASE("two handlers that end each other's deadlocks") {
  // Each locks A and B in its own order and tries again when it is the victim.
  Parts p{kAnswered, R"j({"set": {"done": "0"}}, {"while": ":done = 0", "do": [
      {"sql": "BEGIN"},
      {"sql": "SELECT id FROM u WHERE id = 'A' FOR UPDATE"},
      {"sql": "SELECT id FROM u WHERE id = 'B' FOR UPDATE", "on_error": {"deadlock": [{"sql": "ROLLBACK"}]}, "into": "b"},
      {"if": ":b.count = 1", "then": [{"sql": "COMMIT"}, {"set": {"done": "1"}}]}]}, {"reply": 200})j"};
  p.client = R"j("timeout": "5s", "clicks": 2)j";
  CHECK(verdict(p) == "holds");  // the same order: one waits for the other
  for (const char* id : {"id = 'A'", "id = 'B'"}) {
    const bool first = std::string(id) == "id = 'A'";
    p.on_request.replace(p.on_request.find(id), 8, fmt::format("id = CASE WHEN :key = 'K' THEN '{}' ELSE '{}' END", first ? "A" : "B", first ? "B" : "A"));
  }
  // A victim may come back before the other has noticed that it can go on.
  p.client = R"j("retries": 0}, "d": {"requests": [{"to": "s", "key": "L"}])j";
  const InvariantResult r = judged(p);
  CHECK(r.verdict == Verdict::Violated);
  CHECK(in_cycle(r, EventKind::Deadlock));
}

TEST_CASE("what no-stuck-intent needs to know") {
  const Parts p{"", kReply};
  auto mistake = [&](const std::string& promise) {
    Parts with = p;
    with.promise = promise;
    try {
      program_from(text_of(with));
    } catch (const ScenarioError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string needs = "no-stuck-intent needs 'record' and 'open', or 'lock'";
  CHECK(mistake(R"j("no-stuck-intent")j").find(needs) != std::string::npos);
  CHECK(mistake(R"j({"use": "no-stuck-intent", "record": "db.t"})j").find(needs) != std::string::npos);
  CHECK(mistake(R"j({"use": "no-stuck-intent", "record": "db.tt", "open": "A"})j").find("unknown table") != std::string::npos);
  CHECK(mistake(R"j({"use": "no-stuck-intent", "record": "db.t", "identity": "ids", "open": "A"})j").find("unknown column") != std::string::npos);
  CHECK(mistake(kStuck).empty());
}

TEST_CASE("an unlimited client has one key for all attempts") {
  Parts p{kAnswered, kReply};
  std::string text = text_of(p);
  text.replace(text.find(R"("timeout": "5s")"), 15, R"("retries": "unlimited")");
  CHECK_NOTHROW(program_from(text));
  text.replace(text.find(R"("key": "K")"), 10, R"("key": {"fresh": "per_attempt"})");
  CHECK_THROWS_AS(program_from(text), ScenarioError);
}

TEST_CASE("a replay refuses a way to go on that is none") {
  Parts p{kStuck, kOpens + ", " + kCloses + ", " + kReply};
  p.faults = R"j("crash": 1)j";
  p.jobs = job("look", kLook);
  const auto program = program_from(text_of(p));
  const InvariantResult r = check(*program).invariants[0];
  REQUIRE(r.verdict == Verdict::Violated);
  const Invariant& promise = program->invariants[0];
  std::string why;
  CHECK(breaks_for_ever(*program, promise, r.trace, *r.cycle_from, why));
  CHECK(!breaks_for_ever(*program, promise, r.trace, *r.cycle_from - 1, why));
  std::vector<Event> cut(r.trace.begin(), r.trace.end() - 1);
  CHECK(!breaks_for_ever(*program, promise, cut, *r.cycle_from, why));
  CHECK(why == "the part that is said to go on for ever does not lead back to where it began");
  CHECK(!breaks_for_ever(*program, promise, {}, 0, why));
  CHECK(why == "something is left to happen at the end");
}

TEST_CASE("the plain way gives the expected verdicts for the designs that rules.py breaks") {
  for (const auto& p : programs_of(std::string(ONCECHECK_SOURCE_DIR) + "/tests/mutants/liveness.jsonc")) {
    CAPTURE(p->scenario.variant);
    const CheckResult result = check(*p);
    for (std::size_t i = 0; i < p->invariants.size(); ++i) {
      CAPTURE(p->invariants[i].spec.name);
      const Verdict expected = p->invariants[i].expected == Expectation::Violated ? Verdict::Violated : Verdict::Holds;
      CHECK(result.invariants[i].verdict == expected);
      CHECK(live_reference(*p, i, 2000) == expected);
    }
  }
}

TEST_CASE("the checker and the plain way agree on generated scenarios") {
  int compared = 0, violated = 0, cycles = 0, open = 0;
  const std::uint64_t count = generated_count(300);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const std::string text = generated_live_scenario(seed);
    const auto program = program_from(text, "", false), reduced = program_from(text);
    CheckOptions options;
    options.threads = 2;
    options.max_states = 1500;
    const CheckResult got = check(*program, options);
    if (!got.complete) continue;
    const CheckResult other = check(*reduced, options);
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(got.invariants[i].name);
      const std::optional<Verdict> want = live_reference(*program, i, 1500);
      if (!want) continue;
      ++compared;
      CHECK(verdict_name(got.invariants[i].verdict) == std::string(verdict_name(*want)));
      if (other.complete) CHECK(verdict_name(other.invariants[i].verdict) == std::string(verdict_name(*want)));
      open += *want == Verdict::Inconclusive ? 1 : 0;
      if (*want != Verdict::Violated) continue;
      ++violated;
      cycles += cycle_length(got.invariants[i]) > 0 ? 1 : 0;
    }
  }
  MESSAGE(compared << " verdicts compared, " << violated << " violated, " << cycles << " of them by a cycle, " << open << " inconclusive");
  CHECK(static_cast<std::uint64_t>(compared) > count);
  CHECK(static_cast<std::uint64_t>(cycles) > count / 50);
}

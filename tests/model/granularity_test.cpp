// What a scenario may leave out: messages on their way, shared processes, timers that run out by themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

CheckResult checked(const std::string& text) {
  CheckOptions options;
  options.explore_all = true;
  options.symmetry = false;
  return check(*program_from(text), options);
}

bool happens(const CheckResult& r, std::size_t invariant, EventKind kind) {
  const auto& trace = r.invariants[invariant].trace;
  return std::any_of(trace.begin(), trace.end(), [&](const Event& e) { return e.kind == kind; });
}

std::string two_clicks(const std::string& client) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id text NOT NULL)"], "effects": ["t"]}}}},
    "services": {{"s": {{"on_request": [{{"sql": "INSERT INTO t VALUES (:key)"}}, {{"reply": 503}}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "retries": 1{}}}}},
    "invariants": ["no-duplicate-effect"]
  }})j", client);
}

}  // namespace

TEST_CASE("an instant network has the same verdict without messages on their way") {
  const CheckResult slow = checked(two_clicks("")), fast = checked(two_clicks(R"j(, "network": "instant")j"));
  CHECK(slow.invariants[0].verdict == Verdict::Violated);
  CHECK(fast.invariants[0].verdict == Verdict::Violated);
  CHECK(slow.invariants[0].trace.size() == 8);
  // send, INSERT, 503 (and the retry with it), INSERT
  CHECK(fast.invariants[0].trace.size() == 4);
  CHECK_FALSE(happens(fast, 0, EventKind::Deliver));
  CHECK_FALSE(happens(fast, 0, EventKind::Receive));
  CHECK(fast.states == 6);  // the start, then after: send, INSERT, 503, INSERT, 503
}

TEST_CASE("with a process for each request a crash stops one of two") {
  auto scenario = [](const std::string& processes) {
    return fmt::format(R"j({{
      "title": "test",
      "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id text NOT NULL)"]}}}},
      "services": {{"s": {{{}"on_request": [{{"sql": "INSERT INTO t VALUES (:key)"}}, {{"reply": 200}}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2, "network": "instant"}}}},
      "faults": {{"crash": 1}},
      "invariants": [
        {{"name": "none", "finally_empty": "SELECT identity FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM db.t)"}},
        {{"name": "less than two", "finally_empty": "SELECT identity FROM facts.operations WHERE (SELECT count(*) FROM db.t) < 2"}}]
    }})j", processes);
  };
  const CheckResult shared = checked(scenario("")), own = checked(scenario(R"j("processes": "per_request", )j"));
  CHECK(shared.invariants[0].verdict == Verdict::Violated);  // one crash stops both
  CHECK(own.invariants[0].verdict == Verdict::Holds);
  CHECK(own.invariants[1].verdict == Verdict::Violated);
}

TEST_CASE("a lease that nothing else ends stands for ever") {
  auto scenario = [](const std::string& expire) {
    return fmt::format(R"j({{
      "title": "test",
      "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id int PRIMARY KEY, until timestamptz, n int)"]}}}},
      "services": {{"s": {{"on_request": [{{"sql": "INSERT INTO t VALUES (1, now() + interval '5 s', 0)"}}, {{"reply": 200}}],
        "jobs": {{"end": {{"every": "1m", "steps": [{{"sql": "DELETE FROM t WHERE until < now()"}}]}}}}}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}}},
      "faults": {{"expire": {}}},
      "invariants": [{{"name": "ends", "finally_empty": "SELECT id FROM db.t"}}]
    }})j", expire);
  };
  CHECK(checked(scenario("0")).invariants[0].verdict == Verdict::Holds);
  CHECK(checked(scenario(R"j({"max": 1, "otherwise": "free"})j")).invariants[0].verdict == Verdict::Holds);
  // With a budget that need not be spent, and without one.
  CHECK(checked(scenario(R"j({"max": 1, "otherwise": "never"})j")).invariants[0].verdict == Verdict::Violated);
  const CheckResult never = checked(scenario(R"j({"max": 0, "otherwise": "never"})j"));
  CHECK(never.invariants[0].verdict == Verdict::Violated);
  CHECK(never.complete);
}

TEST_CASE("who waits for an answer that cannot come may wait for ever") {
  auto scenario = [](const std::string& timeout) {
    return fmt::format(R"j({{
      "title": "test",
      "providers": {{"p": {{"operations": {{"work": {{}}}}}}}},
      "services": {{"s": {{"on_request": [{{"call": "p.work", "timeout": "5s", "on_timeout": [{{"reply": 504}}]}}, {{"reply": 200}}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}}},
      "faults": {{"lose_message": {{"max": 1, "provider": "p"}}, "timeout": {}}},
      "invariants": [{{"name": "told", "finally_empty":
        "SELECT identity FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM facts.told)"}}]
    }})j", timeout);
  };
  CHECK(checked(scenario("0")).invariants[0].verdict == Verdict::Holds);
  const CheckResult r = checked(scenario(R"j({"max": 1, "provider": "p", "otherwise": "never"})j"));
  CHECK(r.invariants[0].verdict == Verdict::Violated);
  CHECK_FALSE(happens(r, 0, EventKind::CallTimeout));
}

TEST_CASE("an instant look-up is one event") {
  auto scenario = [](const std::string& lookup) {
    return fmt::format(R"j({{
      "title": "test",
      "providers": {{"p": {{"operations": {{"work": {{}}}}, "lookup": "{}"}}}},
      "services": {{"s": {{"on_request": [
        {{"call": "p.lookup", "key": ":key", "into": "before"}}, {{"call": "p.work", "key": ":key"}},
        {{"call": "p.lookup", "key": ":key", "into": "after"}},
        {{"if": ":after.found AND NOT :before.found", "then": [{{"reply": 200}}]}}, {{"reply": 500}}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}}},
      "invariants": [{{"name": "found", "finally_empty":
        "SELECT identity FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM facts.told WHERE outcome = 'ok')"}}]
    }})j", lookup);
  };
  const CheckResult slow = checked(scenario("consistent")), fast = checked(scenario("instant"));
  CHECK(slow.invariants[0].verdict == Verdict::Holds);
  CHECK(fast.invariants[0].verdict == Verdict::Holds);
  CHECK(slow.states == fast.states + 4);  // two look-ups: asked and answered
}

// Each fault makes a difference, and only with a budget: a short scenario that holds without it and breaks with one.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Case {
  std::string fault;
  std::string client;   // keys of the client besides its request
  std::string steps;    // of the handler
  std::string promise;  // an entry of "invariants"
  std::string redis = R"j("replicas": 1)j";
};

std::string scenario(const Case& c, const std::string& faults) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [
      "CREATE TABLE work (id text NOT NULL)", "CREATE TABLE ledger (id text NOT NULL)", "CREATE TABLE lease (id int PRIMARY KEY, until timestamptz)"], "effects": ["work"]}}}},
    "redis": {{"r": {{{}}}}},
    "providers": {{"p": {{"operations": {{"charge": {{}}}}}}}},
    "queues": {{"q": {{"to": "s.work"}}}},
    "services": {{"s": {{"on_request": [{}], "endpoints": {{"work": [{{"sql": "INSERT INTO work VALUES (:key)"}}]}}}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     c.redis, c.steps, c.client, faults, c.promise);
}

const std::vector<Case>& cases() {
  static const std::string work = R"j({"sql": "INSERT INTO work VALUES (:key)"})j";
  static const std::string answered = work + R"j(, {"reply": 200})j";
  static const std::string halves = work + R"j(, {"sql": "INSERT INTO ledger VALUES (:key)"}, {"reply": 200})j";
  static const std::string half_done =
      R"j({"name": "halves", "finally_empty": "SELECT id FROM db.work WHERE NOT EXISTS (SELECT 1 FROM db.ledger)"})j";
  static const std::string undone =
      R"j({"name": "done", "finally_empty": "SELECT o.identity FROM facts.operations o )j"
      R"j(WHERE NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = o.identity)"})j";
  static const std::string untold =
      R"j({"name": "told", "finally_empty": "SELECT o.identity FROM facts.operations o )j"
      R"j(WHERE NOT EXISTS (SELECT 1 FROM facts.told t WHERE t.identity = o.identity)"})j";
  static const std::string once = R"j("no-duplicate-effect")j";
  static const std::string clicks = R"j(, "clicks": 2)j";
  static const std::string refused = R"j(, "into": "lock"}, {"if": ":lock IS NULL", "then": [{"reply": 409}]}, )j";
  static const std::string locked = R"j({"redis": "SET lock 1 NX")j" + refused + answered;
  static const std::string leased = R"j({"redis": "SET lock 1 NX EX 5")j" + refused + answered;
  static const std::vector<Case> all = {
      {"crash", "", halves, half_done},
      {"deploy", "", halves, half_done},
      {"lose_request", "", answered, undone},
      {"lose_response", "", answered, untold},
      {"lose_message", "", answered, untold},
      {"duplicate_request", "", answered, once},
      {"timeout", R"j(, "timeout": "5s", "retries": 1)j", answered, once},
      {"failover", clicks, locked, once},
      {"expire", clicks, leased, once},
      {"error_after_effect", "",
       R"j({"call": "p.charge", "on_error": {"5xx": [{"call": "p.charge"}]}}, {"reply": 200})j", once},
      {"error_before_effect", "", R"j({"call": "p.charge", "on_error": {"5xx": []}}, {"reply": 200})j",
       R"j("no-phantom-success")j"},
      {"ok_without_effect", "", R"j({"call": "p.charge"}, {"reply": 200})j", R"j("no-phantom-success")j"},
      {"clock_jump", clicks, R"j({"sql": "INSERT INTO lease VALUES (1, now() + interval '30s') ON CONFLICT DO NOTHING", "into": "mine"},
        {"if": ":mine.count = 0", "then": [{"sql": "SELECT until FROM lease", "into": "l"}, {"if": "NOT :l.until < now()", "then": [{"reply": 409}]}]}, )j" + answered, once},
      {"redeliver", "", R"j({"publish": "q", "key": ":key"}, {"reply": 202})j", once},
      {"rolling_deploy", "", halves, half_done},
      {"restart_redis", clicks, locked, once},
      {"partition", "", locked, undone, R"j("replicas": 1, "min_replicas": 1)j"},
      {"evict", clicks, locked, once, R"j("eviction": "allkeys")j"},
      {"lose_connection", "", R"j({"sql": "INSERT INTO work VALUES (:key)", "on_error": [)j" + work + "]}, " + R"j({"reply": 200})j", once},
  };
  return all;
}

}  // namespace

TEST_CASE("each fault alone makes a promise break, once and only with a budget") {
  for (const Case& c : cases()) {
    CAPTURE(c.fault);
    for (const std::string& faults : {std::string(), "\"" + c.fault + "\": 0"}) {
      const CheckResult without = check(*program_from(scenario(c, faults)));
      REQUIRE(without.invariants.size() == 1);
      CHECK(without.invariants[0].verdict == Verdict::Holds);
    }
    const auto program = program_from(scenario(c, "\"" + c.fault + "\": 1"));
    const CheckResult with = check(*program);
    REQUIRE(with.invariants[0].verdict == Verdict::Violated);
    CHECK(std::ranges::count_if(with.invariants[0].trace, [](const Event& e) { return e.fault != kNoBudget; }) == 1);
  }
}

TEST_CASE("every other fault with budget 0 changes neither verdict nor size") {
  for (const Case& c : cases()) {
    CAPTURE(c.fault);
    std::string none;
    for (const Case& other : cases()) none += fmt::format("{}\"{}\": 0", none.empty() ? "" : ", ", other.fault);
    CheckOptions options;
    options.explore_all = true;
    const CheckResult zero = check(*program_from(scenario(c, none)), options);
    const CheckResult absent = check(*program_from(scenario(c, "")), options);
    CHECK(zero.states == absent.states);
    CHECK(zero.transitions == absent.transitions);
  }
}

TEST_CASE("every fault has such a scenario") {
  for (int kind = 0; kind < kFaultKinds; ++kind) {
    const std::string name = fault_name(static_cast<FaultKind>(kind));
    CAPTURE(name);
    CHECK(std::ranges::count(cases(), name, &Case::fault) == 1);
  }
}

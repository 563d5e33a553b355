// How clients make keys, poll and retry.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "reports/story.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

Verdict verdict(const std::string& endpoint, const std::string& client, const std::string& faults, const std::string& promise) {
  const CheckResult result = check(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE claim (id text PRIMARY KEY)",
      "CREATE TABLE work (id text NOT NULL)"], "effects": ["work"]}}}},
    "services": {{"s": {{"on_request": [
      {{"sql": "INSERT INTO claim VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"}},
      {{"if": ":c.count = 0", "then": [{{"reply": 202}}]}},
      {{"sql": "INSERT INTO work VALUES (:key)"}}, {{"reply": 202}}], "endpoints": {{{}}}}}}},
    "clients": {{"c": {{{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                                                             endpoint, client, faults, promise)));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

std::string shopper(const std::string& key, const std::string& more) {
  return fmt::format(R"j("requests": [{{"to": "s", "key": {}, "user": "u1", "amount": 5, "identity": "order"}}]{})j", key, more);
}

}  // namespace

TEST_CASE("a key made from fields is stable when the fields are, and volatile when one is") {
  const std::string once = R"j("no-duplicate-effect")j";
  const std::string clicks = R"j(, "clicks": 2)j", retry = R"j(, "retries": 1, "timeout": "5s")j", timeout = R"j("timeout": 1)j";
  CHECK(verdict("", shopper(R"j({"from": ["user", "amount"]})j", clicks), "", once) == Verdict::Holds);
  CHECK(verdict("", shopper(R"j({"from": ["user", "amount"]})j", retry), timeout, once) == Verdict::Holds);
  CHECK(verdict("", shopper(R"j({"from": ["user", "click"]})j", clicks), "", once) == Verdict::Violated);
  CHECK(verdict("", shopper(R"j({"from": ["user", "click"]})j", retry), timeout, once) == Verdict::Holds);
  CHECK(verdict("", shopper(R"j({"from": ["user", "attempt"]})j", retry), timeout, once) == Verdict::Violated);
}

TEST_CASE("two purchases whose keys are made from the same fields share one decision") {
  const std::string two = R"j("requests": [{"to": "s", "key": {"from": ["user"]}, "user": "u1", "identity": "order 1"},
    {"to": "s", "key": KEY, "user": "u1", "identity": "order 2"}])j";
  auto with = [&](const std::string& key) {
    std::string text = two;
    return text.replace(text.find("KEY"), 3, key);
  };
  const std::string both = R"j({"name": "both", "finally_empty": "SELECT 1 FROM facts.operations WHERE (SELECT count(*) FROM db.work) <> 2 LIMIT 1"})j";
  CHECK(verdict("", with(R"j({"from": ["user"]})j"), "", both) == Verdict::Violated);
  CHECK(verdict("", with(R"j("other")j"), "", both) == Verdict::Holds);
}

TEST_CASE("a client polls after 202 and is told in the end, or gives up") {
  const std::string status = R"j("status": [{"sql": "SELECT id FROM work WHERE id = :key", "into": "w"},
    {"if": ":w.count = 0", "then": [{"reply": 202}]}, {"reply": 200}])j";
  const std::string told =
      R"j({"name": "told", "finally_empty": "SELECT identity FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM facts.told WHERE outcome = 'ok')"})j";
  const std::string poll = R"j(, "poll": {"to": "s.status", "times": 1})j";
  CHECK(verdict(status, shopper("\"K\"", ""), "", told) == Verdict::Violated);
  CHECK(verdict(status, shopper("\"K\"", poll), "", told) == Verdict::Holds);
  // With two clicks the poll of one may come before the other has done the work.
  CHECK(verdict(status, shopper("\"K\"", poll + R"j(, "clicks": 2)j"), "", told) == Verdict::Holds);
  CHECK(verdict(status, shopper("\"K\"", poll + R"j(, "timeout": "5s")j"), R"j("lose_response": 1)j", told) == Verdict::Violated);
  CHECK(verdict(status, shopper("\"K\"", R"j(, "poll": {"to": "s.status", "times": 2}, "timeout": "5s")j"),
                R"j("lose_response": {"max": 1, "service": "s"})j", told) == Verdict::Violated);  // the first answer is lost
}

TEST_CASE("a back-off covers nothing that the check does not cover anyway; it is told, and kept for who counts time") {
  const std::string retry = R"j(, "retries": 3, "timeout": "5s")j";
  const std::string text = R"j({"title": "test",
    "databases": {"db": {"engine": "postgres", "schema": ["CREATE TABLE work (id text NOT NULL)"], "effects": ["work"]}},
    "services": {"s": {"on_request": [{"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 500}]}},
    "clients": {"c": {"requests": [{"to": "s", "key": "K"}], "retries": 3, "backoff": BACKOFF}},
    "invariants": ["no-duplicate-effect"]})j";
  auto program = [&](const std::string& backoff) {
    std::string with = text;
    return program_from(with.replace(with.find("BACKOFF"), 7, backoff));
  };
  const auto grows = program(R"j({"initial": "500ms", "factor": 4, "max": "3s"})j"), same = program(R"j("2s")j");
  CHECK(grows->senders[0].backoff == std::vector<std::int64_t>{500, 2000, 3000});
  CHECK(same->senders[0].backoff == std::vector<std::int64_t>{2000, 2000, 2000});
  const CheckResult result = check(*grows);
  CHECK(result.states == check(*same).states);
  REQUIRE(result.invariants[0].verdict == Verdict::Violated);
  int told = 0;
  for (const StoryStep& step : tell(*grows, result.invariants[0].trace, "").steps) told += step.headline == "c waits 500ms and sends its request again to s" ? 1 : 0;
  CHECK(told == 1);
}

TEST_CASE("one key a purchase, one a click, one an attempt") {
  const std::string once = R"j("no-duplicate-effect")j";
  const std::string clicks = R"j(, "clicks": 2)j", retry = R"j(, "retries": 1, "timeout": "5s")j", timeout = R"j("timeout": 1)j";
  struct Policy {
    const char* key;
    Verdict two_clicks, retry;
  };
  for (const Policy& p : {Policy{R"j("K")j", Verdict::Holds, Verdict::Holds},
                          Policy{R"j({"fresh": "per_click"})j", Verdict::Violated, Verdict::Holds},
                          Policy{R"j({"fresh": "per_attempt"})j", Verdict::Violated, Verdict::Violated}}) {
    CAPTURE(p.key);
    CHECK(verdict("", shopper(p.key, clicks), "", once) == p.two_clicks);
    CHECK(verdict("", shopper(p.key, retry), timeout, once) == p.retry);
    CHECK(verdict("", shopper(p.key, retry), "", once) == Verdict::Holds);  // nobody gives up for nothing
  }
}

TEST_CASE("a client that gives up is not told; one that tries once more is") {
  const std::string told =
      R"j({"name": "told", "finally_empty": "SELECT identity FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM facts.told WHERE outcome <> 'unknown')"})j";
  const std::string lost = R"j("lose_response": 1)j";
  CHECK(verdict("", shopper("\"K\"", R"j(, "timeout": "5s")j"), "", told) == Verdict::Holds);
  CHECK(verdict("", shopper("\"K\"", R"j(, "timeout": "5s")j"), lost, told) == Verdict::Violated);
  CHECK(verdict("", shopper("\"K\"", R"j(, "timeout": "5s", "retries": 1)j"), lost, told) == Verdict::Holds);
  CHECK(verdict("", shopper("\"K\"", R"j(, "timeout": "5s", "retries": 1, "retry_on": ["5xx"])j"), lost, told) == Verdict::Violated);
}

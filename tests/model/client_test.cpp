// How clients make keys, poll and retry.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
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

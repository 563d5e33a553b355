// A read replica that lags, and a failover of an SQL database.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

std::string scenario(const std::string& engine, const std::string& database, const std::string& steps, const std::string& faults,
                     const std::string& promise) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", {}, "schema": ["CREATE TABLE work (id varchar(20) PRIMARY KEY)"], "effects": ["work"]}}}},
    "services": {{"s": {{"on_request": [{}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     engine, database, steps, faults, promise);
}

Verdict verdict(const std::string& text) {
  const CheckResult result = check(*program_from(text));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

const char* const kWrite = R"j({"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 200})j";
const char* const kReadBack = R"j({"sql": "INSERT INTO work VALUES (:key)"},
    {"sql": "SELECT id FROM work WHERE id = :key", "replica": REPLICA, "into": "row"},
    {"if": ":row.count = 0", "then": [{"reply": 404}]}, {"reply": 200})j";

std::string read_back(const char* replica) {
  std::string steps = kReadBack;
  steps.replace(steps.find("REPLICA"), 7, replica);
  return steps;
}

}  // namespace

TEST_CASE("a replica may lag behind what its own client wrote") {
  for (const char* engine : {"postgres", "mysql"}) {
    CAPTURE(engine);
    const std::string promise = R"j("no-false-failure")j";
    CHECK(verdict(scenario(engine, R"j("replicas": 1)j", read_back("true"), "", promise)) == Verdict::Violated);
    CHECK(verdict(scenario(engine, R"j("replicas": 1)j", read_back("false"), "", promise)) == Verdict::Holds);
    CHECK(verdict(scenario(engine, R"j("replicas": 1, "replication": "synchronous")j", read_back("true"), "", promise)) ==
          Verdict::Holds);
  }
}

TEST_CASE("a failover loses what an asynchronous replica has not applied, and nothing of a synchronous one") {
  for (const char* engine : {"postgres", "mysql"}) {
    CAPTURE(engine);
    const std::string promise = R"j("no-phantom-success")j", failover = R"j("failover": {"max": 1, "database": "db"})j";
    CHECK(verdict(scenario(engine, R"j("replicas": 1)j", kWrite, "", promise)) == Verdict::Holds);
    CHECK(verdict(scenario(engine, R"j("replicas": 1)j", kWrite, failover, promise)) == Verdict::Violated);
    CHECK(verdict(scenario(engine, R"j("replicas": 1, "replication": "synchronous")j", kWrite, failover, promise)) ==
          Verdict::Holds);
  }
}

TEST_CASE("a failover breaks an open transaction: its next statement hears connection_lost") {
  const std::string steps = R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO work VALUES (:key)"},
      {"sql": "COMMIT", "on_error": {"connection_lost": [{"reply": 404}]}}, {"reply": 200})j";
  const std::string failover = R"j("failover": {"max": 1, "database": "db"})j";
  const std::string never = R"j({"name": "heard", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j";
  const std::string synchronous = R"j("replicas": 1, "replication": "synchronous")j";
  CHECK(verdict(scenario("postgres", synchronous, steps, failover, never)) == Verdict::Violated);
  CHECK(verdict(scenario("postgres", synchronous, steps, failover, R"j("no-false-failure")j")) == Verdict::Holds);
  CHECK(verdict(scenario("postgres", synchronous, steps, "", never)) == Verdict::Holds);
}

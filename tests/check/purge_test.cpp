// InnoDB purges a deleted row some time after its commit. Until then its record is there, and locks and gaps follow it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "sim/replay.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Two requests of `work` begin when rows 1 and 2 are deleted; a deadlock answers one of them with 500.
std::string scenario(const std::string& engine, const std::string& steps, const std::string& workers) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", "isolation": "repeatable read", "rows": {{"t": 6}}, "schema": [
      "CREATE TABLE t (id int PRIMARY KEY, v varchar(20))", "INSERT INTO t VALUES (1, 'old'), (2, 'old')"]}}}},
    "services": {{
      "clean": {{"on_request": [{{"sql": "DELETE FROM t"}}, {{"reply": 200}}]}},
      "work": {{"on_request": [
        {{"sql": "SELECT id FROM t WHERE id = 1", "into": "seen"}},
        {{"if": ":seen.count > 0", "then": [{{"reply": 202}}]}},
        {{"sql": "BEGIN"}}, {}, {{"sql": "COMMIT"}}, {{"reply": 200}}]}}
    }},
    "clients": {{
      "cleaner": {{"requests": [{{"to": "clean", "key": "C", "first": 0, "second": 0}}]}},
      {}
    }},
    "invariants": [{{"name": "no deadlock", "always_empty":
      "SELECT identity FROM facts.told WHERE client <> 'cleaner' AND outcome = 'unknown'"}}]
  }})j",
                     engine, steps, workers);
}

std::string step(const std::string& sql) {
  return R"j({"sql": ")j" + sql + R"j(", "on_error": {
    "deadlock": [{"sql": "ROLLBACK"}, {"reply": 500}], "unique_violation": [{"sql": "ROLLBACK"}, {"reply": 202}]}})j";
}

const std::string kOtherOrder = R"j("a": {"requests": [{"to": "work", "key": "A", "first": 1, "second": 2}]},
                                    "b": {"requests": [{"to": "work", "key": "B", "first": 2, "second": 1}]})j";
const std::string kLockBoth = step("SELECT v FROM t WHERE id = :first FOR UPDATE") + ", " +
                              step("SELECT v FROM t WHERE id = :second FOR UPDATE");
const std::string kSame = R"j("a": {"requests": [{"to": "work", "key": "A", "first": 1, "second": 1}]},
                              "b": {"requests": [{"to": "work", "key": "B", "first": 1, "second": 1}]})j";
const std::string kLockAndInsert = step("SELECT v FROM t WHERE id = :first FOR UPDATE") + ", " +
                                   step("INSERT INTO t VALUES (:first, 'new')");

std::vector<std::string> counterexample(const Program& p) {
  const CheckResult result = check(p);
  REQUIRE(result.invariants.size() == 1);
  REQUIRE(result.invariants[0].verdict == Verdict::Violated);
  const std::vector<std::string> choices = choices_of(p, result.invariants[0].trace);
  const Replay again = replay(p, choices);
  CHECK(!again.divergence);
  CHECK(again.events == result.invariants[0].trace);
  return choices;
}

bool has(const std::vector<std::string>& choices, const std::string& name) {
  return std::find(choices.begin(), choices.end(), name) != choices.end();
}

}  // namespace

TEST_CASE("while deleted rows wait for purge, their records are locked, and two orders deadlock") {
  for (const char* engine : {"mariadb", "mysql"}) {
    CAPTURE(engine);
    const auto p = program_from(scenario(engine, kLockBoth, kOtherOrder));
    const std::vector<std::string> choices = counterexample(*p);
    // Without a record there would be only gaps to lock, which keep nobody out.
    CHECK(!has(choices, "purge of t (id 1)"));
    CHECK(!has(choices, "purge of t (id 2)"));
  }
}

TEST_CASE("once the row is purged two sessions lock the gap alone, and both inserts deadlock") {
  for (const char* engine : {"mariadb", "mysql"}) {
    CAPTURE(engine);
    const auto p = program_from(scenario(engine, kLockAndInsert, kSame));
    const std::vector<std::string> choices = counterexample(*p);
    CHECK(has(choices, "purge of t (id 1)"));
  }
}

TEST_CASE("PostgreSQL has no such deadlocks") {
  const auto p = program_from(scenario("postgres", kLockBoth, kOtherOrder));
  CHECK(verdict_of(*p, "no deadlock") == "holds");
}

// Which time-out ends a wait for a lock, and what the handler hears.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// One handler holds the row while it calls somebody who never answers; another one waits for the row.
std::string scenario(const std::string& engine, const std::string& set, const std::string& faults, const std::string& timeout) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", "schema": ["CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0)"]}}}},
    "providers": {{"p": {{"operations": {{"work": {{}}}}}}}},
    "services": {{"s": {{"on_request": [
      {}
      {{"sql": "BEGIN"}},
      {{"sql": "UPDATE t SET n = n + 1 WHERE id = 1", "on_error": {{
        "lock_timeout": [{{"sql": "ROLLBACK"}}, {{"reply": 423, "means": "failed"}}],
        "statement_timeout": [{{"sql": "ROLLBACK"}}, {{"reply": 200}}]}}}},
      {{"call": "p.work"{}}},
      {{"sql": "COMMIT"}}, {{"reply": 202}}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2}}}},
    "faults": {{{}}},
    "invariants": [
      {{"name": "no lock time-out", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"}},
      {{"name": "no statement time-out", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'ok'"}}]
  }})j",
                     engine, set.empty() ? "" : "{\"sql\": \"" + set + "\"},", timeout, faults);
}

struct Verdicts {
  Verdict lock, statement;
};

Verdicts verdicts(const std::string& engine, const std::string& set, const std::string& faults = "", const std::string& timeout = "") {
  const CheckResult result = check(*program_from(scenario(engine, set, faults, timeout)));
  REQUIRE(result.invariants.size() == 2);
  return {result.invariants[0].verdict, result.invariants[1].verdict};
}

}  // namespace

TEST_CASE("lock_timeout and statement_timeout end a wait with errors of their own") {
  const Verdicts lock = verdicts("postgres", "SET lock_timeout = '2s'");
  CHECK(lock.lock == Verdict::Violated);
  CHECK(lock.statement == Verdict::Holds);
  for (const auto& [engine, set] : {std::pair{"postgres", "SET statement_timeout = '2s'"}, {"mariadb", "SET max_statement_time = 2"}}) {
    CAPTURE(engine);
    const Verdicts statement = verdicts(engine, set);
    CHECK(statement.lock == Verdict::Holds);
    CHECK(statement.statement == Verdict::Violated);
  }
  const Verdicts none = verdicts("postgres", "");
  CHECK(none.lock == Verdict::Holds);
  CHECK(none.statement == Verdict::Holds);
}

TEST_CASE("GET_LOCK times out by its own limit, if it has one") {
  const auto late = [](const char* seconds) {
    return verdict_of(*program_from(fmt::format(R"j({{
      "title": "test",
      "databases": {{"db": {{"engine": "mysql", "schema": ["CREATE TABLE t (id int PRIMARY KEY)"]}}}},
      "services": {{"s": {{"on_request": [
        {{"sql": "SELECT GET_LOCK('a', {}) AS got", "into": "lock"}}, {{"if": ":lock.got = 0", "then": [{{"reply": 400}}]}},
        {{"sql": "SELECT id FROM t"}}, {{"reply": 200}}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2}}}},
      "invariants": [{{"name": "all get it", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"}}]
    }})j", seconds)), "all get it");
  };
  CHECK(late("10") == "violated");
  CHECK(late("-1") == "holds");
}

TEST_CASE("InnoDB's own lock time-out comes when nothing else can happen, or when a fault pays") {
  for (const char* engine : {"mysql", "mariadb"}) {
    CAPTURE(engine);
    const std::string lost = R"j("lose_response": {"max": 1, "provider": "p"})j";
    CHECK(verdicts(engine, "").lock == Verdict::Holds);
    CHECK(verdicts(engine, "", lost).lock == Verdict::Violated);  // the holder waits for ever
    CHECK(verdicts(engine, "", R"j("timeout": {"max": 1, "database": "db"})j").lock == Verdict::Violated);
    CHECK(verdicts(engine, "SET innodb_lock_wait_timeout = 2").lock == Verdict::Violated);
  }
  CHECK(verdicts("postgres", "", R"j("lose_response": {"max": 1, "provider": "p"})j").lock == Verdict::Holds);
}

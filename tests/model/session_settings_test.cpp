// SET and the transaction: PostgreSQL takes a setting back with the transaction or the savepoint, MySQL and MariaDB never do.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

std::string steps_of(const std::string& statements) {
  std::string out;
  for (std::size_t at = 0; at < statements.size();) {
    const std::size_t end = std::min(statements.find(';', at), statements.size());
    out += "{\"sql\": \"" + statements.substr(at, end - at) + "\"}, ";
    at = end + 1;
  }
  return out;
}

// Whether a wait for a lock can time out after these statements: another handler holds the row.
std::string times_out(const std::string& engine, const std::string& statements, const std::string& pool = "") {
  return verdict_of(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", "schema": ["CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0)"]{}}}}},
    "services": {{
      "s": {{"on_request": [{}{{"sql": "UPDATE t SET n = 1 WHERE id = 1", "on_error": {{"lock_timeout": [{{"sql": "ROLLBACK"}}, {{"reply": 400}}]}}}},
        {{"sql": "COMMIT"}}, {{"reply": 200}}]}},
      "o": {{"on_request": [{{"sql": "BEGIN"}}, {{"sql": "SELECT n FROM t WHERE id = 1 FOR UPDATE"}}, {{"pause": true}}, {{"sql": "COMMIT"}}, {{"reply": 200}}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}, "d": {{"requests": [{{"to": "o", "key": "K2"}}]}}}},
    "invariants": [{{"name": "m", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"}}]
  }})j", engine, pool, steps_of(statements))), "m");
}

}  // namespace

TEST_CASE("PostgreSQL: a setting follows the transaction") {
  struct Case {
    const char* statements;
    bool stays;
  };
  const Case cases[] = {
      {"SET lock_timeout = '1s'", true},
      {"SET LOCAL lock_timeout = '1s'", false},  // a warning
      {"BEGIN;SET LOCAL lock_timeout = '1s'", true},
      {"BEGIN;SET LOCAL lock_timeout = '1s';COMMIT", false},
      {"BEGIN;SET lock_timeout = '1s';COMMIT", true},
      {"BEGIN;SET lock_timeout = '1s';ROLLBACK", false},
      {"BEGIN;SET lock_timeout = '1s';SET LOCAL lock_timeout = 0;COMMIT", true},
      {"SET lock_timeout = '1s';BEGIN;SET LOCAL lock_timeout = 0", false},
      {"SET lock_timeout = '1s';BEGIN;SET LOCAL lock_timeout = 0;COMMIT", true},
      {"SET lock_timeout = '1s';BEGIN;SET lock_timeout = 0;ROLLBACK", true},
      {"BEGIN;SAVEPOINT a;SET lock_timeout = '1s';ROLLBACK TO a", false},
      {"BEGIN;SET lock_timeout = '1s';SAVEPOINT a;ROLLBACK TO a", true},
      {"BEGIN;SET lock_timeout = '1s';SAVEPOINT a;SET lock_timeout = 0;ROLLBACK TO a;COMMIT", true},
      {"BEGIN;SAVEPOINT a;SET lock_timeout = '1s';RELEASE a", true},
      {"BEGIN;SAVEPOINT a;SET lock_timeout = '1s';RELEASE a;COMMIT", true},
      {"BEGIN;SAVEPOINT a;SET LOCAL lock_timeout = '1s';RELEASE a;COMMIT", false},
      {"BEGIN;SAVEPOINT a;SAVEPOINT b;SET lock_timeout = '1s';RELEASE b;ROLLBACK TO a", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.statements);
    CHECK(times_out("postgres", c.statements) == (c.stays ? "violated" : "holds"));
    // Behind a pool too: what one leaves on the connection another one finds.
    CHECK(times_out("postgres", c.statements, R"j(, "pool": {"mode": "transaction", "connections": 2})j") == (c.stays ? "violated" : "holds"));
  }
}

TEST_CASE("MariaDB: SET is no part of the transaction") {
  CHECK(times_out("mariadb", "BEGIN;ROLLBACK") == "holds");
  CHECK(times_out("mariadb", "BEGIN;SET innodb_lock_wait_timeout = 1;ROLLBACK") == "violated");
  CHECK(times_out("mariadb", "BEGIN;SAVEPOINT a;SET innodb_lock_wait_timeout = 1;ROLLBACK TO a") == "violated");
}

TEST_CASE("PostgreSQL: SET SESSION CHARACTERISTICS is undone as other settings are") {
  for (const auto& [end, repeatable] : {std::pair{"ROLLBACK", false}, {"COMMIT", true}}) {
    CAPTURE(end);
    const std::string text = fmt::format(R"j({{
      "title": "test",
      "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id int PRIMARY KEY)"]}}}},
      "services": {{
        "s": {{"on_request": [{{"sql": "BEGIN"}}, {{"sql": "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ"}}, {{"sql": "{}"}},
          {{"sql": "BEGIN"}}, {{"sql": "SELECT id FROM t", "into": "a"}}, {{"pause": true}}, {{"sql": "SELECT id FROM t", "into": "b"}}, {{"sql": "COMMIT"}},
          {{"if": ":a.count <> :b.count", "then": [{{"reply": 400}}]}}, {{"reply": 200}}]}},
        "o": {{"on_request": [{{"sql": "INSERT INTO t VALUES (7)"}}, {{"reply": 200}}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}, "d": {{"requests": [{{"to": "o", "key": "K2"}}]}}}},
      "invariants": [{{"name": "m", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"}}]
    }})j", end);
    CHECK(verdict_of(*program_from(text), "m") == (repeatable ? "holds" : "violated"));
  }
}

// What a handler, and what the server, makes of a connection that breaks: before a statement, after it, or while it waits.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Parts {
  std::string engine = "postgres";
  std::string steps = {};
  std::string faults = R"j("lose_connection": 1)j";
  std::string promise = R"j("no-duplicate-effect")j";
  std::string name = "no-duplicate-effect";
  std::string services = {};  // besides s
  std::string clients = {};
};

std::string verdict(const Parts& p) {
  return verdict_of(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", "schema": ["CREATE TABLE fx (id varchar(20))", "CREATE TABLE old (id varchar(20))",
      "INSERT INTO old VALUES ('K')", "CREATE TABLE t (id int PRIMARY KEY, v int, c int)", "INSERT INTO t VALUES (1, 0, 0)",
      "CREATE TABLE boot (n int PRIMARY KEY)"], "effects": ["fx"]}}}},
    "redis": {{"r": {{}}}},
    "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "honoured"}}}}}}}},
    "services": {{"s": {{"on_request": [{}]}}{}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}{}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j", p.engine, p.steps, p.services, p.clients, p.faults, p.promise)), p.name);
}

std::string sql(const std::string& text, const std::string& more = "") { return "{\"sql\": \"" + text + "\"" + more + "}"; }

// The statement, and once more when its connection was lost.
std::string repeated(const std::string& text) {
  return sql(text, R"j(, "on_error": {"connection_lost": [)j" + sql(text) + "]}");
}

Parts never_fails(const std::string& steps) {
  Parts p;
  p.steps = steps;
  p.name = "m";
  p.promise = R"j({"name": "m", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"})j";
  return p;
}

}  // namespace

TEST_CASE("the answer of whatever makes something permanent may be lost") {
  Parts p;
  const std::string reply = R"j(, {"reply": 200})j";
  SUBCASE("a common table that writes") {
    p.steps = repeated("WITH a AS (INSERT INTO fx VALUES (:key) RETURNING id) SELECT id FROM a") + reply;
    CHECK(verdict(p) == "violated");
    p.steps = repeated("WITH a AS (SELECT id FROM old) SELECT id FROM a") + reply;
    CHECK(verdict(p) == "holds");
  }
  SUBCASE("a write that reads first commits in an event of its own") {
    p.steps = repeated("INSERT INTO fx SELECT id FROM old") + reply;
    CHECK(verdict(p) == "violated");
  }
  SUBCASE("in a transaction nothing is permanent yet") {
    p.steps = R"j({"sql": "BEGIN"}, )j" +
              sql("INSERT INTO fx VALUES (:key)", R"j(, "on_error": {"connection_lost": [)j" + sql("INSERT INTO fx VALUES (:key)") + R"j(, {"reply": 200}]})j") +
              R"j(, {"sql": "COMMIT", "on_error": []})j" + reply;
    CHECK(verdict(p) == "holds");
  }
  for (const char* commits : {"BEGIN", "SET autocommit = 1"}) {
    CAPTURE(commits);
    p.engine = "mysql";
    const std::string work = sql("SET autocommit = 0") + ", " + sql("INSERT INTO fx VALUES (:key)");
    p.steps = work + ", " + sql(commits, R"j(, "on_error": {"connection_lost": [)j" + work + R"j(, {"sql": "COMMIT"}, {"reply": 200}]})j") +
              R"j(, {"sql": "COMMIT"})j" + reply;
    CHECK(verdict(p) == "violated");
    // Lost before it ran: the transaction is gone with the session.
    p.steps = work + ", " + sql(commits, R"j(, "on_error": {"connection_lost": [{"reply": 200}]})j") + R"j(, {"sql": "COMMIT"})j" + reply;
    p.name = "no-phantom-success";
    p.promise = R"j("no-phantom-success")j";
    CHECK(verdict(p) == "violated");
    p.name = "no-duplicate-effect";
    p.promise = R"j("no-duplicate-effect")j";
  }
}

TEST_CASE("numbers that a statement took stay taken when its answer is lost, in a transaction too") {
  const std::string scenario = R"j({
    "title": "test",
    "databases": {"db": {"engine": "postgres", "schema": ["CREATE TABLE n (id serial PRIMARY KEY, k text)"]}},
    "services": {"s": {"on_request": [
      {"sql": "BEGIN"}, {"sql": "INSERT INTO n (k) VALUES ('a')", "on_error": {"connection_lost": [{"set": {"lost": 1}}]}}, {"sql": "ROLLBACK"},
      {"sql": "INSERT INTO n (k) VALUES ('b') RETURNING id", "into": "i"},
      {"if": ":lost = 1 AND :i.id = 2", "then": [{"reply": 400}]}, {"reply": 200}]}},
    "clients": {"c": {"requests": [{"to": "s", "key": "K"}]}},
    "faults": {"lose_connection": 1},
    "invariants": [{"name": "m", "always_empty": "SELECT client FROM facts.told WHERE outcome = 'failed'"}]
  })j";
  CHECK(verdict_of(*program_from(scenario), "m") == "violated");
}

TEST_CASE("a lost answer leaves what the local had") {
  const auto ends = [](const char* field) {
    return fmt::format(R"j({{"if": ":x{} IS NULL", "then": [{{"reply": 400}}]}}, {{"reply": 200}})j", field);
  };
  const std::string lost = R"j(, "into": "x", "on_error": {"connection_lost": []}})j";
  SUBCASE("redis") {
    CHECK(verdict(never_fails(R"j({"redis": "SET a 1", "into": "x"}, {"redis": "SET a 2")j" + lost + ", " + ends(""))) == "holds");
    CHECK(verdict(never_fails(R"j({"redis": "SET a 2")j" + lost + ", " + ends(""))) == "violated");
  }
  SUBCASE("sql") {
    const std::string insert = R"j({"sql": "INSERT INTO fx VALUES ('a')")j" + lost + ", " + ends(".count");
    CHECK(verdict(never_fails(R"j({"sql": "SELECT 5 AS five", "into": "x"}, )j" + insert)) == "holds");
    CHECK(verdict(never_fails(insert)) == "violated");
  }
  SUBCASE("a call that is given up") {
    const std::string call = R"j({"call": "p.charge", "key": ":key", "timeout": "1s", "into": "x", "on_timeout": []}, )j" + ends(".status");
    Parts p = never_fails(R"j({"call": "p.charge", "key": "'other'", "into": "x"}, )j" + call);
    p.faults = R"j("timeout": 1)j";
    CHECK(verdict(p) == "holds");
    p.steps = call;
    CHECK(verdict(p) == "violated");
  }
}

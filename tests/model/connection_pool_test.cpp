// A pool of connections in transaction mode: what a session keeps stays on the connection.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Case {
  std::string engine = "postgres";
  int connections = 0;  // 0: no pool
  std::string steps = {};
  int clicks = 1;
  std::string faults = {};
  std::string service = {};   // more of the service
  std::string database = {};  // more of the database
  std::string services = {};  // more services
};

// Each row of `done` is an effect of the one operation: two of them are too many.
std::string verdict(const Case& c) {
  const std::string pool = c.connections == 0 ? "" : fmt::format(R"j("pool": {{"mode": "transaction", "connections": {}}},)j", c.connections);
  return verdict_of(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", {}{}
      "schema": ["CREATE TABLE done (n int PRIMARY KEY, id varchar(20))"],
      "effects": [{{"table": "done", "identity": "id"}}]}}}},
    "services": {{"s": {{{}"on_request": [{}, {{"reply": 200}}]}}{}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": {}, "timeout": "5s"}}}},
    "faults": {{{}}},
    "invariants": ["no-duplicate-effect"]
  }})j", c.engine, pool, c.database, c.service, c.steps, c.services, c.clicks, c.faults)), "no-duplicate-effect");
}

const char* const kTwice = R"j({"sql": "INSERT INTO done VALUES (1, :key)"}, {"sql": "INSERT INTO done VALUES (2, :key)"})j";

std::string twice_if(const std::string& condition) { return fmt::format(R"j({{"if": "{}", "then": [{}]}})j", condition, kTwice); }

// Two effects when two are at work between lock and unlock at the same time.
std::string locked(const std::string& lock, const std::string& unlock) {
  return fmt::format(R"j({{"sql": "{} AS got", "into": "lock"}}, {{"if": ":lock.got = 0", "then": [{{"reply": 503}}]}},
    {{"sql": "SELECT n FROM done WHERE n = 1", "into": "seen"}},
    {{"if": ":seen.count = 0", "then": [
      {{"sql": "INSERT INTO done VALUES (1, :key)", "on_error": {{"unique_violation": [{{"sql": "INSERT INTO done VALUES (2, :key)"}}]}}}}]}},
    {{"sql": "{}"}})j", lock, unlock);
}

}  // namespace

TEST_CASE("the next client that gets the connection has the session lock too") {
  for (int connections : {0, 1, 2}) {
    CAPTURE(connections);
    const char* expected = connections == 0 ? "holds" : "violated";
    CHECK(verdict({.connections = connections, .steps = locked("SELECT pg_advisory_lock(7)", "SELECT pg_advisory_unlock(7)"), .clicks = 2}) == expected);
    // GET_LOCK may time out, which gives 0.
    CHECK(verdict({.engine = "mysql", .connections = connections, .steps = locked("SELECT GET_LOCK('a', 10)", "SELECT RELEASE_LOCK('a')"), .clicks = 2}) == expected);
  }
}

TEST_CASE("a transaction keeps its connection, and its lock") {
  const std::string steps = R"j({"sql": "BEGIN"}, )j" + locked("SELECT pg_advisory_xact_lock(7)", "COMMIT");
  CHECK(verdict({.connections = 2, .steps = steps, .clicks = 2}) == "holds");
  // A session lock taken in it stays when it ends, and is the next one's.
  const std::string session = R"j({"sql": "BEGIN"}, )j" + locked("SELECT pg_advisory_lock(7)", "SELECT pg_advisory_unlock(7)") + R"j(, {"sql": "COMMIT"})j";
  CHECK(verdict({.connections = 2, .steps = session, .clicks = 2}) == "holds");
}

TEST_CASE("an unlock may run on a connection that has no such lock") {
  const std::string steps = R"j({"sql": "SELECT pg_advisory_lock(7)"}, {"sql": "SELECT pg_advisory_unlock(7) AS ok", "into": "u"},
    )j" + twice_if("NOT :u.ok");
  CHECK(verdict({.connections = 0, .steps = steps}) == "holds");
  CHECK(verdict({.connections = 1, .steps = steps}) == "holds");  // there is but one
  CHECK(verdict({.connections = 2, .steps = steps}) == "violated");
}

TEST_CASE("settings of the session are the next client's") {
  // Whoever sets lock_timeout never waits; whoever only waits never gets a lock time-out of his own.
  const std::string steps = R"j({"sql": "SELECT n FROM done WHERE n = 5", "into": "seen"},
    {"if": ":seen.count = 0",
     "then": [{"sql": "SET lock_timeout = '1s'"}, {"sql": "INSERT INTO done VALUES (5, 'other')", "on_error": {"unique_violation": [{"reply": 200}]}}],
     "else": [{"sql": "BEGIN"}, {"sql": "SELECT n FROM done WHERE n = 5 FOR UPDATE",
                                 "on_error": {"lock_timeout": [{"sql": "ROLLBACK"}, TWICE, {"reply": 500}]}}, {"sql": "COMMIT"}]})j";
  std::string text = steps;
  text.replace(text.find("TWICE"), 5, kTwice);
  CHECK(verdict({.connections = 0, .steps = text, .clicks = 3}) == "holds");
  CHECK(verdict({.connections = 2, .steps = text, .clicks = 3}) == "violated");
}

TEST_CASE("autocommit = 0 stays on the connection: the next client's write is never committed") {
  const std::string steps = R"j({"sql": "SELECT n FROM done WHERE n = 5", "into": "seen"},
    {"if": ":seen.count = 0", "then": [{"sql": "INSERT INTO done VALUES (5, 'other')"}, {"sql": "SET autocommit = 0"}],
     "else": [{"sql": "INSERT IGNORE INTO done VALUES (6, 'third')"}, {"sql": "ROLLBACK"},
              {"sql": "SELECT n FROM done WHERE n = 6", "into": "mine"}, {"if": ":mine.count = 0", "then": [TWICE, {"sql": "COMMIT"}]}]})j";
  std::string text = steps;
  text.replace(text.find("TWICE"), 5, kTwice);
  CHECK(verdict({.engine = "mysql", .connections = 0, .steps = text, .clicks = 2}) == "holds");
  CHECK(verdict({.engine = "mysql", .connections = 1, .steps = text, .clicks = 2}) == "violated");
}

TEST_CASE("a lock that is left goes with its connection only") {
  const std::string steps = R"j({"sql": "SELECT GET_LOCK('a', 0)"}, {"sql": "SELECT RELEASE_LOCK('a') AS f", "into": "a"},
    )j" + twice_if(":a.f IS NULL");
  CHECK(verdict({.engine = "mysql", .connections = 2, .steps = steps}) == "holds");
  CHECK(verdict({.engine = "mysql", .connections = 2, .steps = steps, .faults = R"j("lose_connection": 1)j"}) == "violated");
  CHECK(verdict({.engine = "mysql", .connections = 2, .steps = steps, .faults = R"j("lose_connection": 0)j"}) == "holds");
  CHECK(verdict({.engine = "mysql", .connections = 2, .steps = steps, .faults = R"j("failover": 1)j", .database = R"j("replicas": 1,)j"}) == "violated");
}

TEST_CASE("a process that dies outside of a transaction leaves its lock behind") {
  // The start-up program runs after the crash: whether the lock of the dead handler is free then.
  const std::string service = R"j("on_start": [{"sql": "SELECT RELEASE_LOCK('a') AS f", "into": "a"},
    {"sql": "SELECT n FROM done WHERE n = 5", "into": "seen"}, {"if": ":seen.count = 1 AND :a.f IS NOT NULL", "then": [TWICE]}],)j";
  std::string text = service;
  text.replace(text.find("TWICE"), 5, R"j({"sql": "INSERT INTO done VALUES (1, 'K')"}, {"sql": "INSERT INTO done VALUES (2, 'K')"})j");
  Case c{.engine = "mysql", .steps = R"j({"sql": "SELECT GET_LOCK('a', 0)"}, {"sql": "INSERT INTO done VALUES (5, 'other')"},
    {"sql": "SELECT RELEASE_LOCK('a')"})j", .faults = R"j("crash": 1)j", .service = text};
  CHECK(verdict(c) == "holds");
  c.connections = 1;
  CHECK(verdict(c) == "violated");
  // In a transaction the pool closes the connection.
  c.steps = R"j({"sql": "INSERT INTO done VALUES (5, 'other')"}, {"sql": "BEGIN"}, {"sql": "SELECT GET_LOCK('a', 0)"},
    {"sql": "SELECT RELEASE_LOCK('a')"}, {"sql": "COMMIT"})j";
  CHECK(verdict(c) == "holds");
}

TEST_CASE("a statement waits for a connection, and gives up when none comes") {
  // The handler keeps the only connection while it asks another service, which needs one too.
  Case c{.steps = R"j({"sql": "BEGIN"}, {"call": "t", "key": ":key", "into": "c"}, )j" + twice_if(":c.body = 'lost'") + R"j(, {"sql": "COMMIT"})j",
         .services = R"j(, "t": {"on_request": [
    {"sql": "SELECT count(*) FROM done", "on_error": {"connection_lost": [{"reply": 200, "body": "'lost'"}]}}, {"reply": 200, "body": "'fine'"}]})j"};
  CHECK(verdict(c) == "holds");
  c.connections = 2;
  CHECK(verdict(c) == "holds");
  c.connections = 1;
  CHECK(verdict(c) == "violated");
}

// PostgreSQL at READ COMMITTED: what waits, what is seen after a wait, what an error undoes. Each case is a short scenario;
// a promise that must hold or break says what the database did in some or all interleavings.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Two clicks of one client run the same handler side by side; `promise` is an always_empty or finally_empty query.
std::string two_copies(const std::string& schema, const std::string& steps, const std::string& kind, const std::string& query) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [{}]}}}},
    "services": {{"s": {{"on_request": [{}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2}}}},
    "invariants": [{{"name": "p", "{}": "{}"}}]
  }})j",
                     schema, steps, kind, query);
}

std::string outcome(const std::string& schema, const std::string& steps, const std::string& query,
                    const std::string& kind = "finally_empty") {
  return verdict_of(*program_from(two_copies(schema, steps, kind, query)), "p");
}

const char* kCounter = R"j("CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0), (2, 0)")j";

}  // namespace

TEST_CASE("an UPDATE that waited works on the newest version of the row") {
  CHECK(outcome(kCounter, R"j({"sql": "UPDATE t SET n = n + 1 WHERE id = 1"}, {"reply": 200})j",
                "SELECT n FROM t WHERE id = 1 AND n <> 2") == "holds");
  CHECK(outcome(kCounter, R"j({"sql": "BEGIN"}, {"sql": "UPDATE t SET n = n + 1 WHERE id = 1"}, {"sql": "COMMIT"}, {"reply": 200})j",
                "SELECT n FROM t WHERE id = 1 AND n <> 2") == "holds");
}

TEST_CASE("read, compute, write loses an update; FOR UPDATE and a compare-and-set do not") {
  const std::string lost = "SELECT n FROM t WHERE id = 1 AND n <> 2";
  CHECK(outcome(kCounter, R"j({"sql": "SELECT n FROM t WHERE id = 1", "into": "r"}, {"sql": "UPDATE t SET n = :r.n + 1 WHERE id = 1"}, {"reply": 200})j",
                lost) == "violated");
  CHECK(outcome(kCounter, R"j({"sql": "BEGIN"}, {"sql": "SELECT n FROM t WHERE id = 1 FOR UPDATE", "into": "r"},
                             {"sql": "UPDATE t SET n = :r.n + 1 WHERE id = 1"}, {"sql": "COMMIT"}, {"reply": 200})j", lost) == "holds");
  CHECK(outcome(kCounter, R"j({"set": {"done": "0"}}, {"while": ":done = 0", "do": [
                  {"sql": "SELECT n FROM t WHERE id = 1", "into": "r"},
                  {"sql": "UPDATE t SET n = n + 1 WHERE id = 1 AND n = :r.n", "into": "w"}, {"set": {"done": ":w.count"}}]}, {"reply": 200})j",
                lost) == "holds");
}

TEST_CASE("a duplicate INSERT waits for the uncommitted one and then skips or fails") {
  const char* schema = R"j("CREATE TABLE t (id text PRIMARY KEY, n int)", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO t VALUES (:key, 1) ON CONFLICT DO NOTHING", "into": "i"},
      {"if": ":i.count = 0", "then": [{"sql": "SELECT n FROM t WHERE id = :key", "into": "r"},
         {"if": ":r.count = 0", "then": [{"sql": "INSERT INTO log VALUES ('skipped without a row')"}]}]},
      {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT what FROM log") == "holds");
  CHECK(outcome(schema, steps, "SELECT count(*) FROM t HAVING count(*) <> 1") == "holds");
}

TEST_CASE("when the first inserter rolls back the waiting one goes on") {
  const char* schema = R"j("CREATE TABLE t (id text PRIMARY KEY, n int)", "CREATE TABLE turn (x int PRIMARY KEY)")j";
  // Whoever takes the turn first rolls back.
  const std::string steps = R"j({"sql": "INSERT INTO turn VALUES (1) ON CONFLICT DO NOTHING", "into": "first"},
      {"sql": "BEGIN"}, {"sql": "INSERT INTO t VALUES (:key, 1) ON CONFLICT DO NOTHING"},
      {"if": ":first.count = 1", "then": [{"sql": "ROLLBACK"}, {"reply": 500}]}, {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT count(*) FROM t HAVING count(*) <> 1") == "holds");
}

TEST_CASE("a plain INSERT of a duplicate fails the whole transaction, and COMMIT then rolls back") {
  const char* schema = R"j("CREATE TABLE t (id text PRIMARY KEY)", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO log VALUES ('tried')"},
      {"sql": "INSERT INTO t VALUES (:key)", "on_error": {"unique_violation": [
         {"sql": "SELECT 1", "on_error": {"in_failed_transaction": [{"sql": "COMMIT"}, {"reply": 200}]}},
         {"sql": "INSERT INTO log VALUES ('went on')"}]}},
      {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT what FROM log WHERE what = 'went on'") == "holds");
  CHECK(outcome(schema, steps, "SELECT count(*) FROM log HAVING count(*) <> 1") == "holds");
}

TEST_CASE("UPDATE neither sees nor waits for an uncommitted INSERT") {
  const char* schema = R"j("CREATE TABLE t (id text PRIMARY KEY, n int)", "CREATE TABLE turn (x int PRIMARY KEY)", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "INSERT INTO turn VALUES (1) ON CONFLICT DO NOTHING", "into": "first"},
      {"if": ":first.count = 1", "then": [{"sql": "BEGIN"}, {"sql": "INSERT INTO t VALUES (:key, 1)"}, {"sql": "COMMIT"}, {"reply": 200}]},
      {"sql": "UPDATE t SET n = 2 WHERE id = :key", "into": "u"},
      {"if": ":u.count = 0", "then": [{"sql": "INSERT INTO log VALUES ('zero rows')"}]}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT what FROM log") == "violated");  // it can happen
  CHECK(outcome(schema, steps, "SELECT id FROM t WHERE n NOT IN (1, 2)") == "holds");
}

TEST_CASE("the predicate is tested again on the newest version after a wait") {
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, state text)", "INSERT INTO t VALUES (1, 'NEW')", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "BEGIN"}, {"sql": "UPDATE t SET state = 'DONE' WHERE id = 1 AND state = 'NEW'", "into": "u"},
      {"if": ":u.count = 1", "then": [{"sql": "INSERT INTO log VALUES ('claimed')"}]}, {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT count(*) FROM log HAVING count(*) > 1", "always_empty") == "holds");
}

TEST_CASE("a claim by subquery is taken twice: the subquery is not run again after a wait") {
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, state text)", "INSERT INTO t VALUES (1, 'NEW')", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "BEGIN"},
      {"sql": "UPDATE t SET state = 'DONE' WHERE id = (SELECT min(id) FROM t WHERE state = 'NEW')", "into": "u"},
      {"if": ":u.count = 1", "then": [{"sql": "INSERT INTO log VALUES ('claimed')"}]}, {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT count(*) FROM log HAVING count(*) > 1", "always_empty") == "violated");
}

TEST_CASE("a deadlock fails one of the two, whichever the database picks") {
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0), (2, 0)", "CREATE TABLE turn (x int PRIMARY KEY)", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "INSERT INTO turn VALUES (1) ON CONFLICT DO NOTHING", "into": "first"}, {"sql": "BEGIN"},
      {"sql": "UPDATE t SET n = n + 1 WHERE id = 1 + :first.count"},
      {"sql": "UPDATE t SET n = n + 1 WHERE id = 2 - :first.count", "on_error": {"deadlock": [{"sql": "ROLLBACK"},
          {"sql": "INSERT INTO log VALUES (CASE WHEN :first.count = 1 THEN 'first' ELSE 'second' END)"}, {"reply": 500}]}},
      {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT what FROM log WHERE what = 'first'") == "violated");
  CHECK(outcome(schema, steps, "SELECT what FROM log WHERE what = 'second'") == "violated");
  CHECK(outcome(schema, steps, "SELECT count(*) FROM log HAVING count(*) > 1") == "holds");
  // The survivor's work, and only that, stands.
  CHECK(outcome(schema, steps, "SELECT id FROM t WHERE n <> 2 - (SELECT count(*) FROM log)") == "holds");
}

TEST_CASE("SKIP LOCKED passes over a locked row and NOWAIT fails on it") {
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, state text)", "INSERT INTO t VALUES (1, 'NEW'), (2, 'NEW')", "CREATE TABLE log (what int PRIMARY KEY)")j";
  const std::string skip = R"j({"sql": "BEGIN"}, {"sql": "SELECT id FROM t WHERE state = 'NEW' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED", "into": "job"},
      {"if": ":job.count = 1", "then": [{"sql": "UPDATE t SET state = 'DONE' WHERE id = :job.id"}, {"sql": "INSERT INTO log VALUES (:job.id)"}]},
      {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, skip, "SELECT count(*) FROM log HAVING count(*) <> 2") == "holds");
  const std::string nowait = R"j({"sql": "BEGIN"}, {"sql": "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT", "on_error": {"lock_not_available": [{"sql": "ROLLBACK"},
      {"sql": "INSERT INTO log VALUES (9)"}, {"reply": 409}]}}, {"sql": "COMMIT"}, {"reply": 200})j";
  CHECK(outcome(schema, nowait, "SELECT what FROM log") == "violated");
}

TEST_CASE("ON CONFLICT DO UPDATE changes the row that is there, also one that its snapshot lacks") {
  const char* schema = R"j("CREATE TABLE t (id text PRIMARY KEY, n int NOT NULL)")j";
  const std::string steps = R"j({"sql": "INSERT INTO t VALUES (:key, 1) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n"}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT n FROM t WHERE n <> 2") == "holds");
}

TEST_CASE("an UPDATE that moves a row into a partial unique index is checked") {
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, k text, live boolean)", "CREATE UNIQUE INDEX one_live ON t (k) WHERE live",
      "INSERT INTO t VALUES (1, 'x', true), (2, 'x', false)", "CREATE TABLE log (what text)")j";
  const std::string steps = R"j({"sql": "UPDATE t SET live = true WHERE id = 2", "on_error": {"unique_violation": [
      {"sql": "INSERT INTO log VALUES ('refused')"}]}}, {"reply": 200})j";
  CHECK(outcome(schema, steps, "SELECT count(*) FROM t WHERE live HAVING count(*) <> 1") == "holds");
  CHECK(outcome(schema, steps, "SELECT count(*) FROM log HAVING count(*) <> 2") == "holds");
}

TEST_CASE("a compare-and-set that waited passes a lease that ran out meanwhile: now() is when it began") {
  // The holder keeps the row locked, the worker's UPDATE waits behind it; the watcher notes that the lease ran out before the
  // work was done. Only a statement that began earlier can still do it then.
  const std::string text = R"j({
    "title": "test",
    "databases": {"db": {"engine": "postgres", "schema": [
      "CREATE TABLE t (id int PRIMARY KEY, until timestamptz, done boolean)", "INSERT INTO t VALUES (1, NOW() + interval '5s', false)",
      "CREATE TABLE seen (x text)"]}},
    "services": {
      "holder": {"on_request": [{"sql": "BEGIN"}, {"sql": "SELECT id FROM t WHERE id = 1 FOR UPDATE"}, {"sql": "COMMIT"}, {"reply": 200}]},
      "worker": {"on_request": [{"sql": "UPDATE t SET done = true WHERE id = 1 AND until > NOW()"}, {"reply": 200}]},
      "watcher": {"on_request": [{"sql": "INSERT INTO seen SELECT 'late' FROM t WHERE until < NOW() AND NOT done"}, {"reply": 200}]}},
    "clients": {"a": {"requests": [{"to": "holder", "key": "K"}]}, "b": {"requests": [{"to": "worker", "key": "K"}]},
      "c": {"requests": [{"to": "watcher", "key": "K"}]}},
    "faults": {"expire": 1},
    "invariants": [{"name": "p", "always_empty": "SELECT x FROM seen, t WHERE t.done"}]
  })j";
  CHECK(verdict_of(*program_from(text), "p") == "violated");
  // Nobody holds the row: nothing waits, and the lease is what it is when the statement runs.
  std::string free = text;
  free.replace(free.find(" FOR UPDATE"), 11, "");
  CHECK(verdict_of(*program_from(free), "p") == "holds");
}

TEST_CASE("INSERT ... WHERE NOT EXISTS and a claim by subquery race in autocommit too") {
  CHECK(outcome(R"j("CREATE TABLE t (id text)")j",
                R"j({"sql": "INSERT INTO t SELECT 'K' WHERE NOT EXISTS (SELECT 1 FROM t)"}, {"reply": 200})j",
                "SELECT count(*) FROM t HAVING count(*) > 1") == "violated");
  CHECK(outcome(R"j("CREATE TABLE t (id text PRIMARY KEY)")j",
                R"j({"sql": "INSERT INTO t SELECT 'K' WHERE NOT EXISTS (SELECT 1 FROM t)"}, {"reply": 200})j",
                "SELECT count(*) FROM t HAVING count(*) <> 1") == "holds");
  const char* schema = R"j("CREATE TABLE t (id int PRIMARY KEY, state text)", "INSERT INTO t VALUES (1, 'NEW')", "CREATE TABLE log (what text)")j";
  CHECK(outcome(schema, R"j({"sql": "UPDATE t SET state = 'DONE' WHERE id = (SELECT min(id) FROM t WHERE state = 'NEW')", "into": "u"},
      {"if": ":u.count = 1", "then": [{"sql": "INSERT INTO log VALUES ('claimed')"}]}, {"reply": 200})j",
                "SELECT count(*) FROM log HAVING count(*) > 1") == "violated");
}

TEST_CASE("NULL keys do not collide, and a partial unique index judges only its rows") {
  CHECK(outcome(R"j("CREATE TABLE t (id text UNIQUE)")j", R"j({"sql": "INSERT INTO t VALUES (NULL)"}, {"reply": 200})j",
                "SELECT count(*) FROM t HAVING count(*) <> 2") == "holds");
  const char* partial = R"j("CREATE TABLE t (k text, live boolean)", "CREATE UNIQUE INDEX one_live ON t (k) WHERE live")j";
  CHECK(outcome(partial, R"j({"sql": "INSERT INTO t VALUES (:key, false)"}, {"reply": 200})j", "SELECT count(*) FROM t HAVING count(*) <> 2") == "holds");
  CHECK(outcome(partial, R"j({"sql": "INSERT INTO t VALUES (:key, true) ON CONFLICT DO NOTHING"}, {"reply": 200})j", "SELECT count(*) FROM t HAVING count(*) <> 1") == "holds");
}

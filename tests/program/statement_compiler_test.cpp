// From SQL to the plan: access paths, parts, foreign keys, sequences, lock functions, settings; and what is refused, with the
// reason.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "model/program/program.hpp"

using namespace oncecheck;

namespace {

struct Compiled {
  std::unique_ptr<Program> program;
  std::string errors;
  const SqlStatement& statement(std::size_t i = 0) const { return program->plan.statements.at(i); }
  const TableLayout& table(std::size_t i) const { return program->plan.layout.tables.at(i); }
  const Query& query(QueryId id) const { return program->plan.code.queries.at(static_cast<std::size_t>(id)); }
  const Node& node(ExprId id) const { return program->plan.code.nodes.at(static_cast<std::size_t>(id)); }
};

const std::vector<std::string> kTables = {
    "CREATE TABLE t (id int PRIMARY KEY, a int, b text, c text UNIQUE, at timestamp)",
    "CREATE INDEX t_ab ON t (a, b)",
    "CREATE TABLE u (x int, y int, UNIQUE (x, y))",
    "CREATE TABLE q (id int PRIMARY KEY, state text)",
};

Compiled compile_steps(const std::string& engine, const std::vector<std::string>& schema,
                       const std::vector<std::string>& steps, const CompileOptions& options = {}) {
  Scenario s;
  s.file = "s.json";
  Database db;
  db.engine = {engine, {"s.json", "/databases/db", 1, 1}};
  db.isolation = {"repeatable read", db.engine.at};
  for (const std::string& text : schema) db.schema.push_back({text, {"s.json", "/schema", 2, 1}});
  s.databases.emplace_back("db", db);
  Service service;
  for (const std::string& text : steps) {
    Step step;
    step.at = {"s.json", "/steps", static_cast<int>(service.on_request.size()) + 3, 1};
    step.text = {text, step.at};
    service.on_request.push_back(step);
  }
  s.services.emplace_back("svc", service);
  Request request;
  request.to = {"svc", {}};
  request.fields.emplace_back("key", Scalar{});
  Client client;
  client.requests.push_back(request);
  s.clients.emplace_back("c", client);
  Compiled out;
  try {
    out.program = compile(s, options);
  } catch (const ScenarioError& e) {
    for (const Diagnostic& d : e.diagnostics()) out.errors += d.message + "\n";
  }
  return out;
}

Compiled one(const std::string& sql, const std::string& engine = "postgres", const CompileOptions& options = {}) {
  Compiled out = compile_steps(engine, kTables, {sql}, options);
  CAPTURE(sql);
  CHECK(out.errors == "");
  REQUIRE(out.program);
  return out;
}

void refused(const std::string& sql, const std::string& message, const std::string& engine = "postgres") {
  CAPTURE(sql);
  const Compiled out = compile_steps(engine, kTables, {sql});
  CHECK_MESSAGE(out.errors.find(message) != std::string::npos, out.errors);
}

std::string path_of(const AccessPath& p) {
  std::string text = std::to_string(p.index) + ":";
  for (const KeyRange& r : p.ranges) {
    text += " " + std::string(r.equal.size(), '=');
    if (r.low != kNoExpr) text += r.low_open ? "(" : "[";
    if (r.high != kNoExpr) text += r.high_open ? ")" : "]";
  }
  return text + (p.in_order ? p.backward ? " backward" : " ordered" : "");
}

}  // namespace

TEST_CASE("access paths") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"UPDATE t SET a = 1 WHERE id = 1", "0: = ordered"},
      {"UPDATE t SET a = 1 WHERE :key = id AND b = 'x'", "0: = ordered"},
      {"UPDATE t SET a = 1 WHERE id IN (2, 1)", "0: = = ordered"},
      {"UPDATE t SET a = 1 WHERE id = 1 OR id = 2 OR id = 3", "0: = = = ordered"},
      {"UPDATE t SET a = 1 WHERE id = 1 OR a = 2", "-1: ordered"},
      {"UPDATE t SET a = 1 WHERE id > 1 AND id <= 5", "0: (] ordered"},
      {"UPDATE t SET a = 1 WHERE id BETWEEN 1 AND 2", "0: [] ordered"},
      {"UPDATE t SET a = 1 WHERE 5 > id", "0: ) ordered"},
      {"UPDATE t SET a = 1 WHERE c = 'x' AND id > 1", "1: = ordered"},
      {"UPDATE t SET a = 1 WHERE a = 1", "2: = ordered"},
      {"UPDATE t SET a = 1 WHERE a = 1 AND b > 'x'", "2: =( ordered"},
      {"UPDATE t SET a = 1 WHERE b = 'x'", "-1: ordered"},
      {"UPDATE t SET a = 1 WHERE id = a", "-1: ordered"},
      {"UPDATE t SET a = 1 WHERE id = (SELECT max(id) FROM q)", "0: = ordered"},
      {"UPDATE t SET a = 1 WHERE id = (SELECT max(id) FROM q WHERE q.id = t.a)", "-1: ordered"},
      {"DELETE FROM u WHERE x = 1", "0: = ordered"},
      {"SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE", "-1: ordered"},
      {"SELECT id FROM t ORDER BY id DESC LIMIT 1 FOR UPDATE", "-1: backward"},
      {"SELECT id FROM t ORDER BY b LIMIT 1 FOR UPDATE", "-1:"},
      {"SELECT id FROM t WHERE a = 1 ORDER BY b FOR UPDATE", "2: = ordered"},
      {"SELECT id FROM t WHERE a = 1 ORDER BY b DESC, id FOR UPDATE", "2: ="},
  };
  for (const auto& [sql, wanted] : cases) {
    CAPTURE(sql);
    CHECK(path_of(one(sql).statement().access) == wanted);
  }
  CHECK(path_of(one("UPDATE t SET a = 1 WHERE id IN (2, 1) ORDER BY id DESC", "mysql").statement().access) == "0: = = backward");
  // A secondary index of InnoDB ends with the primary key.
  CHECK(path_of(one("SELECT id FROM t WHERE a = 1 AND b = 'x' ORDER BY id FOR UPDATE", "mysql").statement().access) == "2: == ordered");
}

TEST_CASE("access paths of a query's tables") {
  const Compiled c = one("SELECT t.id FROM q JOIN t ON t.id = q.id LEFT JOIN u ON u.x = t.a WHERE q.id = 1 AND u.y IS NULL");
  const Query& q = c.query(c.statement().query);
  REQUIRE(q.sources.size() == 3);
  CHECK(path_of(q.sources[0].access) == "0: = ordered");
  CHECK(path_of(q.sources[1].access) == "0: = ordered");
  CHECK(path_of(q.sources[2].access) == "0: = ordered");
}

TEST_CASE("secondary indexes are no constraints") {
  const Compiled c = compile_steps("mysql", {"CREATE TABLE t (a int, b int, UNIQUE KEY u (b), KEY k (a), PRIMARY KEY (b, a))"},
                                   {"UPDATE t SET a = 1", "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 2"});
  REQUIRE_MESSAGE(c.program, c.errors);
  REQUIRE(c.table(0).indexes.size() == 3);
  CHECK(c.table(0).indexes[0].primary);
  CHECK(!c.table(0).indexes[2].unique);
  CHECK(c.table(0).indexes[2].name == "k");
  CHECK(c.statement(1).arbiters.empty());
  CHECK(c.statement(1).sequential_set);
  const Compiled plain = compile_steps("mysql", {"CREATE TABLE t (a int, b int, KEY k (a))"}, {"UPDATE t SET a = 1"});
  REQUIRE(plain.program);
  CHECK(!plain.statement().changes_key);
  refused("INSERT INTO t VALUES (1) ON CONFLICT (a, b) DO NOTHING", "no unique or exclusion constraint matching");
}

TEST_CASE("parts: what writes or locks inside a statement") {
  const Compiled claim = one(
      "UPDATE q SET state = 'X' WHERE id = (SELECT id FROM q WHERE state = 'NEW' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)"
      " RETURNING id");
  REQUIRE(claim.statement().parts.size() == 1);
  CHECK(claim.statement().parts[0].kind == SqlKind::SelectLock);
  CHECK(claim.statement().parts[0].policy == LockPolicy::SkipLocked);
  CHECK(claim.statement().reads_first);

  const Compiled common = one(
      "WITH c AS (SELECT id FROM q WHERE state = 'NEW' FOR UPDATE SKIP LOCKED LIMIT 1) UPDATE q SET state = 'X' FROM c"
      " WHERE q.id = c.id RETURNING q.id");
  REQUIRE(common.statement().parts.size() == 1);
  CHECK(common.statement().columns == std::vector<std::string>{"id"});

  const Compiled ins = one(
      "WITH ins AS (INSERT INTO q VALUES (1, 'A') ON CONFLICT DO NOTHING RETURNING state) SELECT state, 'new' FROM ins"
      " UNION ALL SELECT state, 'old' FROM q WHERE id = 1");
  REQUIRE(ins.statement().parts.size() == 1);
  CHECK(ins.statement().kind == SqlKind::Select);
  CHECK(ins.statement().parts[0].kind == SqlKind::Insert);
  const Query& whole = ins.query(ins.statement().query);
  CHECK(ins.query(whole.left).sources[0].kind == Source::Kind::Part);

  const Compiled moved = one("WITH d AS (DELETE FROM q RETURNING id, state) INSERT INTO t (id, b) SELECT id, state FROM d");
  REQUIRE(moved.statement().parts.size() == 1);
  CHECK(moved.statement().kind == SqlKind::Insert);

  // A common table that only reads is no part; one that reads another one sees it, and not itself.
  CHECK(one("WITH q AS (SELECT id FROM q), r AS (SELECT id FROM q) SELECT id FROM r").statement().parts.empty());
  // MySQL adds up locked rows.
  const Compiled sum = one("SELECT sum(a) AS s FROM t WHERE id > 1 FOR UPDATE", "mysql");
  REQUIRE(sum.statement().parts.size() == 1);
  CHECK(sum.statement().columns == std::vector<std::string>{"s"});

  refused("SELECT a FROM t JOIN q ON t.id = q.id FOR UPDATE", "FOR UPDATE/SHARE is supported on one table");
  refused("SELECT a FROM t FOR UPDATE OF q", "FOR UPDATE/SHARE OF names \"q\"");
  refused("SELECT 1 FROM t WHERE id = (SELECT id FROM q WHERE q.id = t.a FOR UPDATE)", "unknown column \"t.a\"");
}

TEST_CASE("UPDATE FROM, DELETE USING, joins with USING, ORDER BY on a UNION") {
  const Compiled c = one("UPDATE t SET b = q.state, a = 1 FROM q WHERE q.id = t.id");
  CHECK(c.node(c.statement().where).op == Op::Exists);
  CHECK(c.node(c.statement().set[0].second).op == Op::Scalar);
  CHECK(c.node(c.statement().set[1].second).op == Op::Const);
  CHECK(one("DELETE FROM t USING q WHERE q.id = t.id").statement().kind == SqlKind::Delete);
  const Compiled join = one("SELECT * FROM t JOIN q USING (id) WHERE id = 1");
  CHECK(join.statement().columns == std::vector<std::string>{"id", "a", "b", "c", "at", "state"});
  refused("SELECT 1 FROM t JOIN q USING (nothing)", "of USING is not on both sides");
  const Compiled both = one("SELECT id FROM t UNION SELECT id FROM q ORDER BY id DESC LIMIT 1");
  const Query& outer = both.query(both.statement().query);
  CHECK(outer.order.size() == 1);
  CHECK(outer.sources[0].kind == Source::Kind::Query);
}

TEST_CASE("foreign keys and checks") {
  const std::vector<std::string> schema = {
      "CREATE TABLE p (id int PRIMARY KEY, k text UNIQUE, up int REFERENCES p)",
      "CREATE TABLE c (p int REFERENCES p ON DELETE CASCADE, k text, CHECK (p > 0), CONSTRAINT f FOREIGN KEY (k) REFERENCES p (k)"
      " ON UPDATE SET NULL)"};
  for (const std::string engine : {"postgres", "mariadb"}) {
    const Compiled c = compile_steps(engine, schema, {"SELECT 1"});
    REQUIRE_MESSAGE(c.program, c.errors);
    REQUIRE(c.table(1).foreign_keys.size() == 2);
    CHECK(c.table(0).foreign_keys[0].parent == 0);
    CHECK(c.table(1).foreign_keys[0].on_delete == OnParentChange::Cascade);
    CHECK(c.table(1).foreign_keys[1].name == "f");
    CHECK(c.table(1).foreign_keys[1].on_update == OnParentChange::SetNull);
    CHECK(c.table(1).foreign_keys[1].parent_columns == std::vector<int>{1});
    CHECK(c.table(1).checks.size() == 1);
    // InnoDB makes the indexes that it needs.
    CHECK(c.table(1).indexes.size() == (engine == "mariadb" ? 2 : 0));
  }
  auto mistake = [&](const std::string& table) { return compile_steps("postgres", {schema[0], table}, {"SELECT 1"}).errors; };
  CHECK(mistake("CREATE TABLE c (p int REFERENCES nobody)").find("unknown table \"nobody\"") != std::string::npos);
  CHECK(mistake("CREATE TABLE c (p int, FOREIGN KEY (p) REFERENCES p (up))").find("UNIQUE key of \"p\"") != std::string::npos);
  CHECK(mistake("CREATE TABLE c (p int REFERENCES p DEFERRABLE)").find("a DEFERRABLE constraint") != std::string::npos);
}

TEST_CASE("sequences") {
  const Compiled c = compile_steps("postgres", {"CREATE TABLE s (n serial PRIMARY KEY, v text)", "CREATE SEQUENCE o"},
                                   {"INSERT INTO s (v) VALUES ('a')", "INSERT INTO s VALUES (nextval('o'), 'b')"});
  REQUIRE_MESSAGE(c.program, c.errors);
  REQUIRE(c.program->plan.layout.sequences.size() == 2);
  CHECK(c.node(c.statement(0).rows[0][0]).op == Op::NextVal);
  CHECK(c.node(c.statement(1).rows[0][0]).a == 1);
  const Compiled my = compile_steps("mysql", {"CREATE TABLE s (n int AUTO_INCREMENT PRIMARY KEY, v text)"},
                                    {"INSERT INTO s (v) VALUES ('a')", "INSERT INTO s VALUES (NULL, 'b')"});
  REQUIRE_MESSAGE(my.program, my.errors);
  CHECK(my.node(my.statement(0).rows[0][0]).b == kNoExpr);
  CHECK(my.node(my.statement(1).rows[0][0]).b != kNoExpr);
  refused("SELECT nextval('nothing')", "unknown sequence \"nothing\"");
}

TEST_CASE("lock functions") {
  struct Case {
    std::string sql, engine;
    LockCall call;
  };
  for (const Case& k : {Case{"SELECT pg_advisory_lock(1)", "postgres", LockCall::Lock},
                        Case{"SELECT pg_advisory_xact_lock(hashtext(:key)) AS x", "postgres", LockCall::XactLock},
                        Case{"SELECT pg_try_advisory_lock(1, 2) AS got", "postgres", LockCall::TryLock},
                        Case{"SELECT 1 FROM (SELECT pg_try_advisory_xact_lock(42)) x", "postgres", LockCall::TryXactLock},
                        Case{"SELECT pg_advisory_unlock(1)", "postgres", LockCall::Unlock},
                        Case{"SELECT pg_advisory_unlock_all()", "postgres", LockCall::UnlockAll},
                        Case{"SELECT GET_LOCK('a', 10)", "mysql", LockCall::GetLock},
                        Case{"DO RELEASE_LOCK('a')", "mariadb", LockCall::ReleaseLock}}) {
    const Compiled c = one(k.sql, k.engine);
    CHECK(c.statement().kind == SqlKind::LockFunction);
    CHECK(c.statement().call == k.call);
    CHECK(c.statement().targets.size() == 1);
  }
  refused("SELECT pg_advisory_lock_shared(1)", "only exclusive locks are modelled");
  refused("SELECT pg_advisory_lock(1), 2", "supported only alone in a select list");
  refused("SELECT GET_LOCK('a', 1)", "MySQL's, not this engine's");
}

TEST_CASE("settings and transactions") {
  const SqlStatement lock = one("SET LOCAL lock_timeout = '2s'").statement();
  CHECK(lock.kind == SqlKind::SetLockTimeout);
  CHECK((lock.switch_on && lock.local && lock.timeout == 2'000'000 && lock.timeout_error == ErrorClass::LockTimeout));
  CHECK(!one("SET lock_timeout = 0").statement().switch_on);
  CHECK(one("SET statement_timeout = 100").statement().timeout_error == ErrorClass::StatementTimeout);
  CHECK(one("SET innodb_lock_wait_timeout = 3", "mysql").statement().timeout == 3'000'000);
  CHECK(one("SET application_name = 'x'").statement().kind == SqlKind::Nothing);
  CHECK(one("SET innodb_snapshot_isolation = ON", "mariadb").program->plan.layout.databases[0].snapshot_isolation);
  refused("SET innodb_snapshot_isolation = ON", "SET innodb_snapshot_isolation is outside", "mysql");
  refused("SET enable_seqscan = off", "SET enable_seqscan is outside");
  refused("SET sql_mode = ''", "without STRICT_TRANS_TABLES", "mysql");
  CHECK(one("SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE'", "mysql").statement().kind == SqlKind::Nothing);
  CHECK(one("BEGIN ISOLATION LEVEL READ UNCOMMITTED").statement().isolation == Isolation::ReadCommitted);
  CHECK(one("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "mysql").statement().isolation == Isolation::ReadUncommitted);
  CHECK(one("START TRANSACTION WITH CONSISTENT SNAPSHOT", "mysql").statement().snapshot_now);
  refused("BEGIN ISOLATION LEVEL SERIALIZABLE", "no isolation level behind BEGIN", "mysql");
  refused("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE", "the wait for a safe snapshot is not modelled");
  const Compiled points = compile_steps("postgres", kTables, {"SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "RELEASE b"});
  REQUIRE_MESSAGE(points.program, points.errors);
  CHECK(points.statement(2).savepoint == points.statement(0).savepoint);
  CHECK(points.statement(1).savepoint != points.statement(0).savepoint);
  CHECK(points.program->plan.layout.databases[0].uses_savepoints);
}

TEST_CASE("what the server itself refuses") {
  const std::string own = "UPDATE q SET state = 'X' WHERE id = (SELECT min(id) FROM q)";
  refused(own, "error 1093", "mysql");
  CHECK(one(own, "mariadb").statement().refused == ErrorClass::None);
  CHECK(one("UPDATE q SET state = 'X' WHERE id = (SELECT id FROM (SELECT id FROM q LIMIT 1) x)", "mysql").statement().refused ==
        ErrorClass::None);
  refused("SELECT a FROM t FOR SHARE", "write LOCK IN SHARE MODE", "mariadb");
  refused("INSERT INTO q VALUES (1, 'a') RETURNING id", "MySQL has no RETURNING", "mysql");
  refused("INSERT INTO q VALUES (1, 'a') AS n ON DUPLICATE KEY UPDATE state = n.state", "MariaDB has no name for the new row", "mariadb");
  refused("DELETE FROM q WHERE id IN (SELECT id FROM t LIMIT 1)", "error 1235", "mysql");
  refused("WITH d AS (DELETE FROM q RETURNING id) SELECT id FROM d", "that is PostgreSQL's", "mariadb");
  CompileOptions run;
  run.run_refused = true;
  CHECK(one(own, "mysql", run).statement().refused == ErrorClass::UpdateTableUsed);
  CHECK(one("SELECT a FROM t FOR SHARE", "mariadb", run).statement().refused == ErrorClass::SyntaxError);
}

TEST_CASE("booleans, NULLs and bare names of MySQL") {
  const Compiled c = compile_steps("mysql", {"CREATE TABLE f (id int PRIMARY KEY, done boolean NOT NULL DEFAULT FALSE)"},
                                   {"SELECT done, id = 1 AS first FROM f WHERE done AND NOT done = TRUE ORDER BY id",
                                    "INSERT INTO f VALUES (1, TRUE) ON DUPLICATE KEY UPDATE done = VALUES(done) OR done"});
  REQUIRE_MESSAGE(c.program, c.errors);
  const Query& q = c.query(c.statement().query);
  CHECK(c.node(q.targets[1]).op == Op::Case);  // 1 and 0, not true and false
  CHECK(q.order[0].nulls_first);
}

TEST_CASE("instants that are written out") {
  const Compiled c = one("UPDATE t SET at = '2037-01-01 00:00:00' WHERE at < '2001-02-03'");
  const Node& value = c.node(c.statement().set[0].second);
  CHECK(value.val.kind == Kind::Instant);
  CHECK(c.program->plan.domain.show(value.val) == "'2037-01-01 00:00:00'");
  refused("UPDATE t SET at = 'soon'", "column \"at\" must be timestamptz");
  const Compiled clock = one("SELECT now(), clock_timestamp()");
  const Query& q = clock.query(clock.statement().query);
  CHECK(clock.node(q.targets[0]).b == kNowTransaction);
  CHECK(clock.node(q.targets[1]).b == kNowClock);
  const Compiled my = one("SELECT NOW()", "mysql");
  CHECK(my.node(my.query(my.statement().query).targets[0]).b == kNowStatement);
}

TEST_CASE("a caller may add to the domain") {
  refused("UPDATE t SET b = b || 'x'", "would grow without bound");
  CompileOptions grow;
  grow.values_grow = true;
  grow.extra_texts = {"xxx"};
  grow.extra_ints = {4711};
  const Compiled c = one("UPDATE t SET b = b || 'x'", "postgres", grow);
  CHECK(c.program->plan.domain.text_index("xxx") >= 0);
  Limit limit;
  c.program->plan.domain.encode(int_val(4711), limit);
  CHECK(!limit);
}

TEST_CASE("rows of the schema keep its constraints") {
  const auto schema_refused = [](const std::vector<std::string>& schema, const std::string& message, const std::string& engine = "postgres") {
    const Compiled out = compile_steps(engine, schema, {"SELECT 1"});
    CHECK_MESSAGE(out.errors.find(message) != std::string::npos, message << ": " << out.errors);
  };
  const std::string p = "CREATE TABLE p (id int PRIMARY KEY, a text UNIQUE NOT NULL, n smallint CHECK (n > 0), s varchar(3))";
  schema_refused({p, "INSERT INTO p VALUES (1, 'a', 1, 'x')", "INSERT INTO p VALUES (1, 'b', 1, 'x')"}, "the key of \"p_pkey\" is there");
  schema_refused({p, "INSERT INTO p VALUES (1, 'a', 1, 'x'), (2, 'a', 1, 'x')"}, "the key of \"p_a_key\" is there");
  schema_refused({p, "INSERT INTO p VALUES (1, NULL, 1, 'x')"}, "NULL in column \"a\"");
  schema_refused({p, "INSERT INTO p VALUES (1, 'a', 0, 'x')"}, "a CHECK of table \"p\" fails");
  schema_refused({p, "INSERT INTO p VALUES (1, 'a', 40000, 'x')"}, "40000 is out of range");
  schema_refused({p, "INSERT INTO p VALUES (1, 'a', 1, 'long')"}, "too long for column \"s\" of 3 characters");
  schema_refused({p, "INSERT INTO p VALUES (1)"}, "column_count", "mysql");
  const std::string c = "CREATE TABLE c (id int PRIMARY KEY, up int REFERENCES c (id), of int REFERENCES p (id))";
  schema_refused({p, c, "INSERT INTO c VALUES (1, NULL, 7)"}, "finds no row in \"p\"");
  schema_refused({p, c, "INSERT INTO c VALUES (1, 2, NULL)"}, "finds no row in \"c\"");
  const std::string live = "CREATE UNIQUE INDEX live ON c (of) WHERE up IS NULL";
  schema_refused({p, c, live, "INSERT INTO p VALUES (5, 'a', 1, 'x')", "INSERT INTO c VALUES (1, NULL, 5), (2, NULL, 5)"}, "\"live\" is there");
  const Compiled fine = compile_steps("postgres", {p, c, live, "INSERT INTO p VALUES (5, 'a', NULL, 'abc')",
                                                   "INSERT INTO c VALUES (1, 2, 5), (2, 1, 5), (3, NULL, 5)"}, {"SELECT 1"});
  CHECK(fine.errors == "");
  schema_refused({"CREATE TABLE t (a int PRIMARY KEY, b int, PRIMARY KEY (b))"}, "more than one PRIMARY KEY");
  schema_refused({"CREATE TABLE t (a int PRIMARY KEY, b int PRIMARY KEY)"}, "more than one PRIMARY KEY", "mysql");
}

TEST_CASE("what a server refuses before it runs is told in scenarios") {
  refused("INSERT INTO q (id, id) VALUES (1, 2)", "column \"id\" is named twice");
  refused("INSERT INTO q VALUES (1)", "INSERT has 2 target columns but 1 values", "mysql");
  refused("UPDATE q SET state = 'a', state = 'b'", "\"state\" is set twice");
  CHECK(one("UPDATE q SET state = 'a', state = 'b'", "mysql").statement().set.size() == 2);
  CHECK(one("INSERT INTO q VALUES (1)").statement().rows.size() == 1);
  refused("SELECT id FROM q ORDER BY 5", "ORDER BY 5 is not in the select list");
  refused("SELECT id FROM q ORDER BY 5 FOR UPDATE", "ORDER BY 5 is not in the select list");
  refused("SELECT id FROM q LIMIT -1", "LIMIT must not be negative");
  refused("SELECT x.* FROM q", "unknown table \"x\"");
  refused("SELECT CASE WHEN true THEN 1 ELSE 'x' END", "the branches of CASE need one type");
  refused("SELECT id / 0 FROM q", "division by zero");
}

TEST_CASE("what is left out of division, rows and xmax") {
  refused("SELECT id / 2 + 1 FROM q", "write DIV", "mysql");
  refused("SELECT COALESCE(id / 2, 0) FROM q", "write DIV", "mysql");
  refused("SELECT id FROM q WHERE id / 2 IN (1, 2)", "write DIV", "mysql");
  refused("SELECT sum(id / 2) FROM q", "write DIV", "mysql");
  refused("SELECT -(id / 2), CONCAT(id / 2) FROM q", "write DIV", "mysql");
  refused("UPDATE q SET id = (SELECT x / 2 FROM u LIMIT 1)", "must be integer, not decimal", "mysql");
  CHECK(one("UPDATE q SET id = id / 2", "mysql").program != nullptr);
  refused("SELECT id FROM q WHERE (id, state) = 1", "a row of as many values");
  refused("SELECT id FROM q WHERE (id, state) IN ((1, 'a'), (2, 'b'))", "which keys it locks", "mysql");
  refused("INSERT INTO q VALUES (1, 'a'), (2, 'b') ON CONFLICT (id) DO UPDATE SET state = 'c' RETURNING xmax = 0", "xmax is supported for one row");
  const Compiled numeric = compile_steps("postgres", {"CREATE TABLE m (amt numeric)"}, {"SELECT amt / 3 FROM m"});
  CHECK(numeric.errors.find("numeric / numeric gives decimals") != std::string::npos);
}

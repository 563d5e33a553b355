// Which guards of an SQL text or a Redis command can be cut out, and what is left.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/redis_cuts.hpp"
#include "model/program/sql_cuts.hpp"

using namespace oncecheck;
using oncecheck::sql::Dialect;

namespace {

using Lines = std::vector<std::string>;

// "what [shown] => rest"
Lines lines(const std::string& text, const std::vector<sql::TextCut>& cuts) {
  Lines out;
  for (const sql::TextCut& c : cuts) {
    CHECK(sql::apply_cut(text, c) != text);
    out.push_back(c.what + " [" + c.shown + "] => " + sql::apply_cut(text, c));
  }
  return out;
}

Lines of_statement(const std::string& text, Dialect dialect = Dialect::Postgres) {
  const auto cuts = sql::statement_cuts(text, dialect);
  for (const sql::TextCut& c : cuts) CHECK_NOTHROW(sql::parse_statement(sql::apply_cut(text, c), dialect));
  return lines(text, cuts);
}

Lines of_schema(const std::string& text, Dialect dialect = Dialect::Postgres) { return lines(text, sql::schema_cuts(text, dialect)); }

Lines of_redis(const std::string& text) { return lines(text, redis_cuts(text)); }

}  // namespace

TEST_CASE("each conjunct of a WHERE, and the whole of one that has no AND") {
  CHECK(of_statement("UPDATE t SET a = 1 WHERE b = 2") == Lines{"WHERE [WHERE b = 2] => UPDATE t SET a = 1"});
  CHECK(of_statement("DELETE FROM t WHERE a = 1 AND b BETWEEN 1 AND 2 and c = 3 RETURNING a") ==
        Lines{"conjunct of WHERE [a = 1] => DELETE FROM t WHERE b BETWEEN 1 AND 2 and c = 3 RETURNING a",
              "conjunct of WHERE [b BETWEEN 1 AND 2] => DELETE FROM t WHERE a = 1 and c = 3 RETURNING a",
              "conjunct of WHERE [c = 3] => DELETE FROM t WHERE a = 1 AND b BETWEEN 1 AND 2 RETURNING a"});
}

TEST_CASE("a top-level OR keeps a clause whole; parentheses, literals and CASE hide what is within") {
  CHECK(of_statement("SELECT a FROM t WHERE a = 1 OR b = 2 AND c = 3 LIMIT 1") ==
        Lines{"WHERE [WHERE a = 1 OR b = 2 AND c = 3] => SELECT a FROM t LIMIT 1"});
  CHECK(of_statement("SELECT a FROM t WHERE (a = 1 AND b = 2) AND c = ' WHERE x AND y ' ORDER BY a") ==
        Lines{"conjunct of WHERE [(a = 1 AND b = 2)] => SELECT a FROM t WHERE c = ' WHERE x AND y ' ORDER BY a",
              "conjunct of WHERE [c = ' WHERE x AND y '] => SELECT a FROM t WHERE (a = 1 AND b = 2) ORDER BY a"});
  CHECK(of_statement("SELECT a FROM t WHERE CASE WHEN a = 1 AND b = 2 THEN true ELSE false END") ==
        Lines{"WHERE [WHERE CASE WHEN a = 1 AND b = 2 THEN true ELSE false END] => SELECT a FROM t"});
}

TEST_CASE("subqueries, HAVING, DO UPDATE and its WHERE; not FILTER, not the conflict target") {
  CHECK(of_statement("SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM l WHERE l.id = o.id)") ==
        Lines{"WHERE [WHERE NOT EXISTS (SELECT 1 FROM l WHERE l.id = o.id)] => SELECT id FROM o",
              "WHERE [WHERE l.id = o.id] => SELECT id FROM o WHERE NOT EXISTS (SELECT 1 FROM l)"});
  CHECK(of_statement("SELECT a, count(*) FILTER (WHERE b > 1) FROM t GROUP BY a HAVING count(*) > 1 AND a > 2") ==
        Lines{"conjunct of HAVING [count(*) > 1] => SELECT a, count(*) FILTER (WHERE b > 1) FROM t GROUP BY a HAVING a > 2",
              "conjunct of HAVING [a > 2] => SELECT a, count(*) FILTER (WHERE b > 1) FROM t GROUP BY a HAVING count(*) > 1"});
  CHECK(of_statement("INSERT INTO t VALUES (1) ON CONFLICT (a) WHERE a > 0 DO UPDATE SET b = 1 WHERE t.b = 2 RETURNING a") ==
        Lines{"ON CONFLICT [ON CONFLICT (a) WHERE a > 0 DO UPDATE SET b = 1 WHERE t.b = 2] => INSERT INTO t VALUES (1) RETURNING a",
              "WHERE [WHERE t.b = 2] => INSERT INTO t VALUES (1) ON CONFLICT (a) WHERE a > 0 DO UPDATE SET b = 1 RETURNING a"});
}

TEST_CASE("row locks, isolation levels, and MySQL's own words") {
  CHECK(of_statement("SELECT a FROM t WHERE b = 1 FOR UPDATE SKIP LOCKED") ==
        Lines{"WHERE [WHERE b = 1] => SELECT a FROM t FOR UPDATE SKIP LOCKED",
              "row lock [FOR UPDATE SKIP LOCKED] => SELECT a FROM t WHERE b = 1"});
  CHECK(of_statement("SELECT a FROM t LOCK IN SHARE MODE", Dialect::MySql) == Lines{"row lock [LOCK IN SHARE MODE] => SELECT a FROM t"});
  CHECK(of_statement("BEGIN ISOLATION LEVEL SERIALIZABLE") ==
        Lines{"isolation level, one lower [SERIALIZABLE] => BEGIN ISOLATION LEVEL repeatable read"});
  CHECK(of_statement("BEGIN ISOLATION LEVEL READ COMMITTED").empty());
  CHECK(of_statement("INSERT IGNORE INTO t VALUES ('a')", Dialect::MySql) == Lines{"IGNORE [IGNORE] => INSERT INTO t VALUES ('a')"});
  CHECK(of_statement("INSERT INTO t VALUES (\"where\") ON DUPLICATE KEY UPDATE a = 1", Dialect::MariaDb) ==
        Lines{"ON DUPLICATE KEY UPDATE [ON DUPLICATE KEY UPDATE a = 1] => INSERT INTO t VALUES (\"where\")"});
}

TEST_CASE("constraints of a table, of a column, and unique indexes") {
  CHECK(of_schema("CREATE TABLE t (id int PRIMARY KEY, b text UNIQUE NOT NULL, c int REFERENCES p (id) ON DELETE SET NULL CHECK (c > 0))") ==
        Lines{"primary key [id PRIMARY KEY] => CREATE TABLE t (id int, b text UNIQUE NOT NULL, c int REFERENCES p (id) ON DELETE SET NULL CHECK (c > 0))",
              "unique constraint [b UNIQUE] => CREATE TABLE t (id int PRIMARY KEY, b text NOT NULL, c int REFERENCES p (id) ON DELETE SET NULL CHECK (c > 0))",
              "foreign key [c REFERENCES p (id) ON DELETE SET NULL] => CREATE TABLE t (id int PRIMARY KEY, b text UNIQUE NOT NULL, c int CHECK (c > 0))",
              "check [c CHECK (c > 0)] => CREATE TABLE t (id int PRIMARY KEY, b text UNIQUE NOT NULL, c int REFERENCES p (id) ON DELETE SET NULL)"});
  CHECK(of_schema("CREATE TABLE t (PRIMARY KEY (a), a int, KEY k (a), CONSTRAINT u UNIQUE KEY (a))", Dialect::MySql) ==
        Lines{"primary key [PRIMARY KEY (a)] => CREATE TABLE t ( a int, KEY k (a), CONSTRAINT u UNIQUE KEY (a))",
              "unique constraint [CONSTRAINT u UNIQUE KEY (a)] => CREATE TABLE t (PRIMARY KEY (a), a int, KEY k (a))"});
  CHECK(of_schema("CREATE TABLE t (a int);\nCREATE UNIQUE INDEX i ON t (a) WHERE a > 0 AND a < 9; CREATE INDEX j ON t (a)") ==
        Lines{"unique index [CREATE UNIQUE INDEX i ON t (a) WHERE a > 0 AND a < 9] => CREATE TABLE t (a int);; CREATE INDEX j ON t (a)",
              "conjunct of WHERE [a > 0] => CREATE TABLE t (a int);\nCREATE UNIQUE INDEX i ON t (a) WHERE a < 9; CREATE INDEX j ON t (a)",
              "conjunct of WHERE [a < 9] => CREATE TABLE t (a int);\nCREATE UNIQUE INDEX i ON t (a) WHERE a > 0; CREATE INDEX j ON t (a)"});
}

TEST_CASE("a unique key knows its table and columns, and the conflict targets that name it") {
  const auto cuts = sql::schema_cuts("CREATE TABLE \"T\" (a int, b int, UNIQUE (b, a))", Dialect::Postgres);
  REQUIRE(cuts.size() == 1);
  CHECK(cuts[0].table == "T");
  CHECK(cuts[0].columns == std::vector<std::string>{"b", "a"});
  auto target = [&](const std::string& text) { return lines(text, sql::conflict_target_cuts(text, Dialect::Postgres, cuts[0])); };
  CHECK(target("INSERT INTO \"T\" VALUES (1, 2) ON CONFLICT (a, b) DO NOTHING") ==
        Lines{"conflict target [(a, b)] => INSERT INTO \"T\" VALUES (1, 2) ON CONFLICT DO NOTHING"});
  CHECK(target("INSERT INTO t VALUES (1, 2) ON CONFLICT (a, b) DO NOTHING").empty());
  CHECK(target("INSERT INTO \"T\" VALUES (1, 2) ON CONFLICT (a) DO NOTHING").empty());
  CHECK(target("INSERT INTO \"T\" VALUES (1, 2) ON CONFLICT (a, b) DO UPDATE SET a = 1").empty());
}

TEST_CASE("conditions") {
  CHECK(sql::condition_cuts(":a.count = 1").empty());
  CHECK(lines(":a = 1 AND :b IS NULL", sql::condition_cuts(":a = 1 AND :b IS NULL")) ==
        Lines{"conjunct [:a = 1] => :b IS NULL", "conjunct [:b IS NULL] => :a = 1"});
}

TEST_CASE("SET of Redis, and the comparison of a script") {
  CHECK(of_redis("set lock:{:key} :me nx px 30000") ==
        Lines{"NX [nx] => set lock:{:key} :me px 30000", "time to live [px 30000] => set lock:{:key} :me nx"});
  CHECK(of_redis("SET EX NX").empty());
  CHECK(of_redis("SET k v XX KEEPTTL GET") == Lines{"XX [XX] => SET k v KEEPTTL GET", "KEEPTTL [KEEPTTL] => SET k v XX GET"});
  CHECK(of_redis("DEL k").empty());
  CHECK(of_redis("EVAL \"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end\" 1 k v") ==
        Lines{"comparison [redis.call('get', KEYS[1]) == ARGV[1]] => EVAL \"if true then return redis.call('del', KEYS[1]) end\" 1 k v"});
  CHECK(redis_command_name("  multi ") == "MULTI");
  CHECK(redis_command_name("").empty());
}

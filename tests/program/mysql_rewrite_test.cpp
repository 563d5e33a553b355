// What the parser reads of MySQL's and MariaDB's spellings, judged by what the printer makes of it; and the places of
// mistakes, which point into the text as written.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_print.hpp"
#include "model/program/sql_split.hpp"

using namespace oncecheck::sql;

namespace {

struct Case {
  const char* text;
  const char* printed;
};

std::string printed(const std::string& text, Dialect dialect = Dialect::MySql) {
  try {
    return to_string(parse_statement(text, dialect));
  } catch (const SqlError& e) {
    return std::string("error: ") + e.what() + " at " + std::to_string(e.location);
  }
}

void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(printed(c.text) == c.printed);
  }
}

struct Refusal {
  std::string text;
  std::string at;  // the text from the place of the error on begins with this, where it is first found
  std::string message;
};

void check_refusals(const std::vector<Refusal>& cases, Dialect dialect = Dialect::MySql) {
  for (const Refusal& c : cases) {
    CAPTURE(c.text);
    try {
      parse_statement(c.text, dialect);
      FAIL_CHECK("was accepted");
    } catch (const SqlError& e) {
      CHECK_MESSAGE(std::string(e.what()).find(c.message) != std::string::npos, e.what());
      CHECK(e.location == static_cast<int>(c.text.find(c.at)));
    }
  }
}

}  // namespace

TEST_CASE("quotes and comments") {
  check({
      {"SELECT `Id`, `a b`, `q``q` FROM `t`", "SELECT id, \"a b\", \"q`q\" FROM t"},
      {"SELECT \"a\", 'it''s', \"it's\", \"q\"\"q\", 'a\\'b\\\\'", "SELECT 'a', 'it''s', 'it''s', 'q\"q', 'a''b\\'"},
      {"SELECT 1 # the rest is nobody's\n, 2", "SELECT 1, 2"},
      {"SELECT ':x', \":y\", :z", "SELECT ':x', ':y', :z"},
  });
}

TEST_CASE("INSERT") {
  check({
      {"INSERT IGNORE INTO t VALUES (1)", "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"},
      {"insert ignore t values (1);", "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING"},
      {"INSERT IGNORE INTO t SELECT 1 FROM DUAL", "INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING"},
      {"INSERT INTO t VALUE (1)", "INSERT INTO t VALUES (1)"},
      {"INSERT INTO t () VALUES ()", "INSERT INTO t DEFAULT VALUES"},
      {"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=IF(a<NOW(6),VALUES(`a`),a), b = concat(b, values(b))",
       "INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT \"duplicate key\" DO UPDATE SET a = CASE WHEN a < now() THEN"
       " excluded.a ELSE a END, b = concat(b, excluded.b)"},
      {"INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a + 1",
       "INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT \"duplicate key\" DO UPDATE SET a = excluded.a + 1"},
      {"INSERT INTO t VALUES (:a) ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (:a) ON CONFLICT DO NOTHING"},
  });
}

TEST_CASE("SELECT") {
  check({
      {"SELECT a FROM t LOCK IN SHARE MODE", "SELECT a FROM t FOR SHARE"},
      {"SELECT a FROM t WHERE a <=> NULL", "SELECT a FROM t WHERE a IS NOT DISTINCT FROM NULL"},
      {"SELECT a FROM t WHERE a && b", "SELECT a FROM t WHERE a AND b"},
      {"SELECT a FROM t LIMIT 2, 5", "SELECT a FROM t LIMIT 5 OFFSET 2"},
      {"SELECT a FROM t LIMIT :m, :n", "SELECT a FROM t LIMIT :n OFFSET :m"},
      {"SELECT ifnull(a, 0), uuid() FROM t", "SELECT coalesce(a, 0), gen_random_uuid() FROM t"},
      {"SELECT NOW() + INTERVAL 30 SECOND, DATE_SUB(NOW(3), INTERVAL '2' HOUR), sysdate(), current_timestamp()",
       "SELECT now() + INTERVAL '30 second', now() - INTERVAL '2 hour', clock_timestamp(), now()"},
      {"DO RELEASE_LOCK('a')", "SELECT release_lock('a')"},
  });
}

TEST_CASE("ORDER BY and LIMIT of a write") {
  check({
      {"UPDATE t SET a = 1 WHERE b = :b ORDER BY c DESC LIMIT 1;", "UPDATE t SET a = 1 WHERE b = :b ORDER BY c DESC LIMIT 1"},
      {"UPDATE db.t SET a = 1 LIMIT :n", "UPDATE db.t SET a = 1 LIMIT :n"},
      {"DELETE FROM t ORDER BY a, b LIMIT 2", "DELETE FROM t ORDER BY a, b LIMIT 2"},
      {"DELETE FROM t WHERE a IN (SELECT b FROM u ORDER BY b LIMIT 1)", "DELETE FROM t WHERE a IN (SELECT b FROM u ORDER BY b LIMIT 1)"},
  });
}

TEST_CASE("division, casts and INSERT ... SET") {
  check({
      {"SELECT a DIV 2 * 3, (a + b) DIV c % 2, -7 DIV (1 + 1), a MOD 2, 5 mod (2), MOD(a, 2), ISNULL(a)",
       "SELECT a DIV 2 * 3, (a + b) DIV c % 2, -7 DIV (1 + 1), a % 2, 5 % 2, a % 2, a IS NULL"},
      {"SELECT CAST(a AS SIGNED), CAST(a AS SIGNED INTEGER), CAST(a AS CHAR)",
       "SELECT CAST(a AS bigint), CAST(a AS bigint), CAST(a AS text)"},
      {"INSERT INTO t SET a = 1, `b` = IF(a, 2, 3) ON DUPLICATE KEY UPDATE a = VALUES(a)",
       "INSERT INTO t (a, b) VALUES (1, CASE WHEN a THEN 2 ELSE 3 END) ON CONFLICT ON CONSTRAINT \"duplicate key\" DO UPDATE SET"
       " a = excluded.a"},
      {"INSERT IGNORE t SET a = 1", "INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING"},
  });
}

TEST_CASE("sessions") {
  check({
      {"START TRANSACTION WITH CONSISTENT SNAPSHOT", "BEGIN WITH CONSISTENT SNAPSHOT"},
      {"START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "BEGIN READ ONLY, WITH CONSISTENT SNAPSHOT"},
      {"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "SET transaction_isolation = 'read uncommitted'"},
      {"SET SESSION innodb_lock_wait_timeout=1", "SET innodb_lock_wait_timeout = '1'"},
      {"SET @@session.wait_timeout = 2", "SET wait_timeout = '2'"},
      {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET session_isolation = 'read committed'"},
      {"SET autocommit = 0", "SET autocommit = '0'"},
      {"SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET names = 'any'"},
      {"SET innodb_snapshot_isolation=ON", "SET innodb_snapshot_isolation = 'on'"},
  });
}

TEST_CASE("CREATE TABLE") {
  check({
      {"CREATE TABLE `t` (`Id` bigint(20) unsigned NOT NULL AUTO_INCREMENT, a tinyint(1) DEFAULT 0, b varchar(10) COLLATE"
       " utf8mb4_bin COMMENT 'x', c datetime(6) NULL, d enum('x','y'), PRIMARY KEY (`Id`) USING BTREE, UNIQUE KEY u (a, b),"
       " KEY k (c ASC), INDEX (d)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;",
       "CREATE TABLE t (id bigint unsigned GENERATED BY DEFAULT AS IDENTITY NOT NULL, a tinyint DEFAULT (0), b text, c timestamptz,"
       " d text, PRIMARY KEY (id), CONSTRAINT u UNIQUE (a, b), KEY k (c), KEY d (d))"},
      {"create table t (id int auto_increment primary key, k int unique key, e int key) engine = innodb",
       "CREATE TABLE t (id integer GENERATED BY DEFAULT AS IDENTITY NOT NULL PRIMARY KEY, k integer UNIQUE, e integer"
       " PRIMARY KEY)"},
      {"CREATE TABLE c (p int, CONSTRAINT f FOREIGN KEY i (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE RESTRICT)",
       "CREATE TABLE c (p integer, CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE RESTRICT)"},
      {"CREATE TABLE c (`key` int, at timestamp DEFAULT CURRENT_TIMESTAMP(3))",
       "CREATE TABLE c (key integer, at timestamptz DEFAULT (now()))"},
  });
}

TEST_CASE("statements of a text") {
  const auto all = split_statements("SELECT 'a;b' ; # c;\n SELECT \";\";;", Dialect::MySql);
  REQUIRE(all.size() == 2);
  CHECK(all[0] == "SELECT 'a;b'");
}

TEST_CASE("what the servers refuse themselves") {
  const Statement share = parse_statement("SELECT a FROM t FOR SHARE", Dialect::MariaDb);
  REQUIRE(share.refused);
  CHECK(share.refused->location == 16);
  CHECK(parse_statement("SELECT a FROM t FOR UPDATE OF t", Dialect::MariaDb).refused);
  CHECK(!parse_statement("SELECT a FROM t FOR SHARE OF t", Dialect::MySql).refused);
  CHECK(!parse_statement("SELECT a FROM t LOCK IN SHARE MODE", Dialect::MariaDb).refused);
}

TEST_CASE("mistakes point into the text as written") {
  check_refusals({
      {"REPLACE INTO t VALUES (1)", "REPLACE", "REPLACE is outside the SQL subset"},
      {"INSERT INTO t SET a = 1, 2", "2", "this form of INSERT ... SET"},
      {"INSERT IGNORE INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", "IGNORE", "IGNORE together with"},
      {"INSERT INTO `t` VALUES (1) AS n(x) ON DUPLICATE KEY UPDATE a = x", "AS", "a list of column names"},
      {"UPDATE t JOIN u ON t.a = u.a SET b = 1", "JOIN", "UPDATE or DELETE of a join"},
      {"UPDATE t, u SET b = 1", ",", "of several tables"},
      {"DELETE t FROM t", "t FROM", "DELETE of several tables"},
      {"UPDATE IGNORE t SET a = 1", "IGNORE", "UPDATE or DELETE IGNORE"},
      {"SELECT `a` || 'b'", "||", "it means OR in MySQL"},
      {"SELECT @x", "@", "a user variable"},
      {"SELECT a FROM t FORCE INDEX (i)", "FORCE", "an index hint"},
      {"SELECT NOW() + INTERVAL :s SECOND", ":s", "an interval of a parameter"},
      {"SET GLOBAL x = 1", "GLOBAL", "SET GLOBAL is outside"},
      {"START TRANSACTION DEFERRABLE", "DEFERRABLE", "DEFERRABLE is outside"},
      {"CREATE TABLE t (a int) ENGINE=MyISAM", "ENGINE", "an engine other than InnoDB"},
      {"CREATE TABLE t (a int) AUTO_INCREMENT=7", "AUTO_INCREMENT", "AUTO_INCREMENT = n of a table"},
      {"CREATE TABLE t (a text, KEY k (a(10)))", "(10)", "a part of a column"},
      {"CREATE TABLE t (a int, KEY k (a DESC))", "DESC", "DESC in an index"},
      {"CREATE TABLE t (a datetime ON UPDATE CURRENT_TIMESTAMP)", "ON", "ON UPDATE CURRENT_TIMESTAMP"},
      {"CREATE TABLE t (a text, FULLTEXT KEY f (a))", "FULLTEXT", "a FULLTEXT or SPATIAL index"},
      {"SELECT 'a\\'", "'a", "this string is not closed"},
      {"SELECT \"a", "\"a", "this string is not closed"},
      {"SELECT `a", "`a", "this name in backticks is not closed"},
      {"SELECT `a`, b c d FROM t", "d FROM", "syntax error"},
      {"INSERT IGNORE INTO t VALUES (1, , 2)", ", 2", "syntax error"},
      {"UPDATE t SET a = row_number() OVER () ORDER BY a", "row_number", "window function"},
  });
}

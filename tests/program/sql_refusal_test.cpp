// What the parser refuses: by its name in SQL, and at its place. And that no text makes it crash.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/sql_parser.hpp"

using namespace oncecheck::sql;

namespace {

struct Refusal {
  std::string text;
  std::string at;  // the text from the place of the error on begins with this, where it is first found
  std::string message;
};

template <typename Parse>
void check_refusals(const std::vector<Refusal>& cases, const Parse& parse) {
  for (const Refusal& c : cases) {
    CAPTURE(c.text);
    try {
      parse(c.text);
      FAIL_CHECK("was accepted");
    } catch (const SqlError& e) {
      CHECK_MESSAGE(std::string(e.what()).find(c.message) != std::string::npos, e.what());
      CHECK(e.location == static_cast<int>(c.at.empty() ? c.text.size() : c.text.find(c.at)));
    }
  }
}

void check_statements(const std::vector<Refusal>& cases) {
  check_refusals(cases, [](const std::string& text) { parse_statement(text); });
}

void check_expressions(const std::vector<Refusal>& cases) {
  check_refusals(cases, [](const std::string& text) { parse_expression(text); });
}

std::string repeated(const std::string& part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

// The message, or "accepted".
std::string answer(const std::string& text) {
  try {
    parse_statement(text);
    return "accepted";
  } catch (const SqlError& e) {
    return e.what();
  }
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("statements outside the subset") {
  check_statements({
      {"/* c */ MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE", "MERGE", "MERGE is outside the SQL subset"},
      {"COPY t FROM stdin", "COPY", "COPY is outside"},
      {"TRUNCATE t", "TRUNCATE", "TRUNCATE is outside"},
      {"DROP TABLE t", "DROP", "DROP TABLE is outside"},
      {"ALTER TABLE t ADD a int", "ALTER", "ALTER TABLE is outside"},
      {"CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION f()", "CREATE", "CREATE TRIGGER is outside"},
      {"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'select 1'", "CREATE", "CREATE FUNCTION is outside"},
      {"CREATE VIEW v AS SELECT 1", "CREATE", "CREATE VIEW is outside"},
      {"CREATE TABLE t AS SELECT 1", "CREATE", "CREATE TABLE AS is outside"},
      {"CREATE TYPE x AS ENUM ('a')", "CREATE", "CREATE TYPE is outside"},
      {"CREATE SCHEMA s", "CREATE", "CREATE SCHEMA is outside"},
      {"DO $$ BEGIN END $$", "DO", "DO is outside"},
      {"PREPARE a AS SELECT 1", "PREPARE", "PREPARE is outside"},
      {"EXECUTE a", "EXECUTE", "EXECUTE is outside"},
      {"CALL f()", "CALL", "CALL is outside"},
      {"GRANT SELECT ON t TO u", "GRANT", "GRANT or REVOKE is outside"},
      {"LOCK TABLE t", "LOCK", "LOCK TABLE is outside"},
      {"LISTEN x", "LISTEN", "LISTEN is outside"},
      {"NOTIFY x", "NOTIFY", "NOTIFY is outside"},
      {"EXPLAIN SELECT 1", "EXPLAIN", "EXPLAIN is outside"},
      {"VACUUM t", "VACUUM", "VACUUM or ANALYZE is outside"},
      {"SHOW x", "SHOW", "SHOW is outside"},
      {"DECLARE c CURSOR FOR SELECT 1", "DECLARE", "DECLARE CURSOR is outside"},
      {"PREPARE TRANSACTION 'x'", "PREPARE", "two-phase commit"},
      {"COMMIT AND CHAIN", "CHAIN", "AND CHAIN is outside"},
      {"BEGIN READ ONLY READ WRITE", "READ WRITE", "given twice"},
      {"SET x TO DEFAULT", "SET", "SET ... TO DEFAULT"},
      {"SET x FROM CURRENT", "SET", "SET ... FROM CURRENT"},
      {"SET x = a, b", "SET", "SET with a list of values"},
      {"RESET x", "RESET", "RESET is outside"},
      {"SET CONSTRAINTS ALL DEFERRED", "SET", "SET CONSTRAINTS is outside"},
      {"SET TRANSACTION READ ONLY", "SET", "SET TRANSACTION with READ ONLY"},
      {"SET TRANSACTION SNAPSHOT 'a'", "SET", "SET TRANSACTION SNAPSHOT is outside"},
      {"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET", "SET SESSION CHARACTERISTICS with READ ONLY"},
  });
}

TEST_CASE("parts of queries and writes outside the subset") {
  check_statements({
      {"SELECT row_number() OVER (ORDER BY a) FROM t", "row_number",
       "window function row_number() OVER ... is outside"},
      {"SELECT max(a) FROM t WINDOW w AS (PARTITION BY b)", "WINDOW", "WINDOW is outside"},
      {"SELECT a INTO x FROM t", "x FROM", "SELECT INTO is outside"},
      {"SELECT a FROM t TABLESAMPLE SYSTEM (1)", "t TABLE", "TABLESAMPLE is outside"},
      {"SELECT 1 FROM a, LATERAL (SELECT 2) b", "LATERAL", "LATERAL is outside"},
      {"WITH RECURSIVE a AS (SELECT 1) SELECT 1", "RECURSIVE", "WITH RECURSIVE is outside"},
      {"WITH a AS MATERIALIZED (SELECT 1) SELECT 1", "MATERIALIZED", "[NOT] MATERIALIZED is outside"},
      {"WITH a AS (MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE) SELECT 1", "MERGE", "MERGE"},
      {"SELECT 1 GROUP BY ROLLUP (a)", "ROLLUP", "GROUPING SETS, ROLLUP, CUBE or () is outside"},
      {"SELECT 1 GROUP BY DISTINCT a", "GROUP", "GROUP BY DISTINCT is outside"},
      {"SELECT a FROM ONLY t", "ONLY", "ONLY before a table is outside"},
      {"SELECT 1 FROM a JOIN c ON true RIGHT JOIN b ON true", "RIGHT", "RIGHT JOIN behind another join is outside the SQL subset: swap the tables"},
      {"SELECT 1 FROM a FULL JOIN b ON true", "FULL", "FULL JOIN is outside"},
      {"SELECT 1 FROM a NATURAL JOIN b", "NATURAL", "NATURAL JOIN is outside"},
      {"SELECT 1 FROM (a JOIN b ON true) j", "a JOIN", "an alias of a join in parentheses"},
      {"SELECT 1 FROM a JOIN b USING (c) AS d", "a JOIN", "an alias of JOIN ... USING"},
      {"SELECT 1 FROM f(1)", "f(1)", "a function in FROM is outside"},
      {"SELECT 1 FROM b c(x)", "b c", "a list of column names behind an alias"},
      {"SELECT 1 FROM a.b.c", "a.b.c", "a table name of three parts"},
      {"SELECT a FROM t ORDER BY a FETCH FIRST 2 ROWS WITH TIES", "TIES", "FETCH FIRST ... WITH TIES"},
      {"SELECT a FROM t ORDER BY a USING <", "USING", "ORDER BY ... USING"},
      {"SELECT 1 INTERSECT ALL SELECT 2", "INTERSECT", "INTERSECT ALL is outside"},
      {"SELECT 1 EXCEPT ALL SELECT 2", "EXCEPT", "EXCEPT ALL is outside"},
      {"SELECT a FROM t FOR UPDATE FOR SHARE", "FOR UPDATE", "more than one FOR UPDATE/SHARE"},
      {"SELECT a FROM t FOR UPDATE OF db.t", "db.t", "without its database"},
      {"INSERT INTO t OVERRIDING USER VALUE VALUES (1)", "OVERRIDING", "OVERRIDING ... VALUE is outside"},
      {"INSERT INTO t (a[1]) VALUES (1)", "1]", "an array element or field of a column"},
      {"INSERT INTO t VALUES (1) ON CONFLICT (lower(a)) DO NOTHING", "lower", "an expression in ON CONFLICT"},
      {"INSERT INTO t VALUES (1 + DEFAULT)", "DEFAULT", "DEFAULT is only meant for"},
      {"UPDATE t SET (a, b) = (SELECT 1, 2)", "(SELECT", "SET (a, b) = (SELECT ...) is outside"},
      {"UPDATE t SET (a, b) = (1, 2, 3)", "a,", "as many values as columns"},
      {"UPDATE t SET a.b = 1", "a.b", "an array element or field of a column"},
      {"DELETE FROM t WHERE CURRENT OF c", "CURRENT", "WHERE CURRENT OF is outside"},
  });
}

TEST_CASE("parts of CREATE outside the subset") {
  check_statements({
      {"CREATE TEMP TABLE t (a int)", "CREATE", "a temporary table or sequence"},
      {"CREATE UNLOGGED TABLE t (a int)", "UNLOGGED", "UNLOGGED is outside"},
      {"CREATE TABLE t (LIKE u)", "u)", "LIKE in CREATE TABLE"},
      {"CREATE TABLE t PARTITION OF u DEFAULT", "u DEFAULT", "INHERITS or PARTITION OF"},
      {"CREATE TABLE t (a int) PARTITION BY HASH (a)", "PARTITION", "PARTITION BY is outside"},
      {"CREATE TABLE t (a int) INHERITS (u)", "u)", "INHERITS or PARTITION OF"},
      {"CREATE TABLE t (a int) WITH (fillfactor = 10)", "fillfactor", "WITH (...) of a table"},
      {"CREATE TABLE t (a int) TABLESPACE s", "TABLESPACE", "TABLESPACE is outside"},
      {"CREATE TABLE t (a int, EXCLUDE USING gist (a WITH =))", "EXCLUDE", "EXCLUDE is outside"},
      {"CREATE TABLE t (a int GENERATED ALWAYS AS (b + 1) STORED)", "GENERATED", "a generated column is outside"},
      {"CREATE TABLE t (a int GENERATED ALWAYS AS IDENTITY (START 3))", "START", "an option of an identity column"},
      {"CREATE TABLE t (a int UNIQUE DEFERRABLE)", "DEFERRABLE", "a DEFERRABLE constraint"},
      {"CREATE TABLE t (a int, UNIQUE (a) DEFERRABLE)", "DEFERRABLE", "a DEFERRABLE constraint"},
      {"CREATE TABLE t (a int, UNIQUE (a) INITIALLY DEFERRED)", "UNIQUE", "a DEFERRABLE constraint"},
      {"CREATE TABLE t (a int REFERENCES u ON UPDATE SET DEFAULT)", "UPDATE", "ON UPDATE SET DEFAULT is outside"},
      {"CREATE TABLE t (a int, FOREIGN KEY (a) REFERENCES u MATCH FULL)", "MATCH", "MATCH FULL is outside"},
      {"CREATE TABLE t (a int REFERENCES s.u)", "s.u", "a foreign key into a named schema"},
      {"CREATE TABLE t (a int, UNIQUE NULLS NOT DISTINCT (a))", "NULLS", "NULLS NOT DISTINCT is outside"},
      {"CREATE TABLE t (a int CHECK (a > 0) NO INHERIT)", "INHERIT", "NO INHERIT is outside"},
      {"CREATE TABLE t (a int DEFAULT 1 DEFAULT 2)", "DEFAULT 2", "two DEFAULTs"},
      {"CREATE TABLE t (a int NULL NOT NULL)", "a int", "NULL and NOT NULL"},
      {"CREATE TABLE t (a int[])", "int[]", "an array of integer is outside"},
      {"CREATE TABLE t (a date)", "date", "type date is outside"},
      {"CREATE TABLE t (a double precision)", "double", "type float8 is outside"},
      {"CREATE TABLE t (a s.money)", "s.money", "type s.money is outside"},
      {"CREATE TABLE t (a text COLLATE \"C\")", "COLLATE", "COLLATE is outside"},
      {"CREATE INDEX CONCURRENTLY i ON t (a)", "CONCURRENTLY", "CONCURRENTLY is outside"},
      {"CREATE INDEX IF NOT EXISTS i ON t (a)", "IF", "CREATE INDEX IF NOT EXISTS"},
      {"CREATE INDEX i ON t USING gin (a)", "USING", "USING gin is outside"},
      {"CREATE INDEX i ON t (a DESC)", "DESC", "DESC in an index"},
      {"CREATE INDEX i ON t (lower(a))", "lower", "an index on an expression"},
      {"CREATE INDEX i ON t (a text_ops)", "t (a", "an operator class"},
      {"CREATE INDEX i ON t (a) INCLUDE (b)", "INCLUDE", "INCLUDE is outside"},
      {"CREATE SEQUENCE s START 3", "START", "an option of a sequence"},
      {"CREATE SEQUENCE IF NOT EXISTS s", "IF", "CREATE SEQUENCE IF NOT EXISTS"},
      {"CREATE SEQUENCE a.s", "a.s", "a sequence in a named schema"},
  });
}

TEST_CASE("expressions outside the subset") {
  check_expressions({
      {"a + 1.5", "1.5", "decimals are outside the SQL subset: use integer cents"},
      {"1e3", "1e3", "decimals are outside"},
      {"a = 99999999999999999999", "9", "does not fit into a bigint"},
      {"b'1'", "b'", "a bit string is outside"},
      {"a = array[1]", "array", "ARRAY[...] is outside"},
      {"a[1]", "a[", "an array subscript"},
      {"(a).b", "a)", "a field of a composite value"},
      {"a ->> 'b'", "->>", "the JSON operator ->> is outside"},
      {"a ~ 'b'", "~", "the pattern operator ~ is outside"},
      {"a & 1", "&", "the operator & is outside"},
      {"@ a", "@", "the prefix operator @ is outside"},
      {"a OPERATOR(pg_catalog.+) 1", "OPERATOR", "OPERATOR(...) is outside"},
      {"a = ANY (:x)", "=", "= ANY (array) is outside"},
      {"a > ANY (ARRAY[1])", ">", "> ANY (array) is outside"},
      {"a > ANY (SELECT 1)", ">", "> ANY (SELECT ...) is outside"},
      {"array(SELECT 1)", "array", "ARRAY(SELECT ...) is outside"},
      {"a ILIKE 'b'", "ILIKE", "ILIKE is outside"},
      {"a SIMILAR TO 'b'", "SIMILAR", "SIMILAR TO is outside"},
      {"a LIKE 'b' ESCAPE 'c'", "LIKE", "LIKE ... ESCAPE is outside"},
      {"a BETWEEN SYMMETRIC 1 AND 2", "BETWEEN", "BETWEEN SYMMETRIC is outside"},
      {"a COLLATE \"C\"", "a", "COLLATE is outside"},
      {"EXTRACT(epoch FROM a)", "EXTRACT", "the function extract() is outside"},
      {"a AT TIME ZONE 'utc'", "AT", "AT TIME ZONE is outside"},
      {"CURRENT_DATE", "CURRENT", "CURRENT_DATE is outside"},
      {"CURRENT_TIMESTAMP(3)", "CURRENT", "CURRENT_TIMESTAMP(n) is outside"},
      {"s.f()", "s.f", "the function s.f() is outside"},
      {"f(a => 1)", "a =>", "an argument by name is outside"},
      {"f(VARIADIC a)", "VARIADIC", "VARIADIC is outside"},
      {"string_agg(a, ',' ORDER BY b)", "ORDER", "ORDER BY inside a function call"},
      {"sum(*)", "sum", "only count can have *"},
      {"now(1)", "now", "now() has no arguments"},
      {"f(DISTINCT a)", "f(", "DISTINCT in f() is outside"},
      {"count(t.*)", "t.*", "* is only meant for"},
      {"a.b.c.d", "a.b", "a column name of more than three parts"},
      {"a::varchar(3)", "varchar", "a cast to varchar(n) is outside"},
      {"a::date", "date", "type date is outside"},
      {"a::int[]", "int", "an array of integer is outside"},
      {"interval '1 month'", "'1", "months and years have no fixed length"},
      {"interval '1' year", "interval", "this form of an interval"},
      {"CASE gen_random_uuid() WHEN a THEN 1 END", "CASE", "CASE x WHEN with a volatile function"},
      {"xmlconcat(a)", "xmlconcat", "an XML expression is outside"},
      {"GROUPING(a)", "GROUPING", "GROUPING() is outside"},
      {"DEFAULT", "DEFAULT", "DEFAULT is only meant for"},
  });
}

TEST_CASE("an expression is one expression") {
  check_expressions({
      {"1) FROM t; --", ")", "it closes nothing"},
      {"1) + (2", ")", "it closes nothing"},
      {"1, 2", "1", "one expression belongs here"},
      {"SELECT 1", "SELECT", "one expression belongs here"},
      {"VALUES (1)", "VALUES", "one expression belongs here"},
      {"(SELECT 1) UNION (SELECT 2)", "(", "one expression belongs here"},
      {"a; b", ";", "one expression belongs here"},
      {"a FROM t", "FROM", "syntax error"},
      {"a AS b", "AS", "syntax error"},
      {"*", "*", "syntax error"},
      {"a =", "", "syntax error at end of input"},
      {"(a", "", "syntax error at end of input"},
      {"a = 'x", "'x", "unterminated quoted string at or near \"'x\""},
      {"a /* b", "/*", "unterminated /* comment at or near \"/* b\""},
  });
  check_refusals({{"", "", "there is no SQL expression"}}, [](const std::string& text) { parse_expression(text); });
  check_refusals({{" -- a", " ", "there is no SQL expression"}},
                 [](const std::string& text) { parse_expression(text); });
}

TEST_CASE("syntax errors, and spellings of MySQL") {
  check_statements({
      {"", "", "there is no SQL statement"},
      {" ; ", " ", "there is no SQL statement"},
      {"-- only a comment", "-", "there is no SQL statement"},
      {"SELECT 1;\n -- next\n DELETE FROM t", "DELETE", "only one SQL statement belongs here"},
      {"SELEC 1", "SELEC", "syntax error at or near \"SELEC\""},
      {"SELECT a +", "", "syntax error at end of input"},
      {"SELECT 1 WHERE 'éé' = = 1", "= 1", "syntax error at or near \"=\""},
      {"SELECT 'é' || :a = = 1", "= 1", "syntax error at or near \"=\""},
      {"SELECT 'a", "'a", "unterminated quoted string"},
      {"SELECT $$a", "$$a", "unterminated dollar-quoted string"},
      {"INSERT IGNORE INTO t VALUES (1)", "INSERT", "INSERT IGNORE is MySQL's"},
      {"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", "ON",
       "ON DUPLICATE KEY UPDATE is MySQL's"},
      {"REPLACE INTO t VALUES (1)", "REPLACE", "REPLACE INTO is MySQL's"},
      {"SELECT a FROM t LOCK IN SHARE MODE", "LOCK", "PostgreSQL writes FOR SHARE"},
      {"START TRANSACTION WITH CONSISTENT SNAPSHOT", "WITH", "WITH CONSISTENT SNAPSHOT is MySQL's"},
      {"SELECT 'x`', `a` FROM t", "`a`", "the backtick is MySQL's"},
      {"SELECT a FROM t LIMIT 1, 2", "LIMIT", "LIMIT a, b is MySQL's"},
      {"SELECT interval 1 day", "interval", "an interval is written interval '1 day'"},
  });
}

TEST_CASE("text that is no text") {
  check_statements({
      {std::string("SELECT 1\0", 9), std::string("\0", 1), "NUL"},
      {"SELECT '\xff'", "\xff", "not UTF-8"},
      {"SELECT '\xc3", "\xc3", "not UTF-8"},
  });
  CHECK(contains(answer("SELECT '" + std::string(70'000, 'x') + "'"), "longer than 64 KiB"));
}

TEST_CASE("deep and long SQL is refused, not fatal") {
  CHECK(answer("SELECT " + repeated("(", 5'000) + "1" + repeated(")", 5'000)) == "accepted");
  CHECK(contains(answer("SELECT " + repeated("a+(", 6'000) + "1" + repeated(")", 1)), "nested too deeply"));
  CHECK(contains(answer("SELECT " + repeated("(", 10'000) + "1" + repeated(")", 10'000)), "too long"));
  CHECK(contains(answer("SELECT a" + repeated(" AND a", 200)), "more than 200 terms"));
  CHECK(contains(answer("SELECT a" + repeated(" AND a", 5'000)), "more than 200 terms"));
  CHECK(contains(answer("SELECT a" + repeated(" OR a", 5'000)), "more than 200 terms"));
  CHECK(answer("SELECT 1" + repeated(" + 1", 90)) == "accepted");
  CHECK(contains(answer("SELECT 1" + repeated("+1", 9'000)), "nested too deeply"));
  CHECK(contains(answer("SELECT " + repeated("NOT ", 9'000) + "a"), "nested too deeply"));
  CHECK(contains(answer("SELECT " + repeated("- ", 9'000) + "a"), "nested too deeply"));
  CHECK(contains(answer("SELECT a" + repeated("::int", 5'000)), "nested too deeply"));
  CHECK(contains(answer("SELECT 1" + repeated(" UNION SELECT 1", 3'000)), "nested too deeply"));
  CHECK(contains(answer("SELECT 1 FROM t" + repeated(" CROSS JOIN t", 3'000)), "nested too deeply"));
  CHECK(contains(answer("SELECT " + repeated("(SELECT ", 1'500) + "1" + repeated(")", 1'500)), "nested too deeply"));
  CHECK(contains(answer("SELECT " + repeated("(a OR ", 4'000) + "b" + repeated(")", 4'000)), "nested too deeply"));
  CHECK(answer("INSERT INTO t VALUES (1, 2)" + repeated(", (1, 2)", 2'000)) == "accepted");
  CHECK(contains(answer("INSERT INTO t VALUES (1, 2)" + repeated(", (1, 2)", 4'000)), "too long"));
}

TEST_CASE("what is repeated does not explode") {
  CHECK(contains(answer("SELECT " + repeated("(", 60) + "a" + repeated(" BETWEEN 1 AND 2)", 60)),
                 "more than 20000 parts"));
  CHECK(contains(answer("SELECT " + repeated("CASE ", 60) + "a" + repeated(" WHEN 1 THEN 2 WHEN 3 THEN 4 END", 60)),
                 "more than 20000 parts"));
  CHECK(contains(answer("UPDATE t SET (a" + repeated(", a", 3'000) + ") = (1" + repeated(", 1", 3'000) + ")"),
                 "too many columns"));
  CHECK(contains(answer("UPDATE t SET (a, b) = " + repeated("(WITH x AS (UPDATE t SET (a, b) = ", 30) + "(1, 2)" +
                        repeated(") SELECT 1)", 30)),
                 "too many columns"));
}

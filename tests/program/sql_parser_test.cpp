// What the parser reads, judged by what the printer makes of it: each case is a text and its canonical spelling. Then
// the parts of the tree that the printer does not show, and the places.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_print.hpp"

using namespace oncecheck::sql;

namespace {

struct Case {
  const char* text;
  const char* printed;  // nullptr: the same as the text
};

std::string printed_statement(const std::string& text) {
  try {
    return to_string(parse_statement(text));
  } catch (const SqlError& e) {
    return std::string("error: ") + e.what() + " at " + std::to_string(e.location);
  }
}

std::string printed_expression(const std::string& text) {
  try {
    return to_string(parse_expression(text));
  } catch (const SqlError& e) {
    return std::string("error: ") + e.what() + " at " + std::to_string(e.location);
  }
}

// Also that printing is stable.
void check_statements(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string wanted = c.printed == nullptr ? c.text : c.printed;
    CHECK(printed_statement(c.text) == wanted);
    CHECK(printed_statement(wanted) == wanted);
  }
}

void check_expressions(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string wanted = c.printed == nullptr ? c.text : c.printed;
    CHECK(printed_expression(c.text) == wanted);
    CHECK(printed_expression(wanted) == wanted);
  }
}

}  // namespace

TEST_CASE("SELECT") {
  check_statements({
      {"select 1", "SELECT 1"},
      {"SELECT 1;", "SELECT 1"},
      {"SELECT ALL a FROM t", "SELECT a FROM t"},
      {"select Id, name as N, t.*, * from Orders t", "SELECT id, name AS n, t.*, * FROM orders AS t"},
      {"SELECT \"Id\", \"a b\", \"select\", \"q\"\"q\" FROM \"T\"", nullptr},
      {"SELECT FROM t", nullptr},
      {"SELECT DISTINCT a FROM t", nullptr},
      {"SELECT DISTINCT ON (a, b) a FROM t ORDER BY a, b, c", nullptr},
      {"SELECT 1 FROM a RIGHT JOIN b ON a.x = b.x", "SELECT 1 FROM b LEFT JOIN a ON a.x = b.x"},
      {"SELECT count(*) FILTER (WHERE b), sum(a) FILTER (WHERE b) FROM t",
       "SELECT count(CASE WHEN b THEN 1 END), sum(CASE WHEN b THEN a END) FROM t"},
      {"SELECT a FROM db.t, u AS x WHERE t.a = x.a", nullptr},
      {"SELECT db.t.a FROM db.t", nullptr},
      {"TABLE t", "SELECT * FROM t"},
      {"SELECT count(*), count(DISTINCT a), sum(b) FROM t GROUP BY c, d HAVING count(*) > 1", nullptr},
      {"SELECT a FROM t ORDER BY a DESC NULLS LAST, b ASC NULLS FIRST, 1",
       "SELECT a FROM t ORDER BY a DESC NULLS LAST, b NULLS FIRST, 1"},
      {"SELECT a FROM t LIMIT :n OFFSET 2", nullptr},
      {"SELECT a FROM t OFFSET 2 ROWS FETCH FIRST 3 ROWS ONLY", "SELECT a FROM t LIMIT 3 OFFSET 2"},
      {"SELECT a FROM t LIMIT ALL", "SELECT a FROM t"},
      {"select a from t join u on t.a = u.a left outer join v using (a, b) cross join w",
       "SELECT a FROM t JOIN u ON t.a = u.a LEFT JOIN v USING (a, b) CROSS JOIN w"},
      {"SELECT a FROM t JOIN (u CROSS JOIN v) ON TRUE", nullptr},
      {"SELECT x.a FROM (SELECT a FROM t) AS x", nullptr},
      {"values (1, 'a'), (2, 'b') order by 1 limit 1", "VALUES (1, 'a'), (2, 'b') ORDER BY 1 LIMIT 1"},
      {"select 1 union all select 2 except select 3", "((SELECT 1) UNION ALL (SELECT 2)) EXCEPT (SELECT 3)"},
      {"select 1 union select 2 intersect select 3 order by 1 limit 2",
       "(SELECT 1) UNION ((SELECT 2) INTERSECT (SELECT 3)) ORDER BY 1 LIMIT 2"},
      {"(select a from t limit 1) union (values (1))", "(SELECT a FROM t LIMIT 1) UNION (VALUES (1))"},
      {"WITH x AS (SELECT 1), y (a, b) AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x, y", nullptr},
      {"WITH u AS (UPDATE t SET a = 1 RETURNING a), d AS (DELETE FROM t RETURNING a) SELECT 1", nullptr},
  });
}

TEST_CASE("FOR UPDATE and its kin") {
  check_statements({
      {"SELECT a FROM t FOR UPDATE", nullptr},
      {"SELECT a FROM t FOR NO KEY UPDATE NOWAIT", nullptr},
      {"SELECT a FROM t FOR SHARE SKIP LOCKED", nullptr},
      {"SELECT a FROM t CROSS JOIN u FOR KEY SHARE OF t, u", nullptr},
      {"select a from t for update skip locked limit 1", "SELECT a FROM t LIMIT 1 FOR UPDATE SKIP LOCKED"},
  });
  const Statement s = parse_statement("SELECT a FROM t WHERE b = 1 FOR NO KEY UPDATE OF t SKIP LOCKED");
  REQUIRE(s.select->locking);
  CHECK(s.select->locking->strength == LockStrength::NoKeyUpdate);
  CHECK(s.select->locking->wait == LockWait::SkipLocked);
  CHECK(s.select->locking->of == std::vector<std::string>{"t"});
}

TEST_CASE("INSERT") {
  check_statements({
      {"INSERT INTO t VALUES (1, DEFAULT, :x), (2, NULL, 'a')", nullptr},
      {"INSERT INTO db.t AS x (a, b) VALUES (1, 2) RETURNING *, x.a AS y", nullptr},
      {"INSERT INTO t DEFAULT VALUES", nullptr},
      {"INSERT INTO t (a) SELECT b FROM u WHERE c", nullptr},
      {"insert into t (select 1)", "INSERT INTO t SELECT 1"},
      {"INSERT INTO t VALUES (1) LIMIT 1", nullptr},
      {"INSERT INTO t (SELECT 1) UNION (SELECT 2)", nullptr},
      {"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", nullptr},
      {"INSERT INTO t VALUES (1) ON CONFLICT (a, b) WHERE c > 0 DO NOTHING RETURNING a", nullptr},
      {"INSERT INTO t VALUES (1) ON CONFLICT ON CONSTRAINT t_pkey DO NOTHING", nullptr},
      {"insert into t values (1) on conflict (a) do update set b = excluded.b, (c, d) = (1, default) where t.b <> 2",
       "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = 1, d = DEFAULT WHERE t.b <> 2"},
      {"WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x", nullptr},
  });
  const Statement s = parse_statement("INSERT INTO t DEFAULT VALUES");
  CHECK(s.insert->default_values);
  CHECK(s.insert->rows.size() == 1);
  const Statement limited = parse_statement("INSERT INTO t VALUES (1) LIMIT 1");
  CHECK(limited.insert->rows.empty());
  REQUIRE(limited.insert->select);
  CHECK(limited.insert->select->values.size() == 1);
}

TEST_CASE("UPDATE and DELETE") {
  check_statements({
      {"UPDATE t SET a = a + 1, b = DEFAULT WHERE id = :id AND b IS NULL RETURNING a", nullptr},
      {"UPDATE db.t AS x SET a = u.a FROM u JOIN v ON TRUE WHERE x.id = u.id", nullptr},
      {"update t set (a, b) = (1, :p), (c) = row(3)", "UPDATE t SET a = 1, b = :p, c = 3"},
      {"WITH x AS (SELECT 1) UPDATE t SET a = 1", nullptr},
      {"DELETE FROM t", nullptr},
      {"DELETE FROM db.t AS x USING u, v WHERE x.id = u.id RETURNING *", nullptr},
      {"WITH x AS (SELECT 1) DELETE FROM t WHERE a IN (SELECT * FROM x)", nullptr},
  });
}

TEST_CASE("transactions and SET") {
  check_statements({
      {"BEGIN", nullptr},
      {"start transaction", "BEGIN"},
      {"begin isolation level repeatable read, read only, deferrable",
       "BEGIN ISOLATION LEVEL repeatable read, READ ONLY, DEFERRABLE"},
      {"BEGIN TRANSACTION READ WRITE NOT DEFERRABLE", "BEGIN"},
      {"end", "COMMIT"},
      {"COMMIT WORK", "COMMIT"},
      {"abort", "ROLLBACK"},
      {"SAVEPOINT sp", nullptr},
      {"rollback to savepoint sp", "ROLLBACK TO sp"},
      {"RELEASE SAVEPOINT sp", "RELEASE sp"},
      {"set lock_timeout to 500", "SET lock_timeout = '500'"},
      {"SET SESSION x.y = on", "SET x.y = 'on'"},
      {"SET LOCAL lock_timeout = '2s'", nullptr},
      {"SET statement_timeout = -1", "SET statement_timeout = '-1'"},
      {"SET x = 1.5", "SET x = '1.5'"},
      {"set transaction isolation level read uncommitted", "SET transaction_isolation = 'read uncommitted'"},
  });
  const Statement begin = parse_statement("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
  CHECK(begin.kind == StatementKind::Begin);
  CHECK(begin.isolation == "serializable");
  CHECK(begin.read_only);
  CHECK(begin.deferrable);
  const Statement set = parse_statement("SET LOCAL lock_timeout = '2s'");
  CHECK(set.kind == StatementKind::Set);
  CHECK(set.name == "lock_timeout");
  CHECK(set.value == "2s");
  CHECK(set.local);
}

TEST_CASE("CREATE") {
  check_statements({
      {"create table t (a int, b int8 not null, c varchar(20) default 'x', d bool primary key, e uuid unique)",
       "CREATE TABLE t (a integer, b bigint NOT NULL, c text DEFAULT ('x'), d boolean PRIMARY KEY, e uuid UNIQUE)"},
      {"create table t (a smallint null, b char(3), c character varying, d timestamp, e timestamp(3) with time zone)",
       "CREATE TABLE t (a smallint, b text, c text, d timestamptz, e timestamptz)"},
      {"create table t (a numeric(10, 2), b json, c jsonb, d interval, e text, f decimal)",
       "CREATE TABLE t (a numeric, b jsonb, c jsonb, d interval, e text, f numeric)"},
      {"create table t (a serial, b bigserial primary key, c int generated always as identity)",
       "CREATE TABLE t (a serial NOT NULL, b bigserial NOT NULL PRIMARY KEY, "
       "c integer GENERATED BY DEFAULT AS IDENTITY NOT NULL)"},
      {"CREATE TABLE IF NOT EXISTS db.t (a integer, PRIMARY KEY (a), CONSTRAINT k UNIQUE (a, b), CHECK (a > 0))",
       nullptr},
      {"CREATE TABLE t (a integer REFERENCES u, b integer REFERENCES u (id), FOREIGN KEY (a, b) REFERENCES v (x, y))",
       nullptr},
      {"CREATE TABLE t (a int REFERENCES u ON DELETE RESTRICT ON UPDATE NO ACTION NOT DEFERRABLE)",
       "CREATE TABLE t (a integer REFERENCES u ON DELETE RESTRICT)"},
      // The name of a column's constraint is not lost.
      {"create table t (a int constraint k unique, b int constraint p check (b > 0), c int constraint f references u "
       "(id))",
       "CREATE TABLE t (a integer, b integer, c integer, CONSTRAINT k UNIQUE (a), CONSTRAINT p CHECK (b > 0), "
       "CONSTRAINT f FOREIGN KEY (c) REFERENCES u (id))"},
      {"CREATE TABLE t (a int CHECK (a > 0) CHECK (a < 9))", "CREATE TABLE t (a integer CHECK (a > 0), CHECK (a < 9))"},
      {"CREATE TABLE t (a timestamptz DEFAULT now() + interval '1 day')",
       "CREATE TABLE t (a timestamptz DEFAULT (now() + INTERVAL '1 day'))"},
      {"create unique index i on db.t using btree (a asc, b) where c is null",
       "CREATE UNIQUE INDEX i ON db.t (a, b) WHERE c IS NULL"},
      {"CREATE INDEX ON t (a)", nullptr},
      {"CREATE SEQUENCE s", nullptr},
  });
}

TEST_CASE("operators bind as in PostgreSQL") {
  check_expressions({
      {"a = 1 and b = 2 or not c", "a = 1 AND b = 2 OR NOT c"},
      {"a = 1 AND (b = 2 OR c)", nullptr},
      {"not (a and b)", "NOT (a AND b)"},
      {"(a and b) and c", "a AND b AND c"},
      {"a AND (b AND c)", nullptr},
      {"1 + 2 * 3 - 4 / 2 % 5", "1 + 2 * 3 - 4 / 2 % 5"},
      {"(1 + 2) * 3", nullptr},
      {"1 - (2 - 3)", nullptr},
      {"-a * -(b + 1)", "-a * -(b + 1)"},
      {"a - -5", nullptr},
      {"+a", "a"},
      {"a || 'x' || :b", "a || 'x' || :b"},
      {"a != 1", "a <> 1"},
      {"(a < b) = (c >= d)", nullptr},
      {"(a IS NULL) = b", nullptr},
      {"a = b IS NOT TRUE", "a = b IS NOT TRUE"},
      {"a isnull", "a IS NULL"},
      {"a is not unknown", "a IS NOT NULL"},
      {"a IS DISTINCT FROM b", nullptr},
      {"a is not distinct from b + 1", "a IS NOT DISTINCT FROM b + 1"},
      {"a between 1 and :n", "a >= 1 AND a <= :n"},
      {"a NOT BETWEEN 1 AND 2", "a < 1 OR a > 2"},
      {"a in (1, :x, 'y')", "a IN (1, :x, 'y')"},
      {"a NOT IN (1)", "NOT a IN (1)"},
      {"a = ANY (ARRAY[1, :x])", "a IN (1, :x)"},
      {"a <> all (array['x', 'y']::text[])", "NOT a IN (CAST('x' AS text), CAST('y' AS text))"},
      {"a LIKE 'x%'", nullptr},
      {"a not like b || '%'", "NOT a LIKE b || '%'"},
      {"(a, b) = row(1, 2)", "ROW(a, b) = ROW(1, 2)"},
  });
}

TEST_CASE("values, functions, CASE, casts and subselects") {
  check_expressions({
      {"'it''s'", nullptr},
      {"E'a\\'b\\n'", "'a''b\n'"},
      {"$$it's$$", "'it''s'"},
      {"''", nullptr},
      {"null", "NULL"},
      {"True = FALSE", "TRUE = FALSE"},
      {"NOW()", "now()"},
      {"current_timestamp", "now()"},
      {"transaction_timestamp()", nullptr},
      {"clock_timestamp()", nullptr},
      {"pg_catalog.now()", "now()"},
      {"Coalesce(a, b, 1)", "coalesce(a, b, 1)"},
      {"nullif(a, 0)", nullptr},
      {"greatest(a, least(b, 1))", nullptr},
      {"bool_and(a) AND bool_or(b) AND min(c) > max(d)", nullptr},
      {"gen_random_uuid()", nullptr},
      {"nextval('s')", nullptr},
      {"CASE WHEN a THEN 1 WHEN b THEN 2 END", nullptr},
      {"case a + 1 when 1 then 'x' when :p then 'y' else 'z' end",
       "CASE WHEN a + 1 = 1 THEN 'x' WHEN a + 1 = :p THEN 'y' ELSE 'z' END"},
      {"a::int + cast(b as varchar)", "CAST(a AS integer) + CAST(b AS text)"},
      {"'5'::bigint", "CAST('5' AS bigint)"},
      {":ttl::interval", "CAST(:ttl AS interval)"},
      {"'1 min'::interval", "INTERVAL '1 min'"},
      {"INTERVAL '90' SECOND", "INTERVAL '90 second'"},
      {"3 * interval '1 day'", "3 * INTERVAL '1 day'"},
      {"exists (select 1 from t where t.a = x.a)", "EXISTS (SELECT 1 FROM t WHERE t.a = x.a)"},
      {"a in (select b from t)", "a IN (SELECT b FROM t)"},
      {"a = ANY (SELECT b FROM t)", "a IN (SELECT b FROM t)"},
      {"a <> ALL (SELECT b FROM t)", "NOT a IN (SELECT b FROM t)"},
      {"(select count(*) from t) = 0", "(SELECT count(*) FROM t) = 0"},
      {"((select 1))", "(SELECT 1)"},
      {"a -- the end", "a"},
      {"(a, b)", "ROW(a, b)"},
  });
}

TEST_CASE("numbers") {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"0", 0},
      {"7", 7},
      {"-5", -5},
      {"-0", 0},
      {"- /* 3 */ (5)", -5},
      {"- - 5", 5},
      {"-(-(-42))", -42},
      {"2147483647", 2147483647},
      {"-2147483648", -2147483648LL},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
  };
  for (const auto& [text, number] : cases) {
    CAPTURE(text);
    const Expr e = parse_expression(text);
    CHECK(e.kind == ExprKind::Int);
    CHECK(e.number == number);
  }
  CHECK(to_string(parse_expression("a - 5")) == "a - 5");
}

TEST_CASE("AND and OR are left-deep, up to 200 terms") {
  const Expr e = parse_expression("a AND b AND c");
  CHECK(e.name == "and");
  CHECK(e.args[0].name == "and");
  CHECK(e.args[0].args[0].name == "a");
  CHECK(e.args[1].name == "c");
  std::string longest = "a";
  for (int i = 1; i < 200; ++i) longest += " OR a";
  CHECK(printed_expression(longest) == longest);
}

TEST_CASE("places are byte offsets into the text as written") {
  const std::string text = "/* é */ SELECT :claim.id, 'é', x FROM t WHERE :a = y AND z IN (SELECT :b FROM u)";
  const Statement s = parse_statement(text);
  const auto at = [&](const char* what) { return static_cast<int>(text.find(what)); };
  CHECK(s.location == at("SELECT"));
  const Select& select = *s.select;
  CHECK(select.location == s.location);
  CHECK(select.targets[0].expr.name == "claim.id");
  CHECK(select.targets[0].expr.location == at(":claim"));
  CHECK(select.targets[1].expr.location == at("'é'"));
  CHECK(select.targets[2].expr.location == at("x FROM"));
  CHECK(select.from[0].location == at("t WHERE"));
  CHECK(select.where->location == at("AND"));
  CHECK(select.where->args[0].location == at("= y"));
  CHECK(select.where->args[0].args[0].location == at(":a"));
  CHECK(select.where->args[1].location == at("IN ("));
  CHECK(select.where->args[1].select->targets[0].expr.location == at(":b"));

  const std::string update = "UPDATE t SET a = 1, b = :x WHERE c";
  const Statement u = parse_statement(update);
  CHECK(u.location == 0);
  CHECK(u.update->location == 7);
  CHECK(u.update->set[1].location == static_cast<int>(update.find("b =")));

  const std::string expression = "  :claim.count = 0";
  const Expr e = parse_expression(expression);
  CHECK(e.location == static_cast<int>(expression.find('=')));
  CHECK(e.args[0].location == 2);
  CHECK(e.args[1].location == static_cast<int>(expression.find('0')));

  const std::string table = "CREATE TABLE t (a int, PRIMARY KEY (a))";
  const Statement c = parse_statement(table);
  CHECK(c.create_table->location == 13);
  CHECK(c.create_table->columns[0].location == 16);
  CHECK(c.create_table->constraints[0].location == static_cast<int>(table.find("PRIMARY")));
}

TEST_CASE("names are quoted when they need it") {
  CHECK(name_text("order_id") == "order_id");
  CHECK(name_text("Order") == "\"Order\"");
  CHECK(name_text("order") == "\"order\"");
  CHECK(name_text("1a") == "\"1a\"");
  CHECK(name_text("a\"b") == "\"a\"\"b\"");
  CHECK(name_text("") == "\"\"");
  CHECK(literal_text("it's") == "'it''s'");
}

// Values and errors of single statements, each with what PostgreSQL 15 and MariaDB 10.11 gave when they ran it.
#include <doctest/doctest.h>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

void check(const std::string& engine, const std::string& script) {
  CHECK_MESSAGE(played(engine, "READ COMMITTED", script) == "agree", script << played(engine, "READ COMMITTED", script));
}

}  // namespace

TEST_CASE("void lock functions of PostgreSQL give the empty text") {
  check("postgres", R"(A SELECT pg_advisory_lock(1) -> [[""]]
    A SELECT x.l IS NULL, l FROM (SELECT pg_advisory_lock(1) AS l) x -> [[false, ""]]
    A SELECT pg_advisory_unlock(1) -> [[true]]
    A SELECT pg_advisory_unlock_all() -> [[""]]
    A BEGIN
    A SELECT pg_advisory_xact_lock(2) -> [[""]]
    A COMMIT)");
  check("mariadb", R"(A SELECT GET_LOCK('x', 1) -> [[1]]
    A DO GET_LOCK('y', 1)
    B SELECT GET_LOCK('y', 0) -> [[0]]
    A DO RELEASE_LOCK('y')
    B SELECT GET_LOCK('y', 0) -> [[1]])");
}

TEST_CASE("a number times an interval, either way round") {
  check("postgres", R"(A SELECT now() + 30 * interval '1 second' > now() -> [[true]]
    A SELECT 3 * interval '10 s' = interval '30 s', interval '10 s' * 3 = interval '30 s', interval '1 m' / 2 = interval '30 s' -> [[true, true, true]])");
}

TEST_CASE("GREATEST and LEAST with NULL") {
  check("postgres", R"(A SELECT greatest(1, NULL, 3), least(NULL, 2) -> [[3, 2]])");
  check("mariadb", R"(A SELECT GREATEST(1, NULL, 3), LEAST(NULL, 2), GREATEST(1, 3) -> [[null, null, 3]])");
}

TEST_CASE("division") {
  check("postgres", R"(A SELECT 7 / 2, -7 / 2, -7 % 3, mod(-7, 3) -> [[3, -3, -1, -1]])");
  check("mariadb", R"(S CREATE TABLE p (id int PRIMARY KEY, amt int)
    S INSERT INTO p VALUES (1, 10), (2, 9)
    A SELECT amt / 3, amt DIV 3, amt % 3, MOD(amt, 4), amt MOD 4 FROM p ORDER BY id -> [["3.3333", 3, 1, 2, 2], [3, 3, 0, 1, 1]]
    A SELECT id FROM p WHERE amt / 3 = 3 -> [[2]]
    A SELECT id FROM p WHERE amt / 3 > 3 -> [[1]]
    A SELECT 5 DIV 2 * 3, 7 DIV 2 % 2, -7 DIV 2, 2 * 7 DIV 4, 1 / 3 = 2 / 6, IF(1 / 2, 'y', 'n') -> [[6, 1, -3, 3, 1, "y"]]
    A UPDATE p SET amt = 7 / 2 WHERE id = 1 -> 1
    A UPDATE p SET amt = -5 / 2 WHERE id = 2 -> 1
    A SELECT CAST(5 / 2 AS SIGNED), CAST('6' AS SIGNED) -> [[3, 6]]
    F {"p": [[1, 4], [2, -3]]})");
}

TEST_CASE("division by zero") {
  check("postgres", R"(S CREATE TABLE p (id int PRIMARY KEY, amt int)
    S INSERT INTO p VALUES (1, 0)
    A SELECT 1 / 0 -> !22012
    A SELECT id FROM p WHERE 5 / amt = 1 -> !22012
    A SELECT CASE WHEN true THEN 1 ELSE 1 / 0 END -> [[1]]
    A BEGIN
    A INSERT INTO p VALUES (2, 2) -> 1
    A UPDATE p SET amt = 4 / amt -> !22012
    A SELECT 1 -> !25P02
    A COMMIT -> "ROLLBACK"
    F {"p": [[1, 0]]})");
  check("mariadb", R"(S CREATE TABLE p (id int PRIMARY KEY, amt int)
    S INSERT INTO p VALUES (1, 2), (2, 0)
    A SELECT 1 / 0, 1 % 0, 5 DIV 0 -> [[null, null, null]]
    A BEGIN
    A UPDATE p SET amt = 4 / amt -> !1365
    A INSERT INTO p VALUES (3, 3) -> 1
    A INSERT INTO p VALUES (4, 1 / 0) -> !1365
    A DELETE FROM p WHERE amt / 0 = 1 -> 0
    A COMMIT
    F {"p": [[1, 2], [2, 0], [3, 3]]})");
}

TEST_CASE("a subquery with two rows is an error of the statement") {
  check("postgres", R"(S CREATE TABLE p (id int PRIMARY KEY)
    S INSERT INTO p VALUES (1), (2)
    A SELECT (SELECT id FROM p) -> !21000
    A UPDATE p SET id = (SELECT id FROM p) WHERE id = 1 -> !21000
    A SELECT (SELECT id FROM p WHERE id = 1) -> [[1]]
    F {"p": [[1], [2]]})");
  check("mariadb", R"(S CREATE TABLE p (id int PRIMARY KEY)
    S INSERT INTO p VALUES (1), (2)
    A SELECT (SELECT id FROM p) -> !1242)");
}

TEST_CASE("numbers out of range") {
  check("postgres", R"(S CREATE TABLE p (id int PRIMARY KEY, a int, t smallint, b bigint)
    S INSERT INTO p VALUES (1, 1, 1, 1)
    A UPDATE p SET t = 32768 -> !22003
    A UPDATE p SET a = 3000000000 -> !22003
    A UPDATE p SET a = a + 2147483647 -> !22003
    A UPDATE p SET b = 2147483647 + 1 -> !22003
    A UPDATE p SET b = 9223372036854775807 + 1 -> !22003
    A SELECT -2147483648 - 1 -> !22003
    A SELECT (-2147483648)::int / -1 -> !22003
    A UPDATE p SET b = 2147483648 + 1 -> 1
    F {"p": [[1, 1, 1, 2147483649]]})");
  check("mariadb", R"(S CREATE TABLE p (id int PRIMARY KEY, t tinyint, u int unsigned)
    S INSERT INTO p VALUES (1, 1, 1)
    A UPDATE p SET t = 128 -> !1264
    A UPDATE p SET u = -1 -> !1264
    A UPDATE p SET u = u - 2 -> !1690
    A SELECT u - 2 FROM p -> !1690
    A SELECT 2147483647 + 1 -> [[2147483648]]
    A SELECT 9223372036854775807 + 1 -> !1690
    F {"p": [[1, 1, 1]]})");
}

TEST_CASE("texts that are too long") {
  check("postgres", R"(S CREATE TABLE p (id int PRIMARY KEY, s varchar(5))
    A INSERT INTO p VALUES (1, 'abcdef') -> !22001
    A INSERT INTO p VALUES (2, 'abc     ') -> 1
    A UPDATE p SET s = 'abcdef' -> !22001
    F {"p": [[2, "abc  "]]})");
  check("mariadb", R"(S CREATE TABLE p (id int PRIMARY KEY, s varchar(5))
    A INSERT INTO p VALUES (1, 'abcdef') -> !1406
    A INSERT INTO p VALUES (2, 'ééééé') -> 1
    F {"p": [[2, "ééééé"]]})");
}

TEST_CASE("INSERT IGNORE makes values fit") {
  check("mariadb", R"(S CREATE TABLE d (id int PRIMARY KEY, a int NOT NULL, s varchar(5) NOT NULL, t tinyint)
    A INSERT IGNORE INTO d VALUES (1, NULL, 'toolongtext', 300) -> 1
    A INSERT IGNORE INTO d (id) VALUES (2) -> 1
    A INSERT INTO d (id, s) VALUES (3, NULL) -> !1364
    F {"d": [[1, 0, "toolo", 127], [2, 0, "", null]]})");
}

TEST_CASE("columns and values of an INSERT") {
  check("postgres", R"(S CREATE TABLE a (id int, v int)
    A INSERT INTO a VALUES (1) -> 1
    A INSERT INTO a VALUES (1, 2, 3) -> !42601
    A INSERT INTO a (id, v) VALUES (1) -> !42601
    A INSERT INTO a (id, id) VALUES (5, 6) -> !42701
    A INSERT INTO a SELECT 1, 2, 3 -> !42601
    A BEGIN
    A UPDATE a SET v = 1, v = 2 -> !42601
    A COMMIT -> "ROLLBACK"
    F {"a": [[1, null]]})");
  check("mariadb", R"(S CREATE TABLE a (id int, v int)
    A INSERT INTO a VALUES (1) -> !1136
    A INSERT INTO a (id) VALUES (1, 2) -> !1136
    A INSERT INTO a (id, id) VALUES (5, 6) -> !1110
    A INSERT INTO a SET id = 2, v = GREATEST(1, 4) -> 1
    A UPDATE a SET v = 1, v = 2 -> 1
    F {"a": [[2, 2]]})");
}

TEST_CASE("GENERATED ALWAYS AS IDENTITY") {
  check("postgres", R"(S CREATE TABLE g (id int GENERATED ALWAYS AS IDENTITY, v int)
    A INSERT INTO g VALUES (1, 2) -> !428C9
    A INSERT INTO g (id, v) VALUES (NULL, 2) -> !428C9
    A INSERT INTO g SELECT 5, 6 -> !428C9
    A UPDATE g SET id = 9 -> !428C9
    A INSERT INTO g VALUES (DEFAULT, 2) -> 1
    A INSERT INTO g (v) VALUES (3) -> 1
    F {"g": [[1, 2], [2, 3]]})");
}

TEST_CASE("a negative LIMIT") {
  check("postgres", R"(S CREATE TABLE a (id int PRIMARY KEY)
    A SELECT id FROM a LIMIT -1 -> !2201W
    A SELECT id FROM a LIMIT 1 OFFSET -1 -> !2201X
    A SELECT id FROM a FOR UPDATE LIMIT -1 -> !2201W)");
}

TEST_CASE("rows are compared from the left") {
  check("postgres", R"(S CREATE TABLE k (a int, b int)
    S INSERT INTO k VALUES (1, 2), (3, 3)
    A SELECT (1, NULL) = (2, 1), (1, 2) < (1, 3), (1, 2) <= (1, 2), (2, 1) > (1, 9), (1, 2) <> (1, 2) -> [[false, true, true, true, false]]
    A SELECT a FROM k WHERE (a, b) = (1, 2) -> [[1]]
    A SELECT a FROM k WHERE (a, b) IN ((1, 2), (3, 4)) -> [[1]]
    A SELECT a FROM k WHERE (a, b) NOT IN ((1, 2), (3, 4)) -> [[3]]
    A SELECT a FROM k WHERE (a, b) > (1, 2) -> [[3]])");
  check("mariadb", R"(A SELECT (1, NULL) = (2, 1), (1, NULL) = (1, 1), (1, NULL) <> (2, 1), (1, NULL) IN ((1, 2)) -> [[0, null, 1, null]])");
}

TEST_CASE("FOR UPDATE with OFFSET locks the rows that it passes over") {
  check("postgres", R"(S CREATE TABLE q (id int PRIMARY KEY)
    S INSERT INTO q VALUES (1), (2), (3)
    A BEGIN
    A SELECT id FROM q ORDER BY id LIMIT 1 OFFSET 1 FOR UPDATE -> [[2]]
    B SELECT id FROM q ORDER BY id FOR UPDATE SKIP LOCKED -> [[3]]
    B SELECT id FROM q ORDER BY id OFFSET 5 FOR UPDATE SKIP LOCKED -> []
    A COMMIT)");
  check("mariadb", R"(S CREATE TABLE q (id int PRIMARY KEY)
    S INSERT INTO q VALUES (1), (2), (3)
    A BEGIN
    A SELECT id FROM q ORDER BY id LIMIT 1 OFFSET 1 FOR UPDATE -> [[2]]
    B SELECT id FROM q ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED -> [[3]]
    A COMMIT)");
}

TEST_CASE("autocommit and the level of a session") {
  check("mariadb", R"(S CREATE TABLE t (id int PRIMARY KEY, v int)
    S INSERT INTO t VALUES (1, 1)
    A SET autocommit = 0
    A UPDATE t SET v = 2 -> 1
    B SELECT v FROM t -> [[1]]
    A ROLLBACK
    A UPDATE t SET v = 3 -> 1
    A COMMIT
    A UPDATE t SET v = 4 -> 1
    A SET autocommit = 1
    B SELECT v FROM t -> [[4]]
    B SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ
    B BEGIN
    B SELECT v FROM t -> [[4]]
    A UPDATE t SET v = 5 -> 1
    B SELECT v FROM t -> [[4]]
    B COMMIT
    B SELECT v FROM t -> [[5]]
    F {"t": [[1, 5]]})");
  check("postgres", R"(S CREATE TABLE t (id int PRIMARY KEY, v int)
    S INSERT INTO t VALUES (1, 1)
    B SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ
    B BEGIN
    B SELECT v FROM t -> [[1]]
    A UPDATE t SET v = 5 -> 1
    B SELECT v FROM t -> [[1]]
    B UPDATE t SET v = 6 -> !40001
    B ROLLBACK
    B BEGIN ISOLATION LEVEL READ COMMITTED
    B SELECT v FROM t -> [[5]]
    A UPDATE t SET v = 7 -> 1
    B SELECT v FROM t -> [[7]]
    B COMMIT
    A SET lock_timeout = '10ms'
    A RESET lock_timeout
    F {"t": [[1, 7]]})");
}

TEST_CASE("more of SELECT") {
  check("postgres", R"(S CREATE TABLE p (id int PRIMARY KEY, acct text, amt int)
    S INSERT INTO p VALUES (1, 'a', 5), (2, 'a', 7), (3, 'b', 1)
    S CREATE TABLE q (parent int)
    S INSERT INTO q VALUES (1), (9)
    A SELECT count(*) FILTER (WHERE amt > 2), sum(amt) FILTER (WHERE acct = 'a') FROM p -> [[2, 12]]
    A SELECT DISTINCT ON (acct) acct, id FROM p ORDER BY acct, amt DESC -> [["a", 2], ["b", 3]]
    A SELECT DISTINCT ON (2) id, acct FROM p WHERE id <> 1 -> [[2, "a"], [3, "b"]]
    A SELECT p.id, q.parent FROM p RIGHT JOIN q ON q.parent = p.id ORDER BY q.parent -> [[1, 1], [null, 9]]
    A SELECT 1::text || 'x', true::text -> [["1x", "true"]]
    A DELETE FROM p USING q WHERE q.parent = p.id RETURNING p.id, q.parent -> [[1, 1]]
    F {"p": [[2, "a", 7], [3, "b", 1]], "q": [[1], [9]]})");
}

TEST_CASE("xmax tells whether ON CONFLICT inserted or updated") {
  check("postgres", R"(S CREATE TABLE k (id text PRIMARY KEY, n int)
    A INSERT INTO k VALUES ('a', 1) ON CONFLICT (id) DO UPDATE SET n = k.n + 1 RETURNING n, (xmax = 0) AS inserted -> [[1, true]]
    A INSERT INTO k VALUES ('a', 1) ON CONFLICT (id) DO UPDATE SET n = k.n + 1 RETURNING n, (xmax = 0) AS inserted -> [[2, false]]
    A INSERT INTO k VALUES ('b', 1) RETURNING xmax <> 0 -> [[false]]
    B BEGIN
    B INSERT INTO k VALUES ('c', 1) ON CONFLICT (id) DO UPDATE SET n = k.n + 1 RETURNING n, (xmax = 0) AS inserted -> [[1, true]]
    A INSERT INTO k VALUES ('c', 1) ON CONFLICT (id) DO UPDATE SET n = k.n + 1 RETURNING n, (xmax = 0) AS inserted -> [[2, false]] @6
    B COMMIT
    F {"k": [["a", 2], ["b", 1], ["c", 2]]})");
}

TEST_CASE("FOR UPDATE OF one table of a join") {
  check("postgres", R"(S CREATE TABLE acct (id int PRIMARY KEY, state text)
    S CREATE TABLE pay (id int PRIMARY KEY, acct int, amt int)
    S INSERT INTO acct VALUES (1, 'open'), (2, 'shut')
    S INSERT INTO pay VALUES (10, 1, 5), (11, 2, 6), (12, 1, 7)
    A BEGIN
    A SELECT p.id, a.state, p.amt + 1 AS more FROM pay p JOIN acct a ON a.id = p.acct WHERE a.state = 'open' ORDER BY p.amt DESC LIMIT 1 FOR UPDATE OF p -> [[12, "open", 8]]
    B SELECT p.id FROM pay p, acct a WHERE a.id = p.acct ORDER BY p.id FOR UPDATE OF p SKIP LOCKED -> [[10], [11]]
    B UPDATE acct SET state = 'shut' WHERE id = 1 -> 1
    B SELECT p.id FROM pay p JOIN acct a ON a.id = p.acct WHERE p.amt = 7 FOR NO KEY UPDATE OF p -> [[12]] @5
    A COMMIT)");
}

// InnoDB's record, gap and next-key locks, insert intention, and what a duplicate key leaves behind.
#include <doctest/doctest.h>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

const char* const kRC = "READ COMMITTED";
const char* const kRR = "REPEATABLE READ";
const char* const kSer = "SERIALIZABLE";

const std::string kRows = R"(
  S CREATE TABLE k (id int PRIMARY KEY, v int)
  S INSERT INTO k VALUES (1, 0), (5, 0), (9, 0)
)";
const std::string kUnique = R"(
  S CREATE TABLE r (id int PRIMARY KEY, req int NOT NULL UNIQUE, v int)
  S INSERT INTO r VALUES (1, 1, 0), (10, 10, 0)
)";

}  // namespace

TEST_CASE("the shared lock of a 1062 stays: two who then UPDATE deadlock") {
  const std::string script = kRows + R"(
    A BEGIN
    B BEGIN
    A INSERT INTO k VALUES (1, 1) -> !1062
    B INSERT INTO k VALUES (1, 2) -> !1062
    A UPDATE k SET v = 1 WHERE id = 1 -> 1 @5
    B UPDATE k SET v = 2 WHERE id = 1 -> !1213
    A COMMIT
    B COMMIT
    F {"k": [[1, 1], [5, 0], [9, 0]]})";
  for (const char* engine : {"mariadb", "mysql"}) {
    CHECK(played(engine, kRC, script) == "agree");
    CHECK(played(engine, kRR, script) == "agree");
  }
}

TEST_CASE("X past a waiting X: MySQL lets the holder of S pass, MariaDB has a deadlock") {
  CHECK(played("mysql", kRR, kRows + R"(
    A BEGIN
    A SELECT v FROM k WHERE id = 1 LOCK IN SHARE MODE -> [[0]]
    B UPDATE k SET v = v + 1 WHERE id = 1 -> 1 @4
    A UPDATE k SET v = 7 WHERE id = 1 -> 1
    A COMMIT
    F {"k": [[1, 8], [5, 0], [9, 0]]})") == "agree");
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A SELECT v FROM k WHERE id = 1 LOCK IN SHARE MODE -> [[0]]
    B UPDATE k SET v = v + 1 WHERE id = 1 -> !1213 @3
    A UPDATE k SET v = 7 WHERE id = 1 -> 1
    A COMMIT
    F {"k": [[1, 7], [5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("a shared request queues behind an exclusive one that waits") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A SELECT v FROM k WHERE id = 1 LOCK IN SHARE MODE -> [[0]]
    B UPDATE k SET v = v + 1 WHERE id = 1 -> 1 @4
    C SELECT v FROM k WHERE id = 1 LOCK IN SHARE MODE -> [[1]] @4
    A COMMIT
    F {"k": [[1, 1], [5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("gap locks do not keep each other out, but they keep out inserts; at READ COMMITTED there are none") {
  const std::string rr = kRows + R"(
    A BEGIN
    B BEGIN
    A SELECT v FROM k WHERE id = 2 FOR UPDATE -> []
    B SELECT v FROM k WHERE id = 3 FOR UPDATE -> []
    C INSERT INTO k VALUES (6, 6) -> 1
    A INSERT INTO k VALUES (2, 2) -> 1 @6
    B INSERT INTO k VALUES (3, 3) -> !1213
    A COMMIT
    B COMMIT
    F {"k": [[1, 0], [2, 2], [5, 0], [6, 6], [9, 0]]})";
  CHECK(played("mariadb", kRR, rr) == "agree");
  CHECK(played("mysql", kSer, rr) == "agree");
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    B BEGIN
    A SELECT v FROM k WHERE id = 2 FOR UPDATE -> []
    B SELECT v FROM k WHERE id = 3 FOR UPDATE -> []
    A INSERT INTO k VALUES (2, 2) -> 1
    B INSERT INTO k VALUES (3, 3) -> 1
    A COMMIT
    B COMMIT
    F {"k": [[1, 0], [2, 2], [3, 3], [5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("MariaDB locks the record behind a range, MySQL only the gap before it") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 9 -> 1
    B UPDATE k SET v = 2 WHERE id < 6 -> 2 @3
    A COMMIT
    F {"k": [[1, 2], [5, 2], [9, 1]]})") == "agree");
  CHECK(played("mysql", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 9 -> 1
    B UPDATE k SET v = 2 WHERE id < 6 -> 2
    A COMMIT
    F {"k": [[1, 2], [5, 2], [9, 1]]})") == "agree");
}

TEST_CASE("a row found by its whole key is locked without the gap; BETWEEN x AND x is no range") {
  const std::string script = kRows + R"(
    A BEGIN
    A SELECT v FROM k WHERE id BETWEEN 5 AND 5 FOR UPDATE -> [[0]]
    B INSERT INTO k VALUES (4, 4) -> 1
    B INSERT INTO k VALUES (6, 6) -> 1
    B UPDATE k SET v = 1 WHERE id = 9 -> 1
    A COMMIT
    F {"k": [[1, 0], [4, 4], [5, 0], [6, 6], [9, 1]]})";
  CHECK(played("mariadb", kRR, script) == "agree");
  CHECK(played("mysql", kRR, script) == "agree");
}

TEST_CASE("without an index REPEATABLE READ locks the whole table; READ COMMITTED gives back what does not match") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE v = 7 -> 0
    B UPDATE k SET v = 2 WHERE id = 5 -> 1 @3
    A COMMIT
    F {"k": [[1, 0], [5, 2], [9, 0]]})") == "agree");
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE v = 7 -> 0
    B UPDATE k SET v = 2 WHERE id = 5 -> 1
    A COMMIT
    F {"k": [[1, 0], [5, 2], [9, 0]]})") == "agree");
}

TEST_CASE("READ COMMITTED: a row that did not match after a wait stays locked, and so does a single row found by its key") {
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 5 WHERE id = 1 -> 1
    B BEGIN
    B DELETE FROM k WHERE v = 0 -> 2 @4
    A COMMIT
    C UPDATE k SET v = 6 WHERE id = 1 -> 1 @6
    B COMMIT
    F {"k": [[1, 6]]})") == "agree");
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A SELECT v FROM k WHERE id = 1 AND v = 7 FOR UPDATE -> []
    B UPDATE k SET v = 6 WHERE id = 1 -> 1 @3
    A COMMIT
    F {"k": [[1, 6], [5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("READ COMMITTED: UPDATE judges a locked row by its committed version, DELETE waits for it") {
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 7 WHERE id = 1 -> 1
    B UPDATE k SET v = 8 WHERE v = 7 -> 0
    C DELETE FROM k WHERE v = 7 -> 1 @4
    A COMMIT
    F {"k": [[5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("the duplicate check of a secondary unique index locks the gap, at READ COMMITTED too") {
  for (const char* isolation : {kRC, kRR}) {
    CHECK(played("mariadb", isolation, kUnique + R"(
      A BEGIN
      A INSERT INTO r VALUES (5, 10, 0) -> !1062
      B INSERT INTO r VALUES (6, 7, 0) -> 1 @4
      C INSERT INTO r VALUES (7, 11, 0) -> 1
      A COMMIT
      F {"r": [[1, 1, 0], [10, 10, 0], [6, 7, 0], [7, 11, 0]]})") == "agree");
  }
}

TEST_CASE("a row whose INSERT waits for a secondary index is in the primary one already") {
  CHECK(played("mariadb", kRC, kUnique + R"(
    A BEGIN
    A INSERT INTO r VALUES (5, 20, 0) -> 1
    B INSERT INTO r VALUES (7, 20, 0) -> !1062 @4
    C INSERT INTO r VALUES (7, 30, 0) -> 1 @4
    A COMMIT
    F {"r": [[1, 1, 0], [10, 10, 0], [5, 20, 0], [7, 30, 0]]})") == "agree");
}

TEST_CASE("three inserters of one key, the first rolls back: one of the two waiters is the victim") {
  // B has done more: it is C that is chosen, whoever runs first.
  const std::string script = kRows + R"(
    A BEGIN
    A INSERT INTO k VALUES (3, 1) -> 1
    B BEGIN
    B INSERT INTO k VALUES (20, 0), (21, 0), (22, 0) -> 3
    B INSERT IGNORE INTO k VALUES (3, 2) -> 1 @6
    C INSERT IGNORE INTO k VALUES (3, 3) -> !1213 @6
    A ROLLBACK
    B COMMIT
    F {"k": [[1, 0], [20, 0], [21, 0], [22, 0], [3, 2], [5, 0], [9, 0]]})";
  for (const char* engine : {"mariadb", "mysql"}) {
    CHECK(played(engine, kRC, script) == "agree");
    CHECK(played(engine, kRR, script) == "agree");
  }
}

TEST_CASE("an undone insert leaves its gap locked at REPEATABLE READ once somebody had asked for it; on MySQL always") {
  const std::string asked = kRows + R"(
    A BEGIN
    A INSERT INTO k VALUES (4, 0) -> 1
    B BEGIN
    B INSERT INTO k VALUES (3, 0), (4, 0) -> !1062 @5
    C INSERT INTO k VALUES (3, 7) -> 1 @6
    A COMMIT
    B ROLLBACK
    F {"k": [[1, 0], [3, 7], [4, 0], [5, 0], [9, 0]]})";
  CHECK(played("mariadb", kRR, asked) == "agree");
  CHECK(played("mysql", kRR, asked) == "agree");
  CHECK(played("mysql", kRC, asked) == "agree");
  CHECK(played("mariadb", kRC, asked).substr(0, 8) == "mismatch");  // there C goes on at the error
  const std::string unasked = kRows + R"(
    B BEGIN
    B INSERT INTO k VALUES (3, 0), (5, 0) -> !1062
    C INSERT INTO k VALUES (3, 7) -> 1)";
  CHECK(played("mariadb", kRR, unasked + R"(
    B ROLLBACK
    F {"k": [[1, 0], [3, 7], [5, 0], [9, 0]]})") == "agree");
  CHECK(played("mysql", kRR, unasked + R"( @3
    B ROLLBACK
    F {"k": [[1, 0], [3, 7], [5, 0], [9, 0]]})") == "agree");
}

TEST_CASE("NOWAIT fails, SKIP LOCKED passes over") {
  const std::string before = kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B SELECT id FROM k WHERE v = 0 FOR UPDATE SKIP LOCKED -> [[5], [9]]
    B SELECT id FROM k WHERE id = 1 FOR UPDATE NOWAIT -> )";
  const std::string after = R"(
    A COMMIT
    F {"k": [[1, 1], [5, 0], [9, 0]]})";
  CHECK(played("mariadb", kRR, before + "!1205" + after) == "agree");
  CHECK(played("mysql", kRR, before + "!3572" + after) == "agree");
}

TEST_CASE("a secondary index: the record, its gaps and the row are locked") {
  const std::string script = R"(
    S CREATE TABLE q (id int PRIMARY KEY, s int, v int)
    S CREATE INDEX q_s ON q (s)
    S INSERT INTO q VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)
    A BEGIN
    A UPDATE q SET v = 1 WHERE s = 20 -> 1
    B INSERT INTO q VALUES (4, 25, 0) -> 1 @5
    C UPDATE q SET v = 2 WHERE id = 2 -> 1 @5
    D UPDATE q SET v = 3 WHERE id = 1 -> 1
    A COMMIT
    F {"q": [[1, 10, 3], [2, 20, 2], [3, 30, 0], [4, 25, 0]]})";
  CHECK(played("mariadb", kRR, script) == "agree");
  CHECK(played("mysql", kRR, script) == "agree");
}

TEST_CASE("MariaDB locks the gap before a row that it finds by the whole key of a secondary unique index; none by the primary key") {
  const std::string rows = R"(
    S CREATE TABLE a (n int PRIMARY KEY, req int UNIQUE)
    S INSERT INTO a VALUES (10, 0), (20, 20), (90, 90)
)";
  CHECK(played("mariadb", "REPEATABLE READ", rows + R"(
    A BEGIN
    A SELECT n FROM a WHERE req = 20 LOCK IN SHARE MODE -> [[20]]
    C INSERT INTO a VALUES (30, 50) -> 1
    C INSERT INTO a VALUES (31, 10) -> 1 @4
    A COMMIT
    F {"a": [[10,0],[20,20],[30,50],[31,10],[90,90]]})") == "agree");
  CHECK(played("mariadb", "REPEATABLE READ", rows + R"(
    A BEGIN
    A SELECT n FROM a WHERE n = 20 LOCK IN SHARE MODE -> [[20]]
    C INSERT INTO a VALUES (15, 10) -> 1
    A COMMIT
    F {"a": [[10,0],[15,10],[20,20],[90,90]]})") == "agree");
  // A request that waits keeps an insert out too, even of the one that it waits for: a deadlock.
  CHECK(played("mariadb", "REPEATABLE READ", rows + R"(
    B BEGIN
    A BEGIN
    B SELECT n FROM a WHERE req = 20 FOR UPDATE -> [[20]]
    A SELECT n FROM a WHERE req = 20 LOCK IN SHARE MODE -> !1213 @4
    B INSERT INTO a VALUES (30, 10) -> 1
    B COMMIT
    A COMMIT
    F {"a": [[10,0],[20,20],[30,10],[90,90]]})") == "agree");
  CHECK(played("mariadb", "READ COMMITTED", rows + R"(
    A BEGIN
    A SELECT n FROM a WHERE req = 20 LOCK IN SHARE MODE -> [[20]]
    C INSERT INTO a VALUES (31, 10) -> 1
    A COMMIT
    F {"a": [[10,0],[20,20],[31,10],[90,90]]})") == "agree");
}

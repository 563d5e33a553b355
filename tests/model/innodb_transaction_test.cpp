// InnoDB's read views, what an error undoes, savepoints, deadlocks and GET_LOCK.
#include <doctest/doctest.h>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

const char* const kRU = "READ UNCOMMITTED";
const char* const kRC = "READ COMMITTED";
const char* const kRR = "REPEATABLE READ";
const char* const kSer = "SERIALIZABLE";

const std::string kRows = R"(
  S CREATE TABLE k (id int PRIMARY KEY, v int)
  S INSERT INTO k VALUES (1, 0), (2, 0)
)";

}  // namespace

TEST_CASE("the read view is made by the first plain SELECT, not by a write, a locking read or SELECT 1") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A SELECT 1 -> [[1]]
    A UPDATE k SET v = 1 WHERE id = 2 -> 1
    A SELECT v FROM k WHERE id = 2 FOR UPDATE -> [[1]]
    B UPDATE k SET v = 5 WHERE id = 1 -> 1
    A SELECT v FROM k WHERE id = 1 -> [[5]]
    B UPDATE k SET v = 6 WHERE id = 1 -> 1
    A SELECT v FROM k WHERE id = 1 -> [[5]]
    A SELECT v FROM k WHERE id = 1 LOCK IN SHARE MODE -> [[6]]
    A COMMIT
    F {"k": [[1, 6], [2, 1]]})") == "agree");
  CHECK(played("mysql", kRR, kRows + R"(
    A START TRANSACTION WITH CONSISTENT SNAPSHOT
    B UPDATE k SET v = 5 WHERE id = 1 -> 1
    A SELECT v FROM k WHERE id = 1 -> [[0]]
    A COMMIT
    F {"k": [[1, 5], [2, 0]]})") == "agree");
}

TEST_CASE("an old view: a duplicate that no SELECT shows, and own changes that it does show") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A SELECT id FROM k WHERE id = 3 -> []
    B INSERT INTO k VALUES (3, 3) -> 1
    A INSERT INTO k VALUES (3, 4) -> !1062
    A SELECT v FROM k WHERE id = 3 -> []
    A UPDATE k SET v = v + 1 WHERE id = 3 -> 1
    A SELECT v FROM k WHERE id = 3 -> [[4]]
    A COMMIT
    F {"k": [[1, 0], [2, 0], [3, 4]]})") == "agree");
}

TEST_CASE("levels: dirty reads, fresh reads, and shared locks inside a SERIALIZABLE transaction only") {
  const std::string before = kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B SELECT v FROM k WHERE id = 1 -> )";
  const std::string after = R"(
    A COMMIT
    F {"k": [[1, 1], [2, 0]]})";
  CHECK(played("mariadb", kRU, before + "[[1]]" + after) == "agree");
  CHECK(played("mariadb", kRC, before + "[[0]]" + after) == "agree");
  CHECK(played("mariadb", kSer, before + "[[0]]" + after) == "agree");
  CHECK(played("mariadb", kSer, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B BEGIN
    B SELECT v FROM k WHERE id = 1 -> [[1]] @4
    A COMMIT
    C UPDATE k SET v = 2 WHERE id = 1 -> 1 @6
    B COMMIT
    F {"k": [[1, 2], [2, 0]]})") == "agree");
}

TEST_CASE("a deadlock undoes the transaction and the BEGIN; the next statement commits by itself") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    B BEGIN
    B SAVEPOINT s
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    A INSERT INTO k VALUES (9, 9) -> 1
    B UPDATE k SET v = 2 WHERE id = 2 -> 1
    A UPDATE k SET v = 1 WHERE id = 2 -> 1 @7
    B UPDATE k SET v = 2 WHERE id = 1 -> !1213
    B ROLLBACK TO SAVEPOINT s -> !1305
    B INSERT INTO k VALUES (7, 7) -> 1
    B ROLLBACK
    A COMMIT
    F {"k": [[1, 1], [2, 1], [7, 7], [9, 9]]})") == "agree");
}

TEST_CASE("1062 and 1205 undo the statement only, and its locks stay") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A INSERT INTO k VALUES (3, 0) -> 1
    A INSERT INTO k VALUES (4, 0), (1, 0) -> !1062
    A INSERT INTO k VALUES (5, 0) -> 1
    B UPDATE k SET v = 1 WHERE id = 1 -> 1 @5
    A COMMIT
    F {"k": [[1, 1], [2, 0], [3, 0], [5, 0]]})") == "agree");
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 2 -> 1
    B SET innodb_lock_wait_timeout=1
    B BEGIN
    B INSERT INTO k VALUES (3, 0) -> 1
    B UPDATE k SET v = 5 -> !1205 @6
    sleep 1200
    C UPDATE k SET v = 7 WHERE id = 1 -> 1 @8
    B COMMIT
    A COMMIT
    F {"k": [[1, 7], [2, 1], [3, 0]]})") == "agree");
}

TEST_CASE("ROLLBACK TO keeps the locks, unless the savepoint is older than all work") {
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A INSERT INTO k VALUES (3, 0) -> 1
    A SAVEPOINT s
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B UPDATE k SET v = 2 WHERE id = 1 -> 1 @6
    A ROLLBACK TO SAVEPOINT s
    A COMMIT
    F {"k": [[1, 2], [2, 0], [3, 0]]})") == "agree");
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A SAVEPOINT s
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B UPDATE k SET v = 2 WHERE id = 1 -> 1 @4
    A ROLLBACK TO SAVEPOINT s
    A COMMIT
    F {"k": [[1, 2], [2, 0]]})") == "agree");
}

TEST_CASE("savepoints: rows changed on both sides, released, and named again") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    A SAVEPOINT a
    A UPDATE k SET v = 2 WHERE id = 1 -> 1
    A SAVEPOINT b
    A DELETE FROM k WHERE id = 1 -> 1
    A INSERT INTO k VALUES (1, 3) -> 1
    A ROLLBACK TO SAVEPOINT b
    A SELECT v FROM k WHERE id = 1 -> [[2]]
    A RELEASE SAVEPOINT b
    A SAVEPOINT a
    A UPDATE k SET v = 4 WHERE id = 1 -> 1
    A ROLLBACK TO SAVEPOINT a
    A SELECT v FROM k WHERE id = 1 -> [[2]]
    A ROLLBACK TO SAVEPOINT b -> !1305
    A COMMIT
    F {"k": [[1, 2], [2, 0]]})") == "agree");
}

TEST_CASE("BEGIN commits what is open") {
  CHECK(played("mysql", kRR, kRows + R"(
    A BEGIN
    A INSERT INTO k VALUES (3, 0) -> 1
    A BEGIN
    A INSERT INTO k VALUES (4, 0) -> 1
    A ROLLBACK
    F {"k": [[1, 0], [2, 0], [3, 0]]})") == "agree");
}

TEST_CASE("affected rows: changed ones; ON DUPLICATE KEY UPDATE 1, 2 or 0; assignments see those to their left") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A UPDATE k SET v = 0 WHERE id = 1 -> 0
    A INSERT INTO k VALUES (3, 0) ON DUPLICATE KEY UPDATE v = 9 -> 1
    A INSERT INTO k VALUES (3, 0) ON DUPLICATE KEY UPDATE v = 9 -> 2
    A INSERT INTO k VALUES (3, 0) ON DUPLICATE KEY UPDATE v = 9 -> 0
    A INSERT IGNORE INTO k VALUES (3, 1), (4, 1) -> 1
    A UPDATE k SET v = 5, id = v + 1 WHERE id = 4 -> 1
    F {"k": [[1, 0], [2, 0], [3, 9], [6, 5]]})") == "agree");
}

TEST_CASE("the victim is the lightest, on a tie the one that closes the circle") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    B BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 -> 1
    B UPDATE k SET v = 2 WHERE id = 2 -> 1
    B INSERT INTO k VALUES (7, 0), (8, 0), (9, 0) -> 3
    A UPDATE k SET v = 1 WHERE id = 2 -> !1213 @6
    B UPDATE k SET v = 2 WHERE id = 1 -> 1
    B COMMIT
    F {"k": [[1, 2], [2, 2], [7, 0], [8, 0], [9, 0]]})") == "agree");
}

TEST_CASE("a waiter works on what it finds when it wakes: a row that came meanwhile, and the compare-and-set gives 0") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A UPDATE k SET v = 1 WHERE id = 1 AND v = 0 -> 1
    B UPDATE k SET v = 1 WHERE id = 1 AND v = 0 -> 0 @4
    A INSERT INTO k VALUES (3, 0) -> 1
    A COMMIT
    F {"k": [[1, 1], [2, 0], [3, 0]]})") == "agree");
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A DELETE FROM k WHERE id = 1 -> 1
    B DELETE FROM k WHERE id = 1 -> 1 @4
    A INSERT INTO k VALUES (1, 5) -> 1
    A COMMIT
    F {"k": [[2, 0]]})") == "agree");
}

TEST_CASE("foreign keys: waiting for an uncommitted parent, CASCADE and SET NULL, shared locks on the parent") {
  const std::string schema = R"(
    S CREATE TABLE parent (id int PRIMARY KEY, v int)
    S CREATE TABLE child (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES parent(id) ON DELETE CASCADE)
    S CREATE TABLE note (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES parent(id) ON DELETE SET NULL)
    S INSERT INTO parent VALUES (1, 0)
  )";
  CHECK(played("mariadb", kRC, schema + R"(
    A BEGIN
    A INSERT INTO parent VALUES (2, 0) -> 1
    B INSERT INTO child VALUES (1, 2) -> 1 @4
    C INSERT INTO note VALUES (1, 7) -> !1452
    A COMMIT
    C INSERT INTO note VALUES (2, 2) -> 1
    C DELETE FROM parent WHERE id = 2 -> 1
    F {"parent": [[1, 0]], "child": [], "note": [[2, null]]})") == "agree");
  CHECK(played("mariadb", kRC, schema + R"(
    A BEGIN
    B BEGIN
    A INSERT INTO child VALUES (1, 1) -> 1
    B INSERT INTO child VALUES (2, 1) -> 1
    A UPDATE parent SET v = v + 1 WHERE id = 1 -> 1 @5
    B UPDATE parent SET v = v + 1 WHERE id = 1 -> !1213
    A COMMIT
    F {"parent": [[1, 1]], "child": [[1, 1]], "note": []})") == "agree");
}

TEST_CASE("INSERT ... SELECT and the subquery of a write lock what they read; at READ COMMITTED they read a snapshot") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A BEGIN
    A INSERT INTO k SELECT 3, 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM k WHERE id = 3) -> 1
    B INSERT INTO k SELECT 3, 2 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM k WHERE id = 3) -> 0 @3
    A COMMIT
    F {"k": [[1, 0], [2, 0], [3, 1]]})") == "agree");
  CHECK(played("mariadb", kRC, kRows + R"(
    A BEGIN
    A INSERT INTO k SELECT 3, 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM k WHERE id = 3) -> 1
    B INSERT INTO k SELECT 3, 2 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM k WHERE id = 3) -> !1062 @3
    A COMMIT
    F {"k": [[1, 0], [2, 0], [3, 1]]})") == "agree");
}

TEST_CASE("GET_LOCK outlives COMMIT, and its circle undoes nothing") {
  CHECK(played("mariadb", kRR, kRows + R"(
    A SELECT GET_LOCK('x', 0) -> [[1]]
    B BEGIN
    B INSERT INTO k VALUES (3, 0) -> 1
    B SELECT GET_LOCK('y', 0) -> [[1]]
    A SELECT GET_LOCK('y', 10) -> [[1]] @6
    B SELECT GET_LOCK('x', 10) -> !1213
    B SELECT RELEASE_LOCK('y') -> [[1]]
    B COMMIT
    B SELECT RELEASE_LOCK('y') -> [[0]]
    kill A
    B SELECT RELEASE_LOCK('y') -> [[null]]
    F {"k": [[1, 0], [2, 0], [3, 0]]})") == "agree");
}

TEST_CASE("GET_LOCK with a time below zero: no lock at all on MariaDB, no limit on MySQL") {
  const std::string first = kRows + R"(
    A SELECT GET_LOCK('x', -1) -> [[)";
  CHECK(played("mariadb", kRR, first + R"(null]]
    B SELECT GET_LOCK('x', 0) -> [[1]]
    F {"k": [[1, 0], [2, 0]]})") == "agree");
  CHECK(played("mysql", kRR, first + R"(1]]
    B SELECT GET_LOCK('x', -1) -> [[1]] @2
    A SELECT RELEASE_LOCK('x') -> [[1]]
    F {"k": [[1, 0], [2, 0]]})") == "agree");
}

TEST_CASE("DELETE takes a row too that it has just changed as the child of another one") {
  const std::string rows = R"(
    S CREATE TABLE n (id int PRIMARY KEY, par int, FOREIGN KEY (par) REFERENCES n (id) ON DELETE SET NULL)
    S INSERT INTO n VALUES (1, NULL), (2, 1), (3, 2)
)";
  CHECK(played("mariadb", "READ COMMITTED", rows + R"(
    A DELETE FROM n -> 3
    F {"n": []})") == "agree");
  CHECK(played("mariadb", "READ COMMITTED", rows + R"(
    A BEGIN
    A UPDATE n SET par = NULL WHERE id = 2 -> 1
    B DELETE FROM n -> 3 @3
    A COMMIT
    F {"n": []})") == "agree");
}

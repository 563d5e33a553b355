// What an InnoDB statement locks hangs on how the optimizer runs it: the index, the order of a join, when a condition is looked
// at. The values are those of MariaDB 10.11.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

const char* const kRC = "READ COMMITTED";
const char* const kRR = "REPEATABLE READ";
const char* const kSer = "SERIALIZABLE";

const std::string kChild = R"(
  S CREATE TABLE child (id int PRIMARY KEY, pid int, KEY (pid))
  S INSERT INTO child VALUES (1, 1)
)";
const std::string kU = R"(
  S CREATE TABLE u (id int PRIMARY KEY, n int NOT NULL)
  S INSERT INTO u VALUES (1, 0), (2, 5)
)";
const std::string kTwo = R"(
  S CREATE TABLE k (id int PRIMARY KEY, v int)
  S CREATE TABLE q (id int PRIMARY KEY)
  S INSERT INTO k VALUES (1, 0)
  S INSERT INTO q VALUES (1)
)";

}  // namespace

TEST_CASE("a covering index instead of the primary key, when the server expects no more than one record in it") {
  // No record has pid > 1: the index is taken, and the row itself is not touched.
  CHECK(played("mariadb", kRR, kChild + R"(
    A BEGIN
    A UPDATE child SET pid = 7 WHERE id = 1 AND pid > 1 -> 0
    B UPDATE child SET pid = 1 WHERE id = 1 -> 0
    C SELECT id FROM child WHERE id = 1 FOR UPDATE -> [[1]]
    A COMMIT
    F {"child": [[1, 1]]})") == "agree");
  // Two have it: the primary key is taken, and the row locked.
  CHECK(played("mariadb", kRR, kChild + R"(
    S INSERT INTO child VALUES (2, 5), (3, 5)
    A BEGIN
    A UPDATE child SET pid = 7 WHERE id = 1 AND pid > 1 -> 0
    C SELECT id FROM child WHERE id = 1 FOR UPDATE -> [[1]] @3
    A COMMIT
    F {"child": [[1, 1], [2, 5], [3, 5]]})") == "agree");
}

TEST_CASE("a write looks at EXISTS before it locks, at other conditions without a row afterwards; a SELECT at all of them before") {
  const std::string before = kTwo + R"(
    A BEGIN
    A SELECT v FROM k WHERE id = 1 FOR UPDATE -> [[0]]
)";
  CHECK(played("mariadb", kRR, before + R"(
    B DELETE FROM k WHERE id = 1 AND EXISTS (SELECT 1 FROM q WHERE id = 7) -> 0
    B DELETE FROM k WHERE NOT EXISTS (SELECT 1 FROM q WHERE id = 1) -> 0
    B SELECT v FROM k WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM q WHERE id = 1) FOR UPDATE -> []
    B DELETE FROM k WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM q WHERE id = 1) -> 0 @6
    A COMMIT
    F {"k": [[1, 0]], "q": [[1]]})") == "agree");
}

TEST_CASE("READ COMMITTED: an UPDATE that reads its own table waits where others pass over") {
  CHECK(played("mariadb", kRC, kU + R"(
    A BEGIN
    A UPDATE u SET n = 9 WHERE id = 1 -> 1
    B UPDATE u SET n = 7 WHERE n = 8 -> 0
    C UPDATE u SET n = 7 WHERE id IN (SELECT id FROM u WHERE n = 8) -> 0 @4
    A COMMIT
    F {"u": [[1, 9], [2, 5]]})") == "agree");
}

TEST_CASE("READ COMMITTED: a row that only the subquery drops stays locked, one that its own condition drops does not") {
  CHECK(played("mariadb", kRC, kU + R"(
    A BEGIN
    A SELECT id FROM u WHERE n > 100 FOR UPDATE -> []
    B UPDATE u SET n = 1 WHERE id = 1 -> 1
    A SELECT id FROM u WHERE id IN (SELECT id FROM u WHERE n > 100) FOR UPDATE -> []
    B UPDATE u SET n = 2 WHERE id = 1 -> 1 @5
    A COMMIT
    F {"u": [[1, 2], [2, 5]]})") == "agree");
}

TEST_CASE("MIN and MAX read one record of the index") {
  CHECK(played("mariadb", kSer, kU + R"(
    A BEGIN
    A SELECT max(id) FROM u -> [[2]]
    B UPDATE u SET n = 8 WHERE id = 1 -> 1
    C INSERT INTO u VALUES (3, 3) -> 1 @4
    A COMMIT
    F {"u": [[1, 8], [2, 5], [3, 3]]})") == "agree");
  CHECK(played("mariadb", kSer, kU + R"(
    A BEGIN
    A SELECT min(id) FROM u -> [[1]]
    B INSERT INTO u VALUES (3, 3) -> 1
    C UPDATE u SET n = 8 WHERE id = 1 -> 1 @4
    A COMMIT
    F {"u": [[1, 8], [2, 5], [3, 3]]})") == "agree");
}

TEST_CASE("ON DUPLICATE KEY UPDATE goes on with the duplicate that it waited for") {
  CHECK(played("mariadb", kRR, R"(
    S CREATE TABLE r (id int PRIMARY KEY, req int NOT NULL UNIQUE, v int)
    S INSERT INTO r VALUES (1, 1, 0), (9, 9, 0)
    A BEGIN
    A UPDATE r SET v = 1 WHERE id = 1 -> 1
    B INSERT INTO r VALUES (3, 1, 2) ON DUPLICATE KEY UPDATE v = 7 -> 2 @4
    C INSERT IGNORE INTO r VALUES (3, 1, 3) -> 0 @4
    A COMMIT
    F {"r": [[1, 1, 7], [9, 9, 0]]})") == "agree");
}

TEST_CASE("a key that a transaction has put into a secondary index and taken away again stays locked until its end") {
  CHECK(played("mariadb", kRC, R"(
    S CREATE TABLE qi (id int PRIMARY KEY, state int, owner int, KEY (state))
    A BEGIN
    A INSERT INTO qi VALUES (1, 5, 0) -> 1
    B UPDATE qi SET owner = 1 WHERE state = 5 -> 0 @4
    A UPDATE qi SET state = 6 WHERE id = 1 -> 1
    A COMMIT
    F {"qi": [[1, 6, 0]]})") == "agree");
}

TEST_CASE("AUTO_INCREMENT: an INSERT takes numbers for all its rows, and a duplicate passes its number on") {
  for (const char* engine : {"mariadb", "mysql"}) {
    CHECK(played(engine, kRR, R"(
      S CREATE TABLE a (n int AUTO_INCREMENT PRIMARY KEY, req int UNIQUE)
      S INSERT INTO a (req) VALUES (1)
      A INSERT INTO a (req) VALUES (1), (2) ON DUPLICATE KEY UPDATE req = 1 -> 1
      A INSERT INTO a (req) VALUES (3) -> 1
      A INSERT IGNORE INTO a (req) VALUES (3), (4), (5) -> 2
      A INSERT INTO a (req) VALUES (6) -> 1
      A INSERT INTO a (n, req) VALUES (NULL, 21), (30, 30), (NULL, 31) -> 3
      F {"a": [[1, 1], [2, 2], [4, 3], [5, 4], [6, 5], [8, 6], [9, 21], [30, 30], [31, 31]]})") == "agree");
  }
}

TEST_CASE("of two indexes that find the same records the shorter one is scanned, the unique one has no advantage") {
  const std::string orders = R"(
    S CREATE TABLE o (id int PRIMARY KEY, cust int NOT NULL, ref varchar(20), KEY (cust), UNIQUE KEY (cust, ref))
    S INSERT INTO o VALUES (10,1,'a'), (20,1,'b'), (30,5,'a'), (40,9,'c')
)";
  // KEY (cust): the gap before (5, 30) begins at (1, 20), so (1, 11) is outside of it. In the other index it would be inside.
  CHECK(played("mariadb", kRR, orders + R"(
    A BEGIN
    A DELETE FROM o WHERE cust = 5 -> 1
    B INSERT INTO o VALUES (11, 1, 'x') -> 1
    A ROLLBACK
    F {"o": [[10,1,"a"],[11,1,"x"],[20,1,"b"],[30,5,"a"],[40,9,"c"]]})") == "agree");
  // The whole unique key is given, but KEY (cust) has no more records of it, and so is scanned.
  CHECK(played("mariadb", kRR, orders + R"(
    A BEGIN
    A DELETE FROM o WHERE cust = 5 AND ref = 'a' -> 1
    B INSERT INTO o VALUES (35, 5, 'q') -> 1 @3
    A COMMIT
    F {"o": [[10,1,"a"],[20,1,"b"],[35,5,"q"],[40,9,"c"]]})") == "agree");
  // It has two of cust = 1.
  CHECK(played("mariadb", kRR, orders + R"(
    A BEGIN
    A DELETE FROM o WHERE cust = 1 AND ref = 'a' -> 1
    B INSERT INTO o VALUES (35, 1, 'q') -> 1
    A COMMIT
    F {"o": [[20,1,"b"],[30,5,"a"],[35,1,"q"],[40,9,"c"]]})") == "agree");
}

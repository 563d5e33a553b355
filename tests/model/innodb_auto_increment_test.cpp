// AUTO_INCREMENT on InnoDB: which numbers are spent, and the AUTO-INC lock. The values are those of MariaDB 10.11.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

const char* const kRR = "REPEATABLE READ";

const std::string kOrders = R"(
  S CREATE TABLE o (id int AUTO_INCREMENT PRIMARY KEY, ref varchar(9) UNIQUE, n int NOT NULL DEFAULT 0)
  S INSERT INTO o (ref) VALUES ('a')
  S INSERT INTO o (ref) VALUES ('b')
)";

const std::string kRequests = R"(
  S CREATE TABLE a (n int AUTO_INCREMENT PRIMARY KEY, req varchar(16) UNIQUE, v varchar(16))
)";

}  // namespace

TEST_CASE("the number of a duplicate goes to the next row of its statement, and the rest of what was reserved is lost") {
  CHECK(played("mariadb", kRR, kOrders + R"(
    A INSERT IGNORE INTO o (ref) VALUES ('a'), ('z'), ('y') -> 2
    A INSERT INTO o (ref) VALUES ('end') -> 1
    F {"o": [[1,"a",0],[2,"b",0],[3,"z",0],[4,"y",0],[6,"end",0]]})") == "agree");
  CHECK(played("mariadb", kRR, kOrders + R"(
    A INSERT INTO o (ref) VALUES ('a'), ('z'), ('y') ON DUPLICATE KEY UPDATE n=n+1 -> 4
    A INSERT INTO o (ref) VALUES ('end') -> 1
    F {"o": [[1,"a",1],[2,"b",0],[3,"z",0],[4,"y",0],[6,"end",0]]})") == "agree");
}

TEST_CASE("an UPDATE to a higher number moves the counter on; one to a lower number, or of no row, does not") {
  CHECK(played("mariadb", kRR, kOrders + R"(
    A UPDATE o SET id=70 WHERE ref='b' -> 1
    A INSERT INTO o (ref) VALUES ('c') -> 1
    A UPDATE o SET id=9 WHERE ref='b' -> 1
    A UPDATE o SET id=90 WHERE ref='nobody' -> 0
    A INSERT INTO o (ref) VALUES ('d') -> 1
    F {"o": [[1,"a",0],[9,"b",0],[71,"c",0],[72,"d",0]]})") == "agree");
}

TEST_CASE("INSERT ... SELECT keeps others from taking numbers until it ends") {
  // A waits for B's row and holds the AUTO-INC lock. B asks for that: a deadlock, and the lighter one is undone. When it is B,
  // all that it hears is that no number could be read.
  CHECK(played("mariadb", kRR, kRequests + R"(
    B BEGIN
    A BEGIN
    B SELECT v, n FROM a WHERE n=2 LOCK IN SHARE MODE -> []
    A INSERT INTO a (req, v) SELECT 'k1', 'A' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM a WHERE req='k1') -> 1 @4
    B INSERT INTO a (req, v) VALUES ('k1', 'A') -> !1467
    B COMMIT
    A COMMIT
    F {"a": [[1, "k1", "A"]]})") == "agree");
  // An INSERT of somebody else only waits.
  CHECK(played("mariadb", kRR, kRequests + R"(
    B BEGIN
    A BEGIN
    B SELECT v, n FROM a WHERE n=2 LOCK IN SHARE MODE -> []
    A INSERT INTO a (req, v) SELECT 'k1', 'A' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM a WHERE req='k1') -> 1 @5
    C INSERT INTO a (req, v) VALUES ('k2', 'C') -> 1 @6
    B COMMIT
    A COMMIT
    F {"a": [[1, "k1", "A"], [2, "k2", "C"]]})") == "agree");
}

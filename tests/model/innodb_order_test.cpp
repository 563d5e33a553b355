// ORDER BY of locking reads and writes on InnoDB: an index is read backwards for DESC, which locks other records and gaps
// than a forward scan. The values are those of MariaDB 10.11.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using oncecheck::testing::played;

namespace {

const char* const kRC = "READ COMMITTED";
const char* const kRR = "REPEATABLE READ";

std::string orders(const std::string& index) {
  return R"(
  S CREATE TABLE o (id int PRIMARY KEY, cust int NOT NULL, ref varchar(20), amt int NOT NULL, )" + index + R"()
  S INSERT INTO o VALUES (10,1,'b',9), (20,1,'k1',6), (25,5,'m',7), (30,5,'m2',8), (40,9,'c',8), (50,9,'q',3)
)";
}

const char* const kUnchanged =
    R"(F {"o": [[10,1,"b",9],[20,1,"k1",6],[25,5,"m",7],[30,5,"m2",8],[40,9,"c",8],[50,9,"q",3]]})";

}  // namespace

TEST_CASE("the last row of an equality: by the primary key behind an index, and by its next column") {
  CHECK(played("mariadb", kRR, orders("KEY (cust)") + R"(
    A SELECT id FROM o WHERE cust=5 ORDER BY id DESC LIMIT 1 FOR UPDATE -> [[30]]
    A SELECT id FROM o WHERE cust=5 ORDER BY id LIMIT 1 FOR UPDATE -> [[25]]
    A SELECT id FROM o WHERE cust=5 ORDER BY cust DESC, id DESC LIMIT 1 FOR UPDATE -> [[30]]
    A SELECT id FROM o WHERE cust IN (1,5) ORDER BY cust DESC, id DESC FOR UPDATE -> [[30], [25], [20], [10]]
)" + kUnchanged) == "agree");
  CHECK(played("mariadb", kRR, orders("KEY (cust, amt)") + R"(
    A SELECT id FROM o WHERE cust=1 ORDER BY amt DESC LIMIT 1 FOR UPDATE -> [[10]]
    A SELECT id FROM o WHERE cust=1 ORDER BY amt LIMIT 1 FOR UPDATE -> [[20]]
)" + kUnchanged) == "agree");
  CHECK(played("mariadb", kRC, orders("UNIQUE KEY (cust, ref)") + R"(
    A SELECT id FROM o WHERE cust=1 ORDER BY ref DESC LIMIT 1 FOR UPDATE -> [[20]]
)" + kUnchanged) == "agree");
}

TEST_CASE("UPDATE and DELETE take the last rows, not the first") {
  CHECK(played("mariadb", kRR, orders("KEY (cust)") + R"(
    A UPDATE o SET amt=100 WHERE cust=5 ORDER BY id DESC LIMIT 1 -> 1
    A DELETE FROM o WHERE cust=9 ORDER BY id DESC LIMIT 1 -> 1
    F {"o": [[10,1,"b",9],[20,1,"k1",6],[25,5,"m",7],[30,5,"m2",100],[40,9,"c",8]]})") == "agree");
}

TEST_CASE("a backward scan locks the gap behind the range, and LIMIT ends it before the gap in front") {
  const std::string last = orders("KEY (cust)") + R"(
    A BEGIN
    A SELECT id FROM o WHERE cust=5 ORDER BY id DESC LIMIT 1 FOR UPDATE -> [[30]]
)";
  CHECK(played("mariadb", kRR, last + R"(
    B INSERT INTO o VALUES (39,5,'z',99) -> 1 @3
    A ROLLBACK
    F {"o": [[10,1,"b",9],[20,1,"k1",6],[25,5,"m",7],[30,5,"m2",8],[39,5,"z",99],[40,9,"c",8],[50,9,"q",3]]})") == "agree");
  CHECK(played("mariadb", kRR, last + R"(
    B INSERT INTO o VALUES (5,5,'a',0) -> 1
    A ROLLBACK
    F {"o": [[5,5,"a",0],[10,1,"b",9],[20,1,"k1",6],[25,5,"m",7],[30,5,"m2",8],[40,9,"c",8],[50,9,"q",3]]})") == "agree");
}

TEST_CASE("a backward scan reads the row in front of its range, which stays locked, at READ COMMITTED too") {
  for (const char* level : {kRC, kRR}) {
    CHECK(played("mariadb", level, orders("KEY (cust)") + R"(
      A BEGIN
      A SELECT id FROM o WHERE cust=5 ORDER BY id DESC FOR UPDATE -> [[30], [25]]
      B SELECT id FROM o WHERE id=10 FOR UPDATE -> [[10]]
      B SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]] @4
      A ROLLBACK
    )" + kUnchanged) == "agree");
    CHECK(played("mariadb", level, orders("KEY (cust)") + R"(
      A BEGIN
      A DELETE FROM o WHERE cust=4 ORDER BY id DESC LIMIT 5 -> 0
      B SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]] @3
      A ROLLBACK
    )" + kUnchanged) == "agree");
    // A query that finds nothing stops before that row.
    CHECK(played("mariadb", level, orders("KEY (cust)") + R"(
      A BEGIN
      A SELECT id FROM o WHERE cust=4 ORDER BY id DESC FOR UPDATE -> []
      B SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]]
      A ROLLBACK
    )" + kUnchanged) == "agree");
  }
}

TEST_CASE("a backward scan with SKIP LOCKED passes over a locked row in front of its range, to the next one") {
  CHECK(played("mariadb", kRC, orders("KEY (cust)") + R"(
    A BEGIN
    C BEGIN
    C SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]]
    A SELECT id FROM o WHERE cust=5 ORDER BY id DESC FOR UPDATE SKIP LOCKED -> [[30], [25]]
    B SELECT id FROM o WHERE id=10 FOR UPDATE -> [[10]] @5
    A ROLLBACK
    C ROLLBACK
  )" + kUnchanged) == "agree");
}

TEST_CASE("READ COMMITTED: an UPDATE by the primary key judges the row in front by its committed version") {
  CHECK(played("mariadb", kRC, orders("KEY (cust)") + R"(
    A BEGIN
    C BEGIN
    C UPDATE o SET amt=1 WHERE id=20 -> 1
    A UPDATE o SET amt=2 WHERE id>20 AND id<40 ORDER BY id DESC LIMIT 9 -> 2
    C ROLLBACK
    B SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]]
    A ROLLBACK
  )" + kUnchanged) == "agree");
}

TEST_CASE("a write that is given a text reads forwards and sorts: the row in front is not read") {
  CHECK(played("mariadb", kRR, orders("KEY (ref)") + R"(
    A BEGIN
    A DELETE FROM o WHERE ref='m' ORDER BY id DESC LIMIT 5 -> 1
    B SELECT id FROM o WHERE id=20 FOR UPDATE -> [[20]]
    A ROLLBACK
  )" + kUnchanged) == "agree");
}

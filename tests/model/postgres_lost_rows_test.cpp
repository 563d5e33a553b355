// A row that a READ COMMITTED statement waited for and lost: PostgreSQL 15 has locked its newest version before it tests the WHERE
// again, and keeps the lock until the transaction ends.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using namespace oncecheck::testing;

namespace {

// B waits for A's change (step 3) and finds nothing; then C asks for the row (step 5), B ends (step 6).
std::string lost(const std::string& b, const std::string& c, const std::string& end = "COMMIT") {
  return "S CREATE TABLE t (id int PRIMARY KEY, w int, x int)\nS INSERT INTO t VALUES (1, 0, 0), (2, 0, 0)\n"
         "A BEGIN\nB BEGIN\nA UPDATE t SET w=1 WHERE id=1 -> 1\nB " + b + " @4\nA COMMIT\nC " + c + "\nB " + end + "\n";
}

const std::string kUpdate = "UPDATE t SET x=1 WHERE id=1 AND w=0 -> 0", kDelete = "DELETE FROM t WHERE id=1 AND w=0 -> 0",
                  kForUpdate = "SELECT id FROM t WHERE id=1 AND w=0 FOR UPDATE -> []", kShare = "SELECT id FROM t WHERE id=1 AND w=0 FOR SHARE -> []";

std::string at_read_committed(const std::string& script) { return played("postgres", "READ COMMITTED", script); }

}  // namespace

TEST_CASE("the loser's lock excludes others until its transaction ends") {
  for (const std::string& b : {kUpdate, kDelete, kForUpdate, kShare}) {
    CAPTURE(b);
    CHECK(at_read_committed(lost(b, "UPDATE t SET x=5 WHERE id=1 -> 1 @6")) == "agree");
    CHECK(at_read_committed(lost(b, "UPDATE t SET x=5 WHERE id=1 -> 1 @6", "ROLLBACK")) == "agree");
    CHECK(at_read_committed(lost(b, "SELECT id FROM t WHERE id=1 FOR UPDATE SKIP LOCKED -> []")) == "agree");
    CHECK(at_read_committed(lost(b, "SELECT id FROM t WHERE id=1 FOR UPDATE NOWAIT -> !55P03")) == "agree");
  }
  CHECK(at_read_committed(lost("UPDATE t SET x=1 WHERE w=0 -> 1", "UPDATE t SET x=5 WHERE id=1 -> 1 @6")) == "agree");
}

TEST_CASE("its strength is that of the statement") {
  const std::string key_share = "SELECT id FROM t WHERE id=1 FOR KEY SHARE -> [[1]]", share = "SELECT id FROM t WHERE id=1 FOR SHARE -> [[1]]";
  CHECK(at_read_committed(lost(kUpdate, key_share)) == "agree");
  CHECK(at_read_committed(lost(kDelete, key_share + " @6")) == "agree");
  CHECK(at_read_committed(lost(kForUpdate, key_share + " @6")) == "agree");
  CHECK(at_read_committed(lost(kUpdate, share + " @6")) == "agree");
  CHECK(at_read_committed(lost(kShare, share)) == "agree");
}

TEST_CASE("no lock: the row is gone, the transaction was over, ROLLBACK TO gave it back") {
  const std::string start = "S CREATE TABLE t (id int PRIMARY KEY, w int, x int)\nS INSERT INTO t VALUES (1, 0, 0)\nA BEGIN\n";
  CHECK(at_read_committed(start + "B BEGIN\nA DELETE FROM t WHERE id=1 -> 1\nB " + kUpdate + " @4\nA COMMIT\nC INSERT INTO t VALUES (1, 5, 5) -> 1\nB COMMIT\n") == "agree");
  CHECK(at_read_committed(start + "A UPDATE t SET w=1 WHERE id=1 -> 1\nB " + kUpdate + " @3\nA COMMIT\nC UPDATE t SET x=5 WHERE id=1 -> 1\n") == "agree");
  CHECK(at_read_committed(start + "B BEGIN\nB SAVEPOINT s\nA UPDATE t SET w=1 WHERE id=1 -> 1\nB " + kUpdate +
                          " @5\nA COMMIT\nB ROLLBACK TO s\nC UPDATE t SET x=5 WHERE id=1 -> 1\nB COMMIT\n") == "agree");
}

TEST_CASE("two losers that go on to each other's rows form a deadlock") {
  CHECK(at_read_committed("S CREATE TABLE t (id int PRIMARY KEY, w int, x int)\nS INSERT INTO t VALUES (1, 0, 0), (2, 0, 0)\nA BEGIN\nB BEGIN\nC BEGIN\n"
                          "C UPDATE t SET x=7 WHERE id=2 -> 1\nA UPDATE t SET w=1 WHERE id=1 -> 1\nB " + kUpdate + " @6\nA COMMIT\n"
                          "C UPDATE t SET x=5 WHERE id=1 -> 1 @8\nB UPDATE t SET x=4 WHERE id=2 -> !40P01\nB ROLLBACK\nC ROLLBACK\n") == "agree");
}

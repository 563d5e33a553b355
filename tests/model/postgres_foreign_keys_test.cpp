// Foreign keys under concurrency, as PostgreSQL 15 answered: what the check of a parent or child waits for, and what it makes of
// a row that changed while it waited.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using namespace oncecheck::testing;

namespace {

const std::string kRead = "READ COMMITTED", kRepeatable = "REPEATABLE READ", kSerializable = "SERIALIZABLE";

// Steps 0 and 1 begin; `a` is A's statement (step 2), `b` B's (step 3) with its answer, then A commits (step 4).
std::string two(const std::string& actions, const std::string& a, const std::string& b, const std::string& column = "int") {
  return "S CREATE TABLE par (id int PRIMARY KEY, v int)\n"
         "S CREATE TABLE chi (id int PRIMARY KEY, pid " + column + ", w int, FOREIGN KEY (pid) REFERENCES par (id) " + actions + ")\n"
         "S INSERT INTO par VALUES (1, 0), (2, 0)\nS INSERT INTO chi VALUES (10, 1, 0)\n"
         "A BEGIN\nB BEGIN\nA " + a + " -> 1\nB " + b + "\nA COMMIT\n";
}

const std::string kCascade = "ON DELETE CASCADE ON UPDATE CASCADE", kSetNull = "ON DELETE SET NULL ON UPDATE SET NULL";

}  // namespace

TEST_CASE("the check of a parent takes KEY SHARE on the old child: a change that leaves the keys alone does not hold it up") {
  for (const std::string& level : {kRead, kRepeatable, kSerializable}) {
    for (const std::string b : {"DELETE FROM par WHERE id=1", "UPDATE par SET id=7 WHERE id=1"}) {
      CAPTURE(level);
      CAPTURE(b);
      CHECK(played("postgres", level, two("", "UPDATE chi SET pid=NULL WHERE id=10", b + " -> !23503")) == "agree");
      CHECK(played("postgres", level, two("ON DELETE RESTRICT", "UPDATE chi SET pid=2 WHERE id=10", b + " -> !23503")) == "agree");
      // A unique pid is a key of the child.
      CHECK(played("postgres", level, two("", "UPDATE chi SET pid=NULL WHERE id=10", b + (level == kRead ? " -> 1 @4" : " -> !40001 @4"),
                                          "int UNIQUE")) == "agree");
    }
  }
}

TEST_CASE("a child that was waited for and went: gone at READ COMMITTED, a serialization failure above") {
  for (const std::string& actions : {std::string(), kCascade, kSetNull}) {
    CAPTURE(actions);
    for (const std::string b : {"DELETE FROM par WHERE id=1", "UPDATE par SET id=7 WHERE id=1"}) {
      CHECK(played("postgres", kRead, two(actions, "DELETE FROM chi WHERE id=10", b + " -> 1 @4")) == "agree");
      CHECK(played("postgres", kRepeatable, two(actions, "DELETE FROM chi WHERE id=10", b + " -> !40001 @4")) == "agree");
      CHECK(played("postgres", kSerializable, two(actions, "DELETE FROM chi WHERE id=10", b + " -> !40001 @4")) == "agree");
    }
    if (actions.empty()) continue;
    CHECK(played("postgres", kRepeatable, two(actions, "UPDATE chi SET pid=NULL WHERE id=10", "DELETE FROM par WHERE id=1 -> !40001 @4")) == "agree");
  }
}

TEST_CASE("an action waits for what an UPDATE or DELETE of the child would") {
  const std::string share = "SELECT id FROM chi WHERE id=10 FOR KEY SHARE";
  auto locked = [&](const std::string& actions, const std::string& answer, const std::string& column) {
    std::string script = two(actions, share, "DELETE FROM par WHERE id=1 -> " + answer, column);
    return script.replace(script.find(share) + share.size(), 5, " -> [[10]]");
  };
  CHECK(played("postgres", kRead, locked(kSetNull, "1", "int")) == "agree");
  CHECK(played("postgres", kRead, locked(kSetNull, "1 @4", "int UNIQUE")) == "agree");
  CHECK(played("postgres", kRead, locked(kCascade, "1 @4", "int")) == "agree");
}

TEST_CASE("the check of a child knows only the parent that it waited for, not one that took its place") {
  const std::string start = "S CREATE TABLE par (id int PRIMARY KEY, v int)\nS CREATE TABLE chi (id int PRIMARY KEY, pid int REFERENCES par (id))\n"
                            "S INSERT INTO par VALUES (2, 0)\nA BEGIN\n";
  CHECK(played("postgres", kRead, start + "A DELETE FROM par WHERE id=2 -> 1\nA INSERT INTO par VALUES (2, 9) -> 1\n"
                                          "B INSERT INTO chi VALUES (12, 2) -> !23503 @4\nA COMMIT\n") == "agree");
  CHECK(played("postgres", kRead, start + "A DELETE FROM par WHERE id=2 -> 1\nA INSERT INTO par VALUES (2, 9) -> 1\n"
                                          "B INSERT INTO chi VALUES (12, 2) -> 1 @4\nA ROLLBACK\n") == "agree");
  CHECK(played("postgres", kRead, start + "A UPDATE par SET id=5 WHERE id=2 -> 1\nA UPDATE par SET id=2 WHERE id=5 -> 1\n"
                                          "B INSERT INTO chi VALUES (12, 2) -> 1 @4\nA COMMIT\n") == "agree");
}

TEST_CASE("an update of a row that the transaction made is checked again, though it leaves the foreign key alone") {
  auto script = [](const std::string& second, const std::string& answer) {
    return "S CREATE TABLE par (id int PRIMARY KEY)\nS CREATE TABLE chi (id int PRIMARY KEY, pid int REFERENCES par (id), w int)\n"
           "S INSERT INTO par VALUES (1)\nS INSERT INTO chi VALUES (10, 1, 0)\nA BEGIN\nA UPDATE chi SET w=1 WHERE id=10 -> 1\n" +
           second + "B DELETE FROM par WHERE id=1 -> !23503" + answer;
  };
  CHECK(played("postgres", kRead, script("", "\nA COMMIT\n")) == "agree");
  CHECK(played("postgres", kRead, script("A UPDATE chi SET w=2 WHERE id=10 -> 1\n", " @4\nA COMMIT\n")) == "agree");
}

TEST_CASE("cascades over several tables, and over one that refers to itself") {
  const std::string levels =
      "S CREATE TABLE g (id int PRIMARY KEY)\n"
      "S CREATE TABLE p (id int PRIMARY KEY, FOREIGN KEY (id) REFERENCES g (id) " + kCascade + ")\n"
      "S CREATE TABLE c (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES p (id) " + kCascade + ")\n"
      "S INSERT INTO g VALUES (1)\nS INSERT INTO p VALUES (1)\nS INSERT INTO c VALUES (10, 1)\nA BEGIN\nB BEGIN\nB SELECT id FROM g -> [[1]]\n";
  CHECK(played("postgres", kRepeatable, levels + "A DELETE FROM c WHERE id=10 -> 1\nB DELETE FROM g WHERE id=1 -> !40001 @5\nA COMMIT\n") == "agree");
  CHECK(played("postgres", kRead, levels + "A SELECT id FROM c WHERE id=10 FOR KEY SHARE -> [[10]]\n"
               "B UPDATE g SET id=7 WHERE id=1 -> 1\nB SELECT pid FROM c -> [[7]]\nB COMMIT\nA COMMIT\nF {\"g\": [[7]], \"p\": [[7]], \"c\": [[10, 7]]}\n") == "agree");
  const std::string self = "S CREATE TABLE t (id int PRIMARY KEY, up int, FOREIGN KEY (up) REFERENCES t (id) " + kCascade + ")\n"
                           "S INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2)\nA BEGIN\nB BEGIN\nA DELETE FROM t WHERE id=3 -> 1\n";
  CHECK(played("postgres", kRepeatable, self + "B DELETE FROM t WHERE id=1 -> !40001 @4\nA COMMIT\n") == "agree");
  CHECK(played("postgres", kRead, self + "B DELETE FROM t WHERE id=1 -> 1 @4\nA COMMIT\nB COMMIT\nF {\"t\": []}\n") == "agree");
}

TEST_CASE("foreign keys are checked when the whole statement is done, its WITH queries included") {
  const std::string start = "S CREATE TABLE par (id int PRIMARY KEY)\nS CREATE TABLE chi (id int PRIMARY KEY, pid int REFERENCES par (id))\n";
  CHECK(played("postgres", kRead, start + "A WITH d AS (INSERT INTO chi VALUES (20, 9) RETURNING pid) INSERT INTO par SELECT pid FROM d -> 1\n"
                                          "F {\"par\": [[9]], \"chi\": [[20, 9]]}\n") == "agree");
  CHECK(played("postgres", kRead, start + "A WITH d AS (INSERT INTO chi VALUES (20, 9) RETURNING pid) INSERT INTO par SELECT pid + 1 FROM d -> !23503\n") == "agree");
}

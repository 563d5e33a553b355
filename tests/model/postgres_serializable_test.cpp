// Interleaved sessions at SERIALIZABLE and REPEATABLE READ, as PostgreSQL 15 answered them: what a subquery, a foreign key and a
// lock read or find.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/sessions.hpp"

using namespace oncecheck::testing;

namespace {

// A may have read k, B changes it; B has read r, A changes it. `read`: A's statement on k.
std::string crossing(const std::string& q_rows, const std::string& read, const std::string& end_of_a) {
  return "S CREATE TABLE k (id int PRIMARY KEY, n int)\nS CREATE TABLE q (id int PRIMARY KEY)\nS CREATE TABLE r (id int PRIMARY KEY)\n"
         "S INSERT INTO k VALUES (1, 0)\n" + q_rows +
         "A BEGIN\nB BEGIN\n" + read + "B UPDATE k SET n = 1 WHERE id = 1 -> 1\nB SELECT count(*) FROM r -> [[0]]\n"
         "A INSERT INTO r VALUES (1) -> 1\nB COMMIT\nA COMMIT" + end_of_a + "\n";
}

std::string locked_then_changed(const std::string& lock, const std::string& answer) {
  return "S CREATE TABLE k (id int PRIMARY KEY, n int)\nS INSERT INTO k VALUES (1, 0)\n"
         "A BEGIN\nA SELECT count(*) FROM k -> [[1]]\nB BEGIN\n" + lock + "B UPDATE k SET n = 1 WHERE id = 1 -> 1\nB COMMIT\n"
         "A SELECT n FROM k WHERE id = 1 FOR KEY SHARE -> " + answer + "\n";
}

}  // namespace

TEST_CASE("a condition that names no column keeps the table from being read") {
  CHECK(played("postgres", "SERIALIZABLE",
               crossing("", "A SELECT n FROM k WHERE id = 1 AND EXISTS (SELECT 1 FROM q) -> []\n", "")) == "agree");
  // With a row in q the table is read, and the two form a cycle.
  const std::string both = crossing("S INSERT INTO q VALUES (1)\n", "A SELECT n FROM k WHERE id = 1 AND EXISTS (SELECT 1 FROM q) -> [[0]]\n", " -> !40001");
  CHECK(played("postgres", "SERIALIZABLE", both) == "agree");
}

TEST_CASE("KEY SHARE takes the version of the snapshot after a committed change, unless it was locked for more") {
  for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    CAPTURE(level);
    CHECK(played("postgres", level, locked_then_changed("", "[[0]]")) == "agree");
    CHECK(played("postgres", level, locked_then_changed("B SELECT n FROM k WHERE id = 1 FOR NO KEY UPDATE -> [[0]]\n", "[[0]]")) == "agree");
    CHECK(played("postgres", level, locked_then_changed("B SELECT n FROM k WHERE id = 1 FOR UPDATE -> [[0]]\n", "!40001")) == "agree");
    CHECK(played("postgres", level, locked_then_changed("B SELECT n FROM k WHERE id = 1 FOR UPDATE -> [[0]]\nB SAVEPOINT s\n", "!40001")) == "agree");
  }
}

TEST_CASE("a foreign key reads the parent: a transaction that wrote it without being seen is a conflict") {
  // A's check misses B's parent; B has read the table that A writes.
  const std::string script =
      "S CREATE TABLE parent (id int PRIMARY KEY)\nS CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent (id))\n"
      "A BEGIN\nB BEGIN\nA SELECT count(*) FROM parent WHERE id = 9 -> [[0]]\nB SELECT count(*) FROM child -> [[0]]\n"
      "B INSERT INTO parent VALUES (1) -> 1\nB COMMIT\nA INSERT INTO child VALUES (1, 1) -> ";
  CHECK(played("postgres", "SERIALIZABLE", script + "!40001\n") == "agree");
  CHECK(played("postgres", "REPEATABLE READ", script + "!23503\n") == "agree");
}

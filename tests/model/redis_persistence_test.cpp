// Restarts, eviction, clocks.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/redis_scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kRestart = R"j("restart_redis": 1)j";

std::string kept(const std::string& how) { return R"j("persistence": ")j" + how + R"j(")j"; }

const std::string kWrites = R"j({"redis": "SET a 1"}, {"redis": "SET b 1"}, {"redis": "EXISTS a", "into": "a"}, {"redis": "EXISTS b", "into": "b"})j";

}  // namespace

TEST_CASE("a restart finds nothing, a prefix, or everything") {
  const std::string all = ":a = 1 AND :b = 1";
  for (const char* how : {"none", "everysec", "always"}) {
    CAPTURE(how);
    CHECK(always(kept(how), kWrites, all));
    CHECK(always(kept(how), kWrites, all, R"j("restart_redis": 0)j"));
  }
  CHECK(!always(kept("none"), kWrites, all, kRestart));
  CHECK(!always(kept("everysec"), kWrites, all, kRestart));
  CHECK(always(kept("always"), kWrites, all, kRestart));
}

TEST_CASE("everysec loses the latest writes, never an earlier one alone") {
  // The first MGET finds out whether the restart came between the writes; there is only one.
  const std::string steps = R"j({"redis": "SET a 1"}, {"redis": "SET b 1"}, {"redis": "MGET a b", "into": "m"},
      {"if": ":m.answer1 IS NULL OR :m.answer2 IS NULL", "then": [{"reply": 503}]}, {"redis": "MGET a b", "into": "m"})j";
  const std::string a = ":m.answer1 IS NOT NULL", b = ":m.answer2 IS NOT NULL";
  const std::string not_b_alone = a + " OR NOT (" + b + ")", alike = "(" + a + ") = (" + b + ")";
  CHECK(always(kept("everysec"), steps, not_b_alone, kRestart));
  CHECK(!always(kept("everysec"), steps, a, kRestart));
  CHECK(!always(kept("everysec"), steps, alike, kRestart));
  CHECK(always(kept("none"), steps, alike, kRestart));
}

TEST_CASE("a DEL that was not on disk brings the key back") {
  const std::string steps = R"j({"redis": "SET k 1"}, {"redis": "DEL k"}, {"redis": "EXISTS k", "into": "a"})j";
  CHECK(always(kept("everysec"), steps, ":a = 0"));
  CHECK(!always(kept("everysec"), steps, ":a = 0", kRestart));
  CHECK(always(kept("always"), steps, ":a = 0", kRestart));
}

TEST_CASE("a primary that restarts empty empties its replicas") {
  const std::string steps = R"j({"redis": "SET k 1"}, {"redis": "WAIT 1 0"}, {"redis": "GET k", "replica": true, "into": "a"})j";
  CHECK(always(R"j("replicas": 1)j", steps, ":a = '1'"));
  CHECK(!always(R"j("replicas": 1)j", steps, ":a = '1'", kRestart));
  CHECK(always(R"j("replicas": 1, "persistence": "always")j", steps, ":a = '1'", kRestart));
}

TEST_CASE("eviction takes keys that the policy allows, with a budget") {
  const std::string lasting = R"j({"redis": "SET k 1"}, {"redis": "GET k", "into": "a"})j";
  const std::string leased = R"j({"redis": "SET k 1 EX 10"}, {"redis": "GET k", "into": "a"})j";
  const std::string evict = R"j("evict": 1)j";
  CHECK(!always(R"j("eviction": "allkeys")j", lasting, ":a = '1'", evict));
  CHECK(always(R"j("eviction": "allkeys")j", lasting, ":a = '1'", R"j("evict": 0)j"));
  CHECK(always(R"j("eviction": "volatile")j", lasting, ":a = '1'", evict));
  CHECK(!always(R"j("eviction": "volatile")j", leased, ":a = '1'", evict));
  CHECK(always("", leased, ":a = '1'", evict));
}

TEST_CASE("clocks that differ: a replica may see a key as gone before its primary does") {
  const std::string steps = R"j({"redis": "SET k 1 EX 10"}, {"redis": "WAIT 1 0"}, {"redis": "GET k", "replica": true, "into": "a"},
      {"redis": "GET k", "into": "b"})j";
  const std::string agree = R"j("replicas": 1)j", differ = R"j("replicas": 1, "clocks": "differ")j", expire = R"j("expire": 1)j";
  CHECK(always(agree, steps, ":a IS NOT NULL OR :b IS NULL", expire));
  CHECK(!always(differ, steps, ":a IS NOT NULL OR :b IS NULL", expire));
  CHECK(always(differ, steps, ":a IS NOT NULL AND :b IS NOT NULL", R"j("expire": 0)j"));
  // ... or after it, until the primary's DEL arrives.
  const std::string primary_first = R"j({"redis": "SET k 1 EX 10"}, {"redis": "WAIT 1 0"}, {"redis": "GET k", "into": "b"},
      {"redis": "GET k", "replica": true, "into": "a"})j";
  CHECK(always(agree, primary_first, ":b IS NOT NULL OR :a IS NULL", expire));
  CHECK(!always(differ, primary_first, ":b IS NOT NULL OR :a IS NULL", expire));
}

TEST_CASE("a key that was made lasting stays, though the replica hears of it after its first end") {
  const std::string steps = R"j({"redis": "SET k 1 EX 10"}, {"redis": "MULTI"}, {"redis": "PERSIST k", "on_error": [{"reply": 503}]},
      {"redis": "SET other 1", "on_error": [{"reply": 503}]}, {"redis": "EXEC", "into": "x", "on_error": [{"reply": 503}]}, {"redis": "GET k", "into": "a"},
      {"redis": "GET other", "into": "b"})j";
  const std::string one = R"j("replicas": 1)j";
  CHECK(always(one, steps, ":x.answer1 = 0 OR :a IS NOT NULL OR :b IS NULL", R"j("failover": 1, "expire": 1)j"));
  CHECK(!always(one, steps, ":a IS NOT NULL OR :b IS NULL", R"j("failover": 1, "expire": 1)j"));
}

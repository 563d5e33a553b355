// MULTI, EXEC, DISCARD and WATCH.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/redis_scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kTwoClicks = R"j(, "clicks": 2)j";
const std::string kAnswered = R"j({"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 200})j";

// Looks, then sets in a transaction; `watch` is the step before, with its comma.
std::string check_then_set(const std::string& watch) {
  return watch + R"j({"redis": "GET k", "into": "old"}, {"if": ":old IS NOT NULL", "then": [{"reply": 409}]},
      {"redis": "MULTI"}, {"redis": "SET k 1"}, {"redis": "EXEC", "into": "tx"}, {"if": ":tx IS NULL", "then": [{"reply": 409}]}, )j" +
         kAnswered;
}

}  // namespace

TEST_CASE("WATCH makes a look and a transaction one: without it both handlers pass") {
  CHECK(verdict_of_redis({"", check_then_set(R"j({"redis": "WATCH k"}, )j"), kTwoClicks, ""}) == Verdict::Holds);
  CHECK(verdict_of_redis({"", check_then_set(""), kTwoClicks, ""}) == Verdict::Violated);
  CHECK(verdict_of_redis({"", check_then_set(R"j({"redis": "WATCH other"}, )j"), kTwoClicks, ""}) == Verdict::Violated);
  CHECK(verdict_of_redis({"", check_then_set(R"j({"redis": "WATCH k"}, {"redis": "UNWATCH"}, )j"), kTwoClicks, ""}) == Verdict::Violated);
}

TEST_CASE("nothing happens before EXEC, everything with it, nothing after DISCARD") {
  const std::string before = R"j({"redis": "MULTI", "into": "m"}, {"redis": "SET k A", "into": "q"}, {"redis": "INCR n"}, )j";
  CHECK(always("", before + R"j({"redis": "EXEC", "into": "x"}, {"redis": "GET k", "into": "a"})j",
               ":m = 'OK' AND :q = 'QUEUED' AND :x.count = 2 AND :x.answer1 = 'OK' AND :x.answer2 = 1 AND :a = 'A'"));
  CHECK(always("", before + R"j({"redis": "DISCARD"}, {"redis": "GET k", "into": "a"})j", ":a IS NULL"));
}

TEST_CASE("an error in the middle undoes nothing") {
  const std::string steps = R"j({"redis": "SET s x"}, {"redis": "MULTI"}, {"redis": "SET a 1"}, {"redis": "INCR s"}, {"redis": "SET b 1"},
      {"redis": "EXEC", "into": "x"}, {"redis": "MGET a b", "into": "m"})j";
  CHECK(always("", steps, ":x.count = 3 AND :x.answer2 IS NULL AND :m.answer1 = '1' AND :m.answer2 = '1'"));
}

TEST_CASE("which of two times is the later one is open in a transaction too") {
  const std::string steps = R"j({"redis": "SET k 1 EX 10"}, {"redis": "MULTI"}, {"redis": "EXPIRE k 20 GT"}, {"redis": "EXPIRE k 5 LT"},
      {"redis": "EXEC", "into": "x"})j";
  CHECK(always("", steps, ":x.count = 2"));
  for (const char* only : {":x.answer1 = 1", ":x.answer1 = 0", ":x.answer2 = 1", ":x.answer2 = 0", ":x.answer1 = :x.answer2"}) {
    CAPTURE(only);
    CHECK(!always("", steps, only));
  }
}

TEST_CASE("what trips a WATCH: any write of the key, one's own too, an expiry; not a write that does nothing") {
  auto aborted = [](const std::string& between, const std::string& faults = "") {
    return R"j({"redis": "SET n 1 EX 10"}, {"redis": "WATCH n"}, )j" + between +
           R"j({"redis": "MULTI"}, {"redis": "SET m 2"}, {"redis": "EXEC", "into": "x"})j" + faults;
  };
  CHECK(always("", aborted(""), ":x IS NOT NULL"));
  CHECK(always("", aborted(R"j({"redis": "SET n 1"}, )j"), ":x IS NULL"));
  CHECK(always("", aborted(R"j({"redis": "EXPIRE n 20"}, )j"), ":x IS NULL"));
  CHECK(always("", aborted(R"j({"redis": "SET n 2 NX"}, {"redis": "DEL other"}, )j"), ":x IS NOT NULL"));
  CHECK(!always("", aborted(""), ":x IS NOT NULL", R"j("expire": 1)j"));
}

TEST_CASE("a restart ends a transaction: the next command hears connection_lost") {
  const std::string steps = R"j({"set": {"e": "0"}}, {"redis": "MULTI"}, {"redis": "SET k 1", "on_error": {"connection_lost": [{"reply": 503}]}},
      {"redis": "EXEC", "on_error": {"connection_lost": [{"set": {"e": "1"}}], "other": [{"set": {"e": "2"}}]}})j";
  CHECK(always("", steps, ":e = 0"));
  CHECK(!always("", steps, ":e = 0", R"j("restart_redis": 1)j"));
  CHECK(always("", steps, ":e = 0 OR :e = 1", R"j("restart_redis": 1)j"));
}

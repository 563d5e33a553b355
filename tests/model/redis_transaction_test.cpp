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

TEST_CASE("a failover ends a transaction too, also when there is nothing that it can lose") {
  const std::string failover = R"j("failover": 1)j";
  const std::string sets_flag = R"j("on_error": {"connection_lost": [{"set": {"e": "1"}}], "other": [{"set": {"e": "2"}}]})j";
  const std::string multi = R"j({"set": {"e": "0"}}, {"redis": "MULTI"}, {"redis": "GET k", )j" + sets_flag +
                            R"j(}, {"redis": "EXEC", "on_error": {"connection_lost": [{"set": {"e": "1"}}], "other": []}})j";
  const std::string watch = R"j({"set": {"e": "0"}}, {"redis": "WATCH k"}, {"redis": "GET k", )j" + sets_flag + "}";
  const std::string confirmed = R"j({"redis": "SET a 1"}, {"redis": "WAIT 1 0"}, )j" + watch;
  for (const char* clocks : {"agree", "differ"}) {  // replicas told apart, or not
    CAPTURE(clocks);
    const std::string redis = fmt::format(R"j("replicas": 1, "clocks": "{}")j", clocks);
    for (const std::string& steps : {multi, watch, confirmed}) {
      CAPTURE(steps);
      CHECK(always(redis, steps, ":e = 0"));
      CHECK(!always(redis, steps, ":e = 0", failover));
      CHECK(always(redis, steps, ":e = 0 OR :e = 1", failover));
    }
  }
  CHECK(always("", multi, ":e = 0", failover));  // no replica, no failover
}

TEST_CASE("a library that sends again does not do so with what was sent in a MULTI: EXEC and DISCARD hear connection_lost") {
  const std::string lost = R"j("lose_connection": 1)j";
  auto ends = [](const std::string& end) {
    return R"j({"set": {"e": "0"}}, {"redis": "MULTI"}, {"redis": "SET k 1", "on_error": {"connection_lost": [{"reply": 503}]}}, {"redis": ")j" + end +
           R"j(", "on_error": {"connection_lost": [{"set": {"e": "1"}}], "other": [{"set": {"e": "2"}}]}}, {"redis": "GET k", "into": "a"})j";
  };
  for (const char* resend : {"true", "false"}) {
    CAPTURE(resend);
    const std::string redis = fmt::format(R"j("resend": {})j", resend);
    for (const char* end : {"EXEC", "DISCARD"}) {
      CAPTURE(end);
      CHECK(!always(redis, ends(end), ":e = 0", lost));
      CHECK(always(redis, ends(end), ":e = 0 OR :e = 1", lost));
    }
    CHECK(!always(redis, ends("EXEC"), ":e = 0 OR :a IS NULL", lost));      // it ran, and nobody heard
    CHECK(!always(redis, ends("EXEC"), ":e = 0 OR :a IS NOT NULL", lost));  // it did not
  }
  // A library sends MULTI again, and there is nothing to hear.
  const std::string begins = R"j({"set": {"e": "0"}}, {"redis": "MULTI", "on_error": {"connection_lost": [{"set": {"e": "1"}}]}})j";
  CHECK(always(R"j("resend": true)j", begins, ":e = 0", lost));
  CHECK(!always("", begins, ":e = 0", lost));
}

TEST_CASE("a command whose answer is lost ran at either primary of a split") {
  // The second handler has found x missing at the new primary: so the first one knows that the failover has been. What it writes
  // then can only be gone after the healing if it reached the old primary.
  const std::string steps = R"j({"sql": "SELECT id FROM work", "into": "w"},
      {"if": ":w.count > 0", "then": [{"redis": "GET x", "into": "x"}, {"if": ":x IS NULL", "then": [{"sql": "INSERT INTO work VALUES ('moved')"}]}, {"reply": 200}]},
      {"redis": "SET k A"}, {"redis": "WAIT 1 0"}, {"redis": "SET x 1"}, {"sql": "INSERT INTO work VALUES ('first')"},
      {"sql": "SELECT id FROM work WHERE id = 'moved'", "into": "m"}, {"if": ":m.count = 0", "then": [{"reply": 200}]}, {"set": {"e": "0"}},
      {"redis": "SET k B", "on_error": {"connection_lost": [{"set": {"e": "1"}}]}}, {"if": ":e = 0", "then": [{"reply": 200}]},
      {"redis": "GET k", "into": "b"}, {"if": ":b IS NULL OR :b <> 'B'", "then": [{"reply": 200}]},
      {"redis": "GET k", "into": "a"}, {"if": ":a = 'B'", "then": [{"reply": 200}]}, {"reply": 404})j";
  const std::string never = R"j({"name": "never", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j";
  const std::string both = R"j("failover": 1, "lose_connection": {"max": 1, "redis": "r"})j";
  const std::string redis = R"j("replicas": 1, "clocks": "differ")j";
  CHECK(verdict_of_redis({redis, steps, kTwoClicks, both, never}) == Verdict::Holds);
  CHECK(verdict_of_redis({redis, steps, kTwoClicks, R"j("partition": 1, )j" + both, never}) == Verdict::Violated);
}

TEST_CASE("a list within the list of EXEC is OK; WAIT in a transaction does not wait") {
  const std::string lists = R"j({"redis": "MSET a 1 b 2"}, {"redis": "MULTI"}, {"redis": "MGET a b"}, {"redis": "GET b"}, {"redis": "EXEC", "into": "x"})j";
  CHECK(always("", lists, ":x.count = 2 AND :x.answer1 = 'OK' AND :x.answer2 = '2'"));
  const std::string waits = R"j({"redis": "SET k 1"}, {"redis": "MULTI"}, {"redis": "WAIT 1 0"}, {"redis": "EXEC", "into": "x"})j";
  for (const char* clocks : {"agree", "differ"}) {
    CAPTURE(clocks);
    const std::string redis = fmt::format(R"j("replicas": 1, "clocks": "{}")j", clocks);
    CHECK(always(redis, waits, ":x.answer1 = 0 OR :x.answer1 = 1"));
    CHECK(!always(redis, waits, ":x.answer1 = 0"));
    CHECK(!always(redis, waits, ":x.answer1 = 1"));
  }
  const std::string kept = waits + R"j(, {"redis": "GET k", "into": "b"}, {"if": ":b IS NULL", "then": [{"reply": 200}]}, {"redis": "GET k", "into": "a"})j";
  const std::string failover = R"j("failover": 1)j";
  const auto survives = [&](const std::string& condition) { return always(R"j("replicas": 1)j", kept, condition, failover); };
  CHECK(survives(":a = '1' OR :x.answer1 = 0 OR :x IS NULL"));  // what is confirmed is not lost
  CHECK(!survives(":a = '1' OR :x.answer1 = 1 OR :x IS NULL"));
}

TEST_CASE("a MULTI whose EXEC was forgotten does nothing; what there is no room for has its own name") {
  const std::string forgotten = R"j({"redis": "MULTI"}, {"redis": "SET k 1", "into": "a"}, {"redis": "SET l 1", "into": "b"})j";
  CHECK(always("", forgotten, ":a = 'QUEUED' AND :b = 'QUEUED'"));
  const std::string twice = R"j({"redis": "GET k", "into": "a"}, {"redis": "MULTI"}, {"redis": "SET k 1"})j";
  CHECK(verdict_of_redis({"", twice + R"j(, {"if": ":a IS NULL", "then": [{"reply": 200}]}, {"reply": 404})j", kTwoClicks, "",
                          R"j({"name": "never", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j"}) == Verdict::Holds);
  auto why = [](const std::string& steps) {
    const auto program = program_from(redis_scenario({"", steps + R"j({"reply": 200})j", "", ""}));
    const CheckResult result = check(*program);
    CHECK(result.invariants.at(0).verdict == Verdict::Inconclusive);
    return result.why_incomplete;
  };
  std::string nine = R"j({"redis": "MULTI"}, )j", watched;
  for (int i = 0; i < 9; ++i) nine += R"j({"redis": "GET k"}, )j";
  for (int i = 0; i < 7; ++i) watched += fmt::format(R"j({{"redis": "WATCH k{}"}}, )j", i);
  CHECK(why(nine).find("more commands in one MULTI") != std::string::npos);
  CHECK(why(watched).find("watches more keys") != std::string::npos);
}

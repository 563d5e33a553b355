// Scripts: what Lua 5.1 makes of lists, nil, order of evaluation and comparison. Each answer is one of Redis 7.0.15.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/redis_scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Whether the expression is true of :a, the answer of the script with keys k and l, whose values are 1 and 2.
bool answers(const std::string& script, const std::string& expression, const std::string& arguments = "") {
  CAPTURE(script);
  const std::string steps = fmt::format(
      R"j({{"set": {{"e": "0"}}}}, {{"redis": "MSET k 1 l 2"}}, {{"redis": "EVAL \"{}\" 2 k l {}", "into": "a", "on_error": {{"other": [{{"set": {{"e": "1"}}}}]}}}},
      {{"redis": "GET k", "into": "k"}})j",
      script, arguments);
  return always("", steps, expression);
}

}  // namespace

TEST_CASE("each list is a value of its own, and equal to itself only") {
  CHECK(answers("local x = redis.call('mget', KEYS[1]) local y = redis.call('mget', KEYS[2]) return x", ":a.answer1 = '1' AND :a.count = 1"));
  CHECK(answers("local x = {1, 2} local y = {3} return x", ":a.answer1 = 1 AND :a.answer2 = 2"));
  CHECK(answers("local x = {1} local y = {1} if x == y then return 1 else return 0 end", ":a = 0"));
  CHECK(answers("local x = {1} local y = x if x == y then return 1 else return 0 end", ":a = 1"));
  CHECK(answers("local x = redis.call('set', 'm', 1) local y = x if x == y then return 1 else return 0 end", ":a = 1"));
}

TEST_CASE("a list is made as a whole, and its answer ends before the first nil") {
  CHECK(answers("return {ARGV[1], redis.call('incr', KEYS[1])}", ":a.count = 0 AND :k = 2"));
  CHECK(answers("return {7, nil, redis.call('incr', KEYS[1])}", ":a.count = 1 AND :a.answer1 = 7 AND :k = 2"));
  CHECK(answers("return {7; redis.call('incr', KEYS[1])}", ":a.count = 2 AND :a.answer2 = 2"));
}

TEST_CASE("the left operand comes first, whichever the comparison") {
  const std::string count = "redis.call('incr', KEYS[1])", look = "tonumber(redis.call('get', KEYS[1]))";
  auto compares = [](const std::string& condition) { return "if " + condition + " then return 1 else return 0 end"; };
  CHECK(answers(compares(count + " > " + look), ":a = 0"));
  CHECK(answers(compares(look + " >= " + count), ":a = 0"));
  CHECK(answers(compares(count + " <= " + look), ":a = 1"));
  CHECK(answers(compares(look + " < " + count), ":a = 1"));
}

TEST_CASE("two strings compare byte by byte, a string and a number not at all") {
  auto compares = [](const std::string& condition) { return "if " + condition + " then return 1 else return 0 end"; };
  CHECK(answers(compares("ARGV[1] < ARGV[2]"), ":a = 1", "10 9"));
  CHECK(answers(compares("ARGV[1] > ARGV[2]"), ":a = 0", "10 9"));
  CHECK(answers(compares("ARGV[1] >= ARGV[2]"), ":a = 1", "10 10"));
  CHECK(answers(compares("tonumber(ARGV[1]) > tonumber(ARGV[2])"), ":a = 1", "10 9"));
  CHECK(answers(compares("'a' < 'b'"), ":a = 1"));
  CHECK(answers(compares("'' < 'a'"), ":a = 1"));
  CHECK(answers(compares("'B' >= 'a'"), ":a = 0"));
  CHECK(answers(compares("ARGV[1] < 10"), ":e = 1", "9"));
}

TEST_CASE("tostring gives words") {
  CHECK(answers("return tostring(redis.call('get', 'none'))", ":a = 'false'"));
  CHECK(answers("return tostring(ARGV[1])", ":a = 'nil'"));
  CHECK(answers("return tostring(1 == 1)", ":a = 'true'"));
  CHECK(answers("return tostring(12)", ":a = 12"));
  CHECK(answers("if tostring(redis.call('get', KEYS[1])) == ARGV[1] then return 1 else return 0 end", ":a = 1", "1"));
}

TEST_CASE("pcall gives an argument that does not fit back as an error, call ends the script") {
  CHECK(answers("redis.pcall('set', KEYS[1], nil) return 5", ":a = 5 AND :e = 0"));
  CHECK(answers("redis.call('set', KEYS[1], nil) return 5", ":e = 1"));
}

// Redis commands and scripts of one node, each with what Redis answers.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/redis_scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Commands one after the other; a leading "NAME=" stores the answer.
std::string commands(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& c : all) {
    const std::size_t equals = c.find('=');
    const bool stores = equals != std::string::npos && equals < 3;
    const std::string into = stores ? fmt::format(R"j(, "into": "{}")j", c.substr(0, equals)) : "";
    out += fmt::format(R"j({}{{"redis": "{}"{}}})j", out.empty() ? "" : ", ", stores ? c.substr(equals + 1) : c, into);
  }
  return out;
}

bool gives(const std::vector<std::string>& all, const std::string& expression) { return always("", commands(all), expression); }

}  // namespace

TEST_CASE("SET and its options") {
  CHECK(gives({"a=SET k A", "b=GET k"}, ":a = 'OK' AND :b = 'A'"));
  CHECK(gives({"SET k A", "a=SET k B NX", "b=GET k"}, ":a IS NULL AND :b = 'A'"));
  CHECK(gives({"a=SET k A XX", "b=EXISTS k"}, ":a IS NULL AND :b = 0"));
  CHECK(gives({"a=SET k A GET", "b=SET k B GET", "c=SET k C NX GET", "d=GET k"}, ":a IS NULL AND :b = 'A' AND :c = 'B' AND :d = 'B'"));
  CHECK(gives({"SET k A EX 10", "SET k B", "a=TTL k"}, ":a = -1"));
  CHECK(gives({"SET k A EX 10", "SET k B KEEPTTL", "a=TTL k"}, ":a > 0"));
  CHECK(gives({"SET k A", "a=SET k B EXAT 1000", "b=EXISTS k"}, ":a = 'OK' AND :b = 0"));
  CHECK(gives({"a=SETNX k A", "b=SETNX k B"}, ":a = 1 AND :b = 0"));
  CHECK(gives({"SETEX k 10 A", "a=PTTL k", "b=GETSET k B", "c=PTTL k"}, ":a > 0 AND :b = 'A' AND :c = -1"));
}

TEST_CASE("GETDEL, DEL, EXISTS, MGET, MSET, TYPE") {
  CHECK(gives({"SET k A", "a=GETDEL k", "b=GET k"}, ":a = 'A' AND :b IS NULL"));
  CHECK(gives({"MSET k A l B", "a=EXISTS k l m k", "b=DEL k l m", "c=DBSIZE"}, ":a = 3 AND :b = 2 AND :c = 0"));
  CHECK(gives({"SET k A", "a=MGET k l"}, ":a.count = 2 AND :a.answer1 = 'A' AND :a.answer2 IS NULL"));
  CHECK(gives({"SET k A", "a=TYPE k", "b=TYPE l", "c=PING"}, ":a = 'string' AND :b = 'none' AND :c = 'PONG'"));
}

TEST_CASE("INCR counts texts that are numbers, and keeps the time to live") {
  CHECK(gives({"a=INCR n", "b=INCRBY n 5", "c=DECR n", "d=DECRBY n 2", "e=GET n"}, ":a = 1 AND :b = 6 AND :c = 5 AND :d = 3 AND :e = 3"));
  CHECK(gives({"SET n 7 EX 10", "a=INCR n", "b=TTL n"}, ":a = 8 AND :b > 0"));
  CHECK(gives({"SET n 100", "a=INCRBY n 100"}, ":a = 200"));
  const std::string refused = R"j({"redis": "SET n 07"}, {"set": {"e": "0"}}, {"redis": "INCR n", "on_error": {"not_an_integer": [{"set": {"e": "1"}}]}})j";
  CHECK(always("", refused, ":e = 1"));
}

TEST_CASE("EXPIRE, PERSIST, TTL") {
  CHECK(gives({"a=EXPIRE k 10", "SET k A", "b=EXPIRE k 10", "c=TTL k", "d=PERSIST k", "e=PERSIST k", "f=TTL k", "g=TTL l"},
              ":a = 0 AND :b = 1 AND :c > 0 AND :d = 1 AND :e = 0 AND :f = -1 AND :g = -2"));
  CHECK(gives({"SET k A", "a=EXPIRE k -1", "b=EXISTS k"}, ":a = 1 AND :b = 0"));
  CHECK(gives({"SET k A", "a=EXPIRE k 10 XX", "b=EXPIRE k 10 GT", "c=EXPIRE k 10 NX", "d=EXPIRE k 20 NX"},
              ":a = 0 AND :b = 0 AND :c = 1 AND :d = 0"));
  // Which of two times is the later one the model does not know: both happen.
  const std::string later = commands({"SET k A EX 10", "a=EXPIRE k 20 GT"});
  CHECK(!always("", later, ":a = 1"));
  CHECK(!always("", later, ":a = 0"));
  CHECK(always("", later, ":a = 0 OR :a = 1"));
}

TEST_CASE("a time to live passes when nothing else can happen, or earlier with a budget") {
  const std::string waits = commands({"SET k A EX 10", "a=GET k"});
  CHECK(always("", waits, ":a = 'A'"));
  CHECK(!always("", waits, ":a = 'A'", R"j("expire": 1)j"));
  CHECK(always("", commands({"SET k A EX 10", "PERSIST k", "a=GET k"}), ":a = 'A'", R"j("expire": 0)j"));
}

TEST_CASE("42 and '42' are the same key and the same value") {
  const std::string steps = R"j({"set": {"n": "42"}}, {"redis": "SET 42 :n"}, {"redis": "GET :n", "into": "a"},
      {"redis": "EVAL \"if redis.call('get', KEYS[1]) == ARGV[1] then return 1 else return 0 end\" 1 42 42", "into": "b"})j";
  CHECK(always("", steps, ":a = 42 AND :b = 1"));
}

TEST_CASE("scripts: compare and delete, compare and extend, compare and set") {
  auto script = [](const std::string& text, const std::string& rest) { return "a=EVAL \\\"" + text + "\\\" " + rest; };
  const std::string del = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
  CHECK(gives({"SET k A", script(del, "1 k A"), "b=EXISTS k"}, ":a = 1 AND :b = 0"));
  CHECK(gives({"SET k A", script(del, "1 k B"), "b=EXISTS k"}, ":a = 0 AND :b = 1"));
  const std::string extend = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
  CHECK(gives({"SET k A", script(extend, "1 k A 1000"), "b=TTL k"}, ":a = 1 AND :b > 0"));
  CHECK(gives({"SET k A", script(extend, "1 k B 1000"), "b=TTL k"}, ":a = 0 AND :b = -1"));
  const std::string set =
      "local v = redis.call('get', KEYS[1]); if v == false or v == ARGV[1] then redis.call('set', KEYS[1], ARGV[2], 'PX', 500) return 1 end return 0";
  CHECK(gives({script(set, "1 k A B"), "b=GET k", "c=TTL k"}, ":a = 1 AND :b = 'B' AND :c > 0"));
  CHECK(gives({"SET k C", script(set, "1 k A B"), "b=GET k"}, ":a = 0 AND :b = 'C'"));
  const std::string fence = "local t = tonumber(redis.call('get', KEYS[1]) or '0') if tonumber(ARGV[1]) > t then redis.call('set', KEYS[1], ARGV[1]) return 1 end return 0";
  CHECK(gives({script(fence, "1 k 3"), "b=GET k"}, ":a = 1 AND :b = '3'"));
  CHECK(gives({"SET k 5", script(fence, "1 k 3"), "b=GET k"}, ":a = 0 AND :b = '5'"));
}

TEST_CASE("scripts answer as Redis does") {
  CHECK(gives({"a=EVAL \\\"return {1, 2.9, 'x', false}\\\" 0"}, ":a.count = 4 AND :a.answer2 = 2 AND :a.answer3 = 'x' AND :a.answer4 IS NULL"));
  CHECK(gives({"a=EVAL \\\"return {1, nil, 3}\\\" 0"}, ":a.count = 1"));
  CHECK(gives({"SET k 42", "a=EVAL \\\"return redis.call('get',KEYS[1]) == tonumber(ARGV[1])\\\" 1 k 42"}, ":a IS NULL"));
  CHECK(gives({"a=EVAL \\\"return redis.call('set', 'k', 'v')\\\" 0"}, ":a = 'OK'"));
  CHECK(gives({"a=EVAL \\\"return tonumber('07') + '+1'\\\" 0"}, ":a = 8"));
  // What was done before an error stays done.
  const std::string fails = R"j({"redis": "EVAL \"redis.call('set', KEYS[1], 'x') return redis.call('incr', KEYS[1])\" 1 k",
      "on_error": {"not_an_integer": []}}, {"redis": "GET k", "into": "a"})j";
  CHECK(always("", fails, ":a = 'x'"));
}

TEST_CASE("what lies outside is refused by its name") {
  auto mistake = [](const std::string& command) {
    try {
      program_from(redis_scenario({"", fmt::format(R"j({{"redis": "{}"}}, {{"reply": 200}})j", command), "", ""}));
    } catch (const ScenarioError& e) {
      return std::string(e.diagnostics().front().message);
    }
    return std::string();
  };
  auto has = [&](const std::string& command, const std::string& part) {
    const std::string message = mistake(command);
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  has("HSET h f 1", "the Redis command HSET is not modelled");
  has("GET", "the Redis command GET takes 1 argument(s), not 0");
  has("SET k v EX", "SET takes one of EX");
  has("SET k v NX XX", "SET takes NX or XX, not both");
  has("SET k v EX 0", "above zero");
  has("EXPIRE k 10 NX GT", "takes NX alone");
  has("INCRBY k 07", "needs a number");
  has("WAIT 1 100", "WAIT needs a replica");
  has("EVAL \\\"while true do end\\\" 0", "\"while\" in a script is not modelled");
  has("EVAL \\\"return redis.call('ttl', KEYS[1])\\\" 1 k", "TTL in a script");
  has("EVAL \\\"x = 1\\\" 0", "Redis refuses global variables");
  has("EVAL \\\"return 1\\\"", "EVAL takes a script");
  CHECK(mistake("GET k").empty());
}

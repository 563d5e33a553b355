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

TEST_CASE("SET with GET counts what it did: with XX and no key nothing") {
  CHECK(gives({"a=SET k A GET", "b=SET k B GET", "c=GETSET l A"}, ":a.count = 1 AND :a IS NULL AND :b.count = 1 AND :c.count = 1 AND :c IS NULL"));
  CHECK(gives({"a=SET k A XX GET", "b=SET k A NX GET", "c=SET k B"}, ":a.count = 0 AND :b.count = 1 AND :c.count = 1"));
}

TEST_CASE("a time that is past is earlier than any that is left: GT never, LT always; without a key nothing") {
  CHECK(gives({"SET k A EX 10", "a=EXPIRE k -1 GT", "b=EXPIREAT k 1000 GT", "c=EXPIRE k 0 GT", "d=GET k"},
              ":a = 0 AND :b = 0 AND :c = 0 AND :d = 'A'"));
  CHECK(gives({"SET k A EX 10", "a=EXPIRE k -1 LT", "b=EXISTS k", "c=EXPIRE k -1 LT"}, ":a = 1 AND :b = 0 AND :c = 0"));
  const std::string given = R"j({"set": {"t": "-1"}}, )j" + commands({"SET k A EX 10", "a=EXPIRE k :t GT", "b=EXPIRE k :t LT", "c=EXISTS k"});
  CHECK(always("", given, ":a = 0 AND :b = 1 AND :c = 0"));
}

TEST_CASE("a time to live of 0 is an error before the key is looked at, and what overflows is one too") {
  // 1 when the last command failed with ERR, 2 when it was not a number.
  auto fails = [](const std::string& before, const std::string& command) {
    return before + R"j({"set": {"e": "0"}}, {"redis": ")j" + command +
           R"j(", "on_error": {"other": [{"set": {"e": "1"}}], "not_an_integer": [{"set": {"e": "2"}}]}})j";
  };
  const std::string zero = R"j({"set": {"t": "0"}}, {"redis": "SET k A"}, )j";
  CHECK(always("", fails(zero, "SET k B NX EX :t"), ":e = 1"));
  CHECK(always("", fails(zero, "SET l B XX PX :t"), ":e = 1"));
  CHECK(always("", fails(R"j({"set": {"t": "1"}}, {"redis": "SET k A"}, )j", "SET k B NX EX :t"), ":e = 0"));
  const std::string most = R"j({"set": {"t": "'9223372036854775807'"}}, {"redis": "SET k A"}, )j";
  CHECK(always("", fails(most, "SET k B EX :t"), ":e = 1"));
  CHECK(always("", fails(most, "SET k B PX :t"), ":e = 1"));
  CHECK(always("", fails(most, "EXPIRE k :t"), ":e = 1"));
  CHECK(always("", fails(R"j({"set": {"t": "'-9223372036854775807'"}}, )j", "EXPIRE l :t"), ":e = 1"));
  CHECK(always("", fails(R"j({"set": {"t": "'99999999999999999999'"}}, )j", "EXPIRE l :t"), ":e = 2"));
  CHECK(always("", fails(R"j({"redis": "SET n 9223372036854775807"}, )j", "INCR n"), ":e = 1"));
  CHECK(always("", fails(R"j({"redis": "SET n -9223372036854775808"}, )j", "DECRBY n 1"), ":e = 1"));
  CHECK(always("", fails(R"j({"set": {"t": "'-9223372036854775808'"}}, )j", "DECRBY n :t"), ":e = 1"));
}

TEST_CASE("on_error: other leaves the classes that have a name of their own to their handlers") {
  auto steps = [](const std::string& handlers) {
    return R"j({"set": {"e": "0"}}, {"redis": "SET n x"}, {"redis": "INCR n", "on_error": {)j" + handlers + "}}";
  };
  const std::string own = R"j("not_an_integer": [{"set": {"e": "2"}}])j", other = R"j("other": [{"set": {"e": "1"}}])j";
  CHECK(always("", steps(own + ", " + other), ":e = 2"));
  CHECK(always("", steps(other + R"j(, "any": [{"set": {"e": "3"}}])j"), ":e = 3"));
}

TEST_CASE("the owner of a key is who gave it its value, not who changes its time to live or counts") {
  // The first handler makes the key, rests, and does `own`; the other one does `other` in between.
  auto verdict = [](const std::string& makes, const std::string& own, const std::string& other) {
    const std::string steps = R"j({"redis": "INCR turn", "into": "n"}, {"if": ":n = 1", "then": [{"redis": ")j" + makes +
                              R"j("}, {"redis": "SET turn 5"}, {"pause": true}, )j" + own +
                              R"j({"redis": "GET lock"}, {"reply": 200}]}, {"if": ":n = 6", "then": [)j" + other + R"j({"pause": true}, {"redis": "GET lock"}]}, {"reply": 200})j";
    return verdict_of_redis({"", steps, R"j(, "clicks": 2)j", "", R"j("only-owner-releases")j"});
  };
  auto step = [](const std::string& command) { return R"j({"redis": ")j" + command + R"j("}, )j"; };
  const std::string del = step("DEL lock");
  CHECK(verdict("SET lock A EX 10", "", del) == Verdict::Violated);
  CHECK(verdict("INCR lock", "", del) == Verdict::Violated);
  for (const char* touch : {"EXPIRE lock 30", "PERSIST lock", "INCR lock", "SET lock B NX", "SETNX lock B"}) {
    CAPTURE(touch);
    const std::string makes = "SET lock 1 EX 10";
    CHECK(verdict(makes, "", step(touch) + del) == Verdict::Violated);
    CHECK(verdict(makes, del, step(touch)) == Verdict::Holds);
  }
  // Who overwrites it has taken it over.
  for (const char* writes : {"SET lock B", "GETSET lock B", "MSET lock B", "SET lock B KEEPTTL"}) {
    CAPTURE(writes);
    CHECK(verdict("SET lock 1 EX 10", "", step(writes) + del) == Verdict::Holds);
    CHECK(verdict("SET lock 1 EX 10", del, step(writes)) == Verdict::Violated);
  }
  CHECK(verdict("SET lock 1", "", step("EXPIRE lock -1")) == Verdict::Violated);  // that deletes
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
  has("EVAL \\\"return 1 return 2\\\" 0", "\"return\" ends a block");
  has("EVAL \\\"local x = redis.call('mget', 'a') return {1, x}\\\" 0", "a list in a list");
  has("EVAL \\\"return {redis.call('mget', 'a') or 1}\\\" 0", "a list in a list");
  has("EVAL \\\"local x = 2.5 return x > 2\\\" 0", "a number with a fraction");
  has("SET k v EX 9223372036854775807", "is too large");
  has("EXPIRE k -9223372036854775807", "is too large");
  has("DECRBY k -9223372036854775808", "is too large");
  has("SET k v EXAT 0", "above zero");
  CHECK(mistake("GET k").empty());
}

TEST_CASE("what is too long or too deep is refused, and does not take long") {
  auto repeated = [](const std::string& part, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += part;
    return out;
  };
  auto has = [&](const std::string& command, const std::string& part) {
    std::string message;
    try {
      program_from(redis_scenario({"", fmt::format(R"j({{"redis": "{}"}}, {{"reply": 200}})j", command), "", ""}));
    } catch (const ScenarioError& e) {
      message = e.diagnostics().front().message;
    }
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  auto script = [](const std::string& text) { return "EVAL \\\"" + text + "\\\" 0"; };
  has("SET k " + repeated("{:key}", 10'000), "more than 16 {:name} in one word");
  has("SET k " + repeated("x", 70'000), "longer than 64 KiB");
  has(script("return " + repeated("(", 20'000) + "1" + repeated(")", 20'000)), "nested too deeply");
  has(script("return " + repeated("not ", 10'000) + "1"), "nested too deeply");
  has(script("return " + repeated("{", 20'000) + repeated("}", 20'000)), "nested too deeply");
  has(script(repeated("if 1 then ", 3'000) + repeated("end ", 3'000)), "nested too deeply");
  has(script(repeated("if 1 then elseif 1 then ", 1) + repeated("elseif 1 then ", 3'000) + "end"), "nested too deeply");
  has(script("return 1" + repeated(" + 1", 10'000)), "too many terms");
  has(script("return 1" + repeated(" and 1", 10'000)), "too many terms");
}

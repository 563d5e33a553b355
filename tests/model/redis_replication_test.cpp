// Replicas, WAIT, failover, partition; each fault in a scenario where it alone makes the difference.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "tests/support/redis_scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kTwoClicks = R"j(, "clicks": 2)j";
const std::string kFailover = R"j("failover": 1)j";
const std::string kOne = R"j("replicas": 1)j", kTwo = R"j("replicas": 2)j";
const std::string kTaken = R"j(, "into": "lock"}, {"if": ":lock IS NULL", "then": [{"reply": 409}]}, )j";
const std::string kAnswered = R"j({"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 200})j";
const std::string kLocked = R"j({"redis": "SET lock 1 NX")j" + kTaken + kAnswered;

Verdict judge(const std::string& redis, const std::string& steps, const std::string& faults) {
  return verdict_of_redis({redis, steps, kTwoClicks, faults});
}

}  // namespace

TEST_CASE("a failover loses writes that were answered; a budget of 0 never fails over") {
  for (const std::string& redis : {kOne, kTwo}) {
    CAPTURE(redis);
    CHECK(judge(redis, kLocked, "") == Verdict::Holds);
    CHECK(judge(redis, kLocked, R"j("failover": 0)j") == Verdict::Holds);
    CHECK(judge(redis, kLocked, kFailover) == Verdict::Violated);
  }
  CHECK(judge("", kLocked, kFailover) == Verdict::Holds);  // no replica, no failover
}

TEST_CASE("a lost DEL keeps the lock for ever, a lost EXEC is lost as a whole") {
  const std::string del = R"j({"redis": "SET k 1"}, {"redis": "WAIT 1 0"}, {"redis": "DEL k"}, {"redis": "EXISTS k", "into": "a"})j";
  CHECK(always(kOne, del, ":a = 0"));
  CHECK(!always(kOne, del, ":a = 0", kFailover));
  const std::string both = R"j({"redis": "MULTI"}, {"redis": "SET a 1"}, {"redis": "SET b 1"}, {"redis": "EXEC", "on_error": {"any": []}},
      {"redis": "EXISTS a b", "into": "n"})j";
  CHECK(!always(kOne, both, ":n = 2", kFailover));
  CHECK(always(kOne, both, ":n = 0 OR :n = 2", kFailover));
  const std::string singly = R"j({"redis": "SET a 1"}, {"redis": "SET b 1"}, {"redis": "EXISTS a b", "into": "n"})j";
  CHECK(!always(kOne, singly, ":n = 0 OR :n = 2", kFailover));
}

TEST_CASE("WAIT answers how many have confirmed; without a time-out at least as many as asked for") {
  auto waits = [](const std::string& wait) { return R"j({"redis": "SET k 1"}, {"redis": ")j" + wait + R"j(", "into": "n"})j"; };
  CHECK(always(kOne, waits("WAIT 1 100"), ":n = 0 OR :n = 1"));
  CHECK(!always(kOne, waits("WAIT 1 100"), ":n = 1"));
  CHECK(always(kOne, waits("WAIT 1 0"), ":n = 1"));
  CHECK(always(kTwo, waits("WAIT 2 0"), ":n = 2"));
  CHECK(always(kTwo, waits("WAIT 1 0"), ":n = 1 OR :n = 2"));
  CHECK(!always(kTwo, waits("WAIT 1 0"), ":n = 2"));
}

TEST_CASE("what all replicas have confirmed survives a failover, what one of two has may not") {
  // The first GET finds out whether the failover came before the WAIT; there is only one.
  auto survives = [](const std::string& redis, const std::string& wait) {
    return always(redis, R"j({"redis": "SET k 1"}, )j" + wait + R"j({"redis": "GET k", "into": "b"}, {"if": ":b IS NULL", "then": [{"reply": 503}]},
        {"redis": "GET k", "into": "a"})j", ":a = '1'", kFailover);
  };
  for (const char* clocks : {"agree", "differ"}) {  // replicas told apart, or not
    CAPTURE(clocks);
    const std::string more = fmt::format(R"j(, "clocks": "{}")j", clocks);
    CHECK(!survives(kOne + more, ""));
    CHECK(survives(kOne + more, R"j({"redis": "WAIT 1 0"}, )j"));
    CHECK(!survives(kTwo + more, R"j({"redis": "WAIT 1 0"}, )j"));
    CHECK(survives(kTwo + more, R"j({"redis": "WAIT 2 0"}, )j"));
  }
}

TEST_CASE("WAIT asks for what was written before this connection's last command") {
  // The second handler writes b, then its row. The first one knows of it by the row, and waits.
  auto first_one = [](const std::string& between) {
    return R"j({"redis": "INCR n", "into": "n"}, {"if": ":n > 1", "then": [{"redis": "SET b 1"}, )j" + kAnswered +
           R"j(]}, {"sql": "SELECT id FROM work", "into": "w"}, {"if": ":w.count = 0", "then": [{"reply": 200}]}, )j" + between +
           R"j({"redis": "WAIT 1 0"}, {"redis": "GET b", "into": "b"}, {"if": ":b IS NULL", "then": [{"reply": 503}]},
           {"redis": "GET b", "into": "b"}, {"if": ":b IS NULL", "then": [{"reply": 404}]}, {"reply": 200})j";
  };
  const std::string never = R"j({"name": "never", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j";
  CHECK(verdict_of_redis({kOne, first_one(""), kTwoClicks, kFailover, never}) == Verdict::Violated);
  CHECK(verdict_of_redis({kOne, first_one(R"j({"redis": "PING"}, )j"), kTwoClicks, kFailover, never}) == Verdict::Holds);
}

TEST_CASE("a replica that is read may lag") {
  auto read_back = [](const std::string& replica) {
    return R"j({"redis": "SET k 1"}, {"redis": "GET k", "into": "a")j" + replica + "}";
  };
  CHECK(always(kOne, read_back(""), ":a = '1'"));
  CHECK(!always(kOne, read_back(R"j(, "replica": true)j"), ":a = '1'"));
  CHECK(always(kOne, R"j({"redis": "SET k 1"}, {"redis": "WAIT 1 0"}, {"redis": "GET k", "replica": true, "into": "a"})j", ":a = '1'"));
  CHECK(!always(kTwo, R"j({"redis": "SET k 1"}, {"redis": "WAIT 1 0"}, {"redis": "GET k", "replica": true, "into": "a"})j", ":a = '1'"));
  CHECK(always(kTwo, R"j({"redis": "SET k 1"}, {"redis": "WAIT 2 0"}, {"redis": "GET k", "replica": true, "into": "a"})j", ":a = '1'"));
}

TEST_CASE("split brain: during a partition the old primary goes on answering its own clients") {
  const std::string both = R"j("partition": 1, "failover": 1)j";
  CHECK(judge(kOne, kLocked, R"j("partition": 1)j") == Verdict::Holds);
  CHECK(judge(kOne, kLocked, both) == Verdict::Violated);
  // The new primary has not got what the old one answered.
  const std::string reads = R"j({"redis": "SET k A"}, {"redis": "WAIT 1 0"}, {"redis": "SET k B"}, {"redis": "GET k", "into": "a"})j";
  CHECK(always(kOne, reads, ":a = 'B'", R"j("partition": 1)j"));
  CHECK(!always(kOne, reads, ":a = 'B'", both));
}

TEST_CASE("min-replicas-to-write refuses writes once the primary misses its replicas, and not before") {
  const std::string strict = R"j("replicas": 1, "min_replicas": 1)j";
  const std::string write = R"j({"set": {"e": "0"}}, {"redis": "SET k 1", "on_error": {"noreplicas": [{"set": {"e": "1"}}]}})j";
  const std::string cut = R"j("partition": 1)j";
  CHECK(always(strict, write, ":e = 0"));
  CHECK(always(kOne, write, ":e = 0", cut));
  CHECK(!always(strict, write, ":e = 0", cut));
  // EXEC of a transaction with such a write is refused as a whole.
  const std::string refused = R"j({"set": {"e": "0"}}, {"redis": "MULTI"}, {"redis": "SET k 1", "on_error": {"noreplicas": []}},
      {"redis": "EXEC", "on_error": {"execabort": [{"set": {"e": "1"}}], "noreplicas": [{"set": {"e": "2"}}]}})j";
  CHECK(!always(strict, refused, ":e = 0", cut));
  CHECK(always(strict, refused, ":e = 0 OR :e = 1", cut));
}

TEST_CASE("the old primary comes back without its own writes") {
  const std::string both = R"j("partition": 1, "failover": 1)j";
  const std::string steps = R"j({"redis": "INCR n", "into": "a"}, {"redis": "INCR n", "into": "b"})j";
  CHECK(always(kOne, steps, ":b = 2", R"j("partition": 1)j"));
  CHECK(!always(kOne, steps, ":b = 2", both));          // the counter starts again: a fencing number twice
  CHECK(always(kOne, steps, ":b = 2 OR :b = 1", both));
}

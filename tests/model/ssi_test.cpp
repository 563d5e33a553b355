// SERIALIZABLE on PostgreSQL as `check` explores it: no write skew, and failures that only coarse read tracking makes.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Two requests with different keys, each in one transaction of the level.
Verdict verdict(const std::string& level, const std::string& steps, const std::string& promise) {
  const std::string text = fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "isolation": "{}", "schema": [
      "CREATE TABLE doctor (name text PRIMARY KEY, on_call int NOT NULL)",
      "INSERT INTO doctor VALUES ('A', 1), ('B', 1)", "CREATE TABLE taken (id text PRIMARY KEY)"]}}}},
    "services": {{"s": {{"on_request": [{{"sql": "BEGIN"}}, {}, {{"sql": "COMMIT"}}, {{"reply": 200}}]}}}},
    "clients": {{"a": {{"requests": [{{"to": "s", "key": "A"}}]}}, "b": {{"requests": [{{"to": "s", "key": "B"}}]}}}},
    "invariants": [{}]
  }})j",
                                       level, steps, promise);
  const CheckResult result = check(*program_from(text));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

const char* const kSkew = R"j({"sql": "SELECT sum(on_call) AS n FROM doctor", "into": "on"},
    {"if": ":on.n > 1", "then": [{"sql": "UPDATE doctor SET on_call = 0 WHERE name = :key"}]})j";
const char* const kSomeone = R"j({"name": "someone", "always_empty":
    "SELECT 1 AS nobody FROM db.doctor HAVING sum(on_call) = 0"})j";
const char* const kOwnKeys = R"j({"sql": "SELECT id FROM taken WHERE id = :key", "into": "row"},
    {"sql": "INSERT INTO taken VALUES (:key)"})j";
const char* const kServed = R"j({"name": "served", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'unknown'"})j";

}  // namespace

TEST_CASE("write skew passes at REPEATABLE READ and not at SERIALIZABLE") {
  CHECK(verdict("read committed", kSkew, kSomeone) == Verdict::Violated);
  CHECK(verdict("repeatable read", kSkew, kSomeone) == Verdict::Violated);
  CHECK(verdict("serializable", kSkew, kSomeone) == Verdict::Holds);
}

TEST_CASE("transactions on different keys may fail at SERIALIZABLE: how finely reads are tracked is up to the server") {
  CHECK(verdict("repeatable read", kOwnKeys, kServed) == Verdict::Holds);
  CHECK(verdict("serializable", kOwnKeys, kServed) == Verdict::Violated);
}

// Small scenarios around one Redis: what a handler finds, and whether an effect can happen twice.
#pragma once

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

namespace oncecheck::testing {

struct RedisCase {
  std::string redis;   // keys of the redis, without braces
  std::string steps;   // of the handler
  std::string client;  // keys of the client besides its request
  std::string faults;
  std::string promise = R"j("no-duplicate-effect")j";
};

inline std::string redis_scenario(const RedisCase& c) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE work (id text NOT NULL)"], "effects": ["work"]}}}},
    "redis": {{"r": {{{}}}}},
    "services": {{"s": {{"on_request": [{}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     c.redis, c.steps, c.client, c.faults, c.promise);
}

inline Verdict verdict_of_redis(const RedisCase& c) {
  const CheckResult result = check(*program_from(redis_scenario(c)));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

// Whether the expression is true after the steps, on every path; asked twice, so that neither answer comes for nothing.
inline bool always(const std::string& redis, const std::string& steps, const std::string& expression, const std::string& faults = "") {
  auto verdict = [&](const std::string& condition) {
    const std::string judged = fmt::format(R"j({}, {{"if": "{}", "then": [{{"reply": 200}}]}}, {{"reply": 404}})j", steps, condition);
    return verdict_of_redis({redis, judged, "", faults, R"j({"name": "never", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j"});
  };
  return verdict("(" + expression + ")") == Verdict::Holds && verdict("NOT (" + expression + ")") == Verdict::Violated;
}

}  // namespace oncecheck::testing

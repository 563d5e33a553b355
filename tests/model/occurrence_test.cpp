// What "must_reach" can ask for by name: each in a scenario where it happens, and in one that differs in a word where it cannot.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {


const char* const kCharge = R"~("providers": { "p": { "operations": { "charge": {} }, "lookup": "consistent" } }, )~";
const char* const kOneClick = R"~("clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } })~";

std::string charged(const std::string& step, const std::string& faults, const std::string& before = "") {
  return std::string(kCharge) + R"~("services": { "s": { "on_request": [ )~" + before + step + R"~(, { "reply": 200 } ] } }, )~" + kOneClick + R"~(, "faults": { )~" + faults + " }";
}

std::string clicks(const std::string& client, const std::string& faults = "") {
  return R"~("services": { "s": { "on_request": [ { "pause": true }, { "reply": 200 } ] } }, "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ])~" +
         client + R"~( } }, "faults": { )~" + faults + " }";
}

std::string redis(const std::string& command, const std::string& server, const std::string& faults) {
  return R"~("redis": { "r": { )~" + server + R"~( } }, "services": { "s": { "on_request": [ { "redis": ")~" + command + R"~(" }, { "pause": true }, { "reply": 200 } ] } }, )~" +
         kOneClick + R"~(, "faults": { )~" + faults + " }";
}

std::string update(const std::string& row) { return R"~({ "sql": "UPDATE t SET n = n + 1 WHERE id = )~" + row + R"~(" }, )~"; }

std::string both_rows(const std::string& first, const std::string& second) {
  return R"~([ { "sql": "BEGIN" }, )~" + update(first) + update(second) + R"~({ "sql": "COMMIT" }, { "reply": 200 } ])~";
}

std::string two_rows(const std::string& first, const std::string& second) {
  return R"~("databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id int PRIMARY KEY, n int)", "INSERT INTO t VALUES (1, 0), (2, 0)" ] } },
    "services": { "s": { "on_request": )~" + both_rows("1", "2") + R"~(, "endpoints": { "other": )~" + both_rows(first, second) + R"~( } } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] }, "e": { "requests": [ { "to": "s.other", "key": "L" } ] } })~";
}

std::string lease(const std::string& value, const std::string& faults) {
  return R"~("databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text PRIMARY KEY, until timestamptz)" ] } },
    "services": { "s": { "on_request": [ { "sql": "INSERT INTO t VALUES (:key, )~" + value +
         R"~()" }, { "sql": "SELECT id FROM t WHERE until < NOW()" }, { "reply": 200 } ] } }, )~" + kOneClick + R"~(, "faults": { )~" + faults + " }";
}

// A call that comes late is refused: its key has been cancelled.
std::string cancelled(const std::string& how) {
  return R"~("providers": { "p": { "operations": { "charge": { "idempotency_key": "honoured" }, "cancel": { "cancels": "charge" } } } },
    "services": { "s": { "on_request": [ { "call": "p.)~" + how + R"~(", "key": ":key" }, { "call": "p.charge", "key": ":key", "timeout": "1s", "on_timeout": [], "on_error": [] }, { "reply": 200 } ] } }, )~" +
         kOneClick + R"~(, "faults": { "timeout": 1 })~";
}

// The provider says yes and does nothing, always.
std::string swallowed() {
  return charged(R"~({ "call": "p.charge", "key": ":key", "timeout": "1s", "on_timeout": [] })~", R"~("lose_response": { "max": 0, "provider": "p" }, "ok_without_effect": 1)~");
}

std::string effect_row(const std::string& effects) {
  return R"~("databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text)" ], "effects": [ )~" + std::string(effects == "true" ? R"~("t")~" : "") + R"~( ] } },
    "services": { "s": { "on_request": [ { "sql": "INSERT INTO t VALUES (:key)" }, { "pause": true }, { "reply": 200 } ] } }, )~" + kOneClick + R"~(, "faults": { "crash": 1 })~";
}

bool reached(const std::string& parts, const std::string& name) {
  INFO(parts);
  const auto program = program_from(R"~({ "title": "t", )~" + parts + R"~(, "must_reach": [ ")~" + name + R"~(" ], "invariants": [] })~");
  const CheckResult r = check(*program, {});
  REQUIRE(r.complete);
  return r.unseen.must_reach.empty();
}

}  // namespace

TEST_CASE("each occurrence is seen where it happens, and not where it cannot") {
  const std::string call = R"~({ "call": "p.charge", "key": ":key" })~", patient = R"~({ "call": "p.charge", "key": ":key", "on_error": [] })~";
  const std::string hurried = R"~({ "call": "p.charge", "key": ":key", "timeout": "1s", "on_timeout": [] })~";
  struct Pair {
    std::string name, happens, never;
  };
  const std::vector<Pair> pairs = {
      {"duplicate-in-flight", clicks(R"~(, "clicks": 2)~"), clicks("")},
      // Another operation is no copy.
      {"duplicate-in-flight", clicks(R"~(, "timeout": "1s", "retries": 1)~", R"~("timeout": 1)~"),
       R"~("services": { "s": { "on_request": [ { "pause": true }, { "reply": 200 } ] } },
          "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] }, "e": { "requests": [ { "to": "s", "key": "L" } ] } })~"},
      {"retry-in-flight", clicks(R"~(, "timeout": "1s", "retries": 1)~", R"~("timeout": 1)~"), clicks(R"~(, "clicks": 2)~")},
      {"retry-in-flight", clicks(R"~(, "timeout": "1s", "retries": "unlimited")~", R"~("timeout": 1)~"), clicks(R"~(, "timeout": "1s", "retries": 0)~", R"~("timeout": 1)~")},
      {"acknowledged-write-lost", redis("SET k v", R"~("replicas": 1)~", R"~("failover": 1)~"), redis("GET k", R"~("replicas": 1)~", R"~("failover": 1)~")},
      {"acknowledged-write-lost", redis("SET k v", R"~("persistence": "none")~", R"~("restart_redis": 1)~"),
       redis("SET k v", R"~("persistence": "always")~", R"~("restart_redis": 1)~")},
      {"answer-lost-after-effect", charged(hurried, R"~("lose_response": 1)~"), charged(hurried, R"~("lose_request": 1)~")},
      {"answer-lost-after-effect", charged(hurried, R"~("lose_response": { "max": 1, "provider": "p" })~"),
       charged(R"~({ "call": "p.lookup", "key": ":key", "timeout": "1s", "on_timeout": [] })~", R"~("lose_response": { "max": 1, "provider": "p" })~")},
      {"late-effect", charged(hurried, R"~("timeout": 1)~"), charged(call, R"~("timeout": 1)~")},
      {"late-effect", charged(call, R"~("crash": 1)~"), charged(patient, R"~("lose_response": { "max": 1, "service": "s" })~")},
      {"crash-in-flight", charged(call, R"~("crash": 1)~"), charged(call, R"~("crash": 0)~")},
      {"crash-after-effect", charged(call, R"~("crash": 1)~"), charged(R"~({ "call": "p.lookup", "key": ":key" })~", R"~("crash": 1)~")},
      {"crash-after-effect", charged(call, R"~("deploy": 1)~"),
       std::string(kCharge) + R"~("services": { "s": { "drain": true, "on_request": [ { "call": "p.charge", "key": ":key" }, { "reply": 200 } ] } }, )~" + kOneClick +
           R"~(, "faults": { "deploy": 1 })~"},
      // The charge is refused; it is one of two; the effect is a row of the service's own.
      {"late-effect", charged(hurried + ", " + hurried, R"~("timeout": 1)~"), cancelled("cancel")},
      {"answer-lost-after-effect", charged(hurried, R"~("lose_response": 1, "ok_without_effect": 1)~"), swallowed()},
      {"crash-after-effect", effect_row("true"), effect_row("false")},
      {"timer-passes-in-flight", lease("NOW() + interval '1 minute'", R"~("expire": 1)~"), lease("NULL", R"~("expire": 1)~")},
      {"timer-passes-in-flight", redis("SET k v EX 9", "", R"~("expire": 1)~"), redis("SET k v", "", R"~("expire": 1)~")},
      {"deadlock", two_rows("2", "1"), two_rows("1", "2")},
  };
  std::vector<std::string> asked;
  for (const Pair& p : pairs) {
    CAPTURE(p.name);
    CHECK(reached(p.happens, p.name));
    CHECK(!reached(p.never, p.name));
    asked.emplace_back(p.name);
  }
  for (int i = 0; i < kOccurrences; ++i) {
    CAPTURE(occurrence_name(static_cast<Occurrence>(i)));
    CHECK(std::find(asked.begin(), asked.end(), occurrence_name(static_cast<Occurrence>(i))) != asked.end());
  }
}

TEST_CASE("a handler that goes on for nobody is known by its key where several operations come to its endpoint") {
  const auto scenario = [](const std::string& statement) {
    return R"~("databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text)" ] } },
      "services": { "s": { "on_request": [ { "pause": true }, { "sql": ")~" + statement + R"~(" }, { "reply": 200 } ] } },
      "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ], "timeout": "1s", "retries": 1 }, "e": { "requests": [ { "to": "s", "key": "L" } ] } },
      "faults": { "timeout": 1 })~";
  };
  CHECK(reached(scenario("INSERT INTO t VALUES (:key)"), "retry-in-flight"));
  // The key is forgotten at once: whose handler it is, nobody can tell.
  CHECK(!reached(scenario("INSERT INTO t VALUES ('x')"), "retry-in-flight"));
}

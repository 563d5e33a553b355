// Services that call services, queues between them, several code versions and deploys: each alone decides a verdict.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Parts {
  std::string services = {};
  std::string queues = {};
  std::string client = R"j("requests": [{"to": "s", "key": "K", "amount": 5}])j";
  std::string faults = {};
  std::string promise = R"j("no-duplicate-effect")j";
};

std::string scenario(const Parts& p) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE work (id text NOT NULL)",
      "CREATE TABLE done (id text PRIMARY KEY)", "CREATE TABLE outbox (id text PRIMARY KEY, state text)"], "effects": ["work"]}}}},
    "queues": {{{}}},
    "services": {{{}}},
    "clients": {{"c": {{{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     p.queues, p.services, p.client, p.faults, p.promise);
}

Verdict verdict(const Parts& p) {
  const CheckResult result = check(*program_from(scenario(p)));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

const char* const kUndone =
    R"j({"name": "done", "finally_empty": "SELECT o.identity FROM facts.operations o WHERE NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = o.identity)"})j";
const char* const kHalves =
    R"j({"name": "halves", "finally_empty": "SELECT id FROM db.work WHERE id NOT IN (SELECT id FROM db.done)"})j";
const char* const kWork = R"j({"sql": "INSERT INTO work VALUES (:key)"})j";

std::string service(const char* name, const std::string& steps, const std::string& more = "") {
  return fmt::format(R"j("{}": {{"on_request": [{}]{}}})j", name, steps, more);
}

}  // namespace

TEST_CASE("a service calls another one, which sees its arguments, and gets status and body back") {
  Parts p;
  p.promise = R"j("no-phantom-success")j";
  const std::string callee = R"j("t": {"endpoints": {"store": [{"if": ":what <> 7 OR :key <> 'K'", "then": [{"reply": 409}]},
    {"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 201, "body": "'fine'"}]}})j";
  auto caller = [](const char* what, const char* wanted) {
    return service("s", fmt::format(R"j({{"call": "t.store", "key": ":key", "what": {}, "into": "r", "on_error": [{{"reply": 500}}]}},
      {{"if": ":r.status = 201 AND :r.body = '{}'", "then": [{{"reply": 200}}]}}, {{"reply": 500}})j", what, wanted));
  };
  CHECK(verdict({.services = caller("7", "fine") + ", " + callee, .promise = kUndone}) == Verdict::Holds);
  CHECK(verdict({.services = caller("8", "fine") + ", " + callee, .promise = kUndone}) == Verdict::Violated);
  const std::string told = R"j({"name": "told", "finally_empty": "SELECT o.identity FROM facts.operations o WHERE NOT EXISTS (SELECT 1 FROM facts.told t WHERE t.outcome = 'ok')"})j";
  CHECK(verdict({.services = caller("7", "fine") + ", " + callee, .promise = told}) == Verdict::Holds);
  CHECK(verdict({.services = caller("7", "other") + ", " + callee, .promise = told}) == Verdict::Violated);
}

TEST_CASE("a call of a service that is given up goes on without its caller") {
  const std::string callee = service("t", std::string(kWork) + R"j(, {"reply": 200})j");
  auto caller = [](const char* more) {
    return service("s", fmt::format(R"j({{"call": "t", "key": ":key", "timeout": "5s"{}, "on_timeout": [{{"reply": 504}}]}}, {{"reply": 200}})j", more));
  };
  CHECK(verdict({.services = caller("") + ", " + callee, .faults = R"j("timeout": 1)j"}) == Verdict::Holds);
  // A proxy or a client library that sends a POST again by itself.
  CHECK(verdict({.services = caller(R"j(, "resends": 1)j") + ", " + callee, .faults = R"j("timeout": 1)j"}) == Verdict::Violated);
  CHECK(verdict({.services = caller(R"j(, "resends": 1)j") + ", " + callee, .faults = R"j("lose_response": {"max": 1, "service": "t"})j"}) == Verdict::Violated);
  CHECK(verdict({.services = caller(R"j(, "resends": 1)j") + ", " + callee}) == Verdict::Holds);
  CHECK(verdict({.services = caller("") + ", " + callee, .faults = R"j("lose_request": {"max": 1, "service": "t"})j", .promise = kUndone}) == Verdict::Violated);
  CHECK(verdict({.services = caller(R"j(, "resends": 1)j") + ", " + callee, .faults = R"j("lose_request": {"max": 1, "service": "t"})j", .promise = kUndone}) == Verdict::Holds);
}

TEST_CASE("a resend has the key of the first attempt") {
  auto scenario = [](const char* key) {
    return Parts{.services = service("s", fmt::format(R"j({{"call": "t", "key": {}, "identity": ":key", "timeout": "5s", "resends": 1, "on_timeout": []}}, {{"reply": 200}})j", key)) +
                     ", " + service("t", R"j({"sql": "INSERT INTO done VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"},
                       {"if": ":c.count = 1", "then": [{"sql": "INSERT INTO work VALUES (:identity)"}]}, {"reply": 200})j"),
                 .faults = R"j("timeout": 1)j"};
  };
  CHECK(verdict(scenario(R"j("gen_random_uuid()")j")) == Verdict::Holds);
  CHECK(verdict(scenario(R"j(":key")j")) == Verdict::Holds);
}

TEST_CASE("a queue delivers at least once") {
  const std::string queue = R"j("jobs": {"to": "w.run", "visibility": "30s"})j";
  const std::string producer = service("s", R"j({"publish": "jobs", "key": ":key", "amount": ":amount"}, {"reply": 202})j");
  const std::string plain = R"j("w": {"endpoints": {"run": [{"if": ":amount <> 5", "then": [{"stop": true}]}, {"sql": "INSERT INTO work VALUES (:key)"}, {"pause": true}]}})j";
  const std::string dedup = R"j("w": {"endpoints": {"run": [{"sql": "BEGIN"}, {"sql": "INSERT INTO done VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"},
    {"if": ":c.count = 1", "then": [{"sql": "INSERT INTO work VALUES (:key)"}]}, {"sql": "COMMIT"}]}})j";
  CHECK(verdict({.services = producer + ", " + plain, .queues = queue, .promise = kUndone}) == Verdict::Holds);
  CHECK(verdict({.services = producer + ", " + plain, .queues = queue}) == Verdict::Holds);
  for (const char* fault : {"redeliver", "crash"}) {
    CAPTURE(fault);
    const std::string faults = fmt::format("\"{}\": 1", fault);
    CHECK(verdict({.services = producer + ", " + plain, .queues = queue, .faults = faults}) == Verdict::Violated);
    CHECK(verdict({.services = producer + ", " + dedup, .queues = queue, .faults = faults}) == Verdict::Holds);
    // Delivered again until it is done: a crash of the consumer loses nothing.
    CHECK(verdict({.services = producer + ", " + dedup, .queues = queue, .faults = fmt::format(R"j("{}": {{"max": 1{}}})j", fault, std::string(fault) == "crash" ? R"j(, "service": "w")j" : ""), .promise = kUndone}) == Verdict::Holds);
  }
  CHECK(verdict({.services = producer + ", " + plain, .queues = queue, .faults = R"j("duplicate_request": {"max": 1, "queue": "jobs"})j"}) == Verdict::Violated);
}

TEST_CASE("a message that nobody can handle is a dead letter after so many receives") {
  const std::string producer = service("s", R"j({"publish": "jobs", "key": ":key"}, {"reply": 202})j");
  // It fails the first time only.
  const std::string flaky = R"j("w": {"endpoints": {"run": [{"sql": "INSERT INTO done VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"},
    {"if": ":c.count = 1", "then": [{"reply": 500}]}, {"sql": "INSERT INTO work VALUES (:key)"}]}})j";
  const std::string dead = R"j({"name": "no dead letter", "always_empty": "SELECT queue FROM facts.queued WHERE state = 'dead'"})j";
  CHECK(verdict({.services = producer + ", " + flaky, .queues = R"j("jobs": {"to": "w.run", "receives": 1})j", .promise = dead}) == Verdict::Violated);
  CHECK(verdict({.services = producer + ", " + flaky, .queues = R"j("jobs": {"to": "w.run", "receives": 2})j", .promise = dead}) == Verdict::Holds);
  CHECK(verdict({.services = producer + ", " + flaky, .queues = R"j("jobs": {"to": "w.run"})j", .promise = kUndone}) == Verdict::Holds);
}

TEST_CASE("publishing can fail before and after the queue has the message") {
  const std::string queue = R"j("jobs": {"to": "w"})j";
  const std::string worker = service("w", kWork);
  auto producer = [](const char* on_error) {
    return service("s", fmt::format(R"j({{"publish": "jobs", "key": ":key", "on_error": [{}]}}, {{"reply": 202}})j", on_error));
  };
  const std::string lost = R"j("lose_connection": {"max": 1, "queue": "jobs"})j";
  CHECK(verdict({.services = producer("") + ", " + worker, .queues = queue, .promise = kUndone}) == Verdict::Holds);
  CHECK(verdict({.services = producer("") + ", " + worker, .queues = queue, .faults = lost, .promise = kUndone}) == Verdict::Violated);
  const char* again = R"j({"publish": "jobs", "key": ":key"})j";
  CHECK(verdict({.services = producer(again) + ", " + worker, .queues = queue, .faults = lost, .promise = kUndone}) == Verdict::Holds);
  CHECK(verdict({.services = producer(again) + ", " + worker, .queues = queue, .faults = lost}) == Verdict::Violated);
}

TEST_CASE("an outbox and its relay") {
  const std::string queue = R"j("jobs": {"to": "w"})j";
  const std::string worker = service("w", R"j({"sql": "INSERT INTO done VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"}, {"if": ":c.count = 1", "then": [{"sql": "INSERT INTO work VALUES (:key)"}]})j");
  const std::string relay = R"j(, "jobs": {"relay": {"every": "1s", "steps": [{"for_each": "SELECT id FROM outbox WHERE state = 'NEW'", "into": "row", "do": [
    {"publish": "jobs", "key": ":row.id"}, {"sql": "UPDATE outbox SET state = 'SENT' WHERE id = :row.id"}]}]}})j";
  const std::string accept = R"j({"sql": "INSERT INTO outbox VALUES (:key, 'NEW')"}, {"reply": 202})j";
  const std::string direct = R"j({"sql": "INSERT INTO outbox VALUES (:key, 'SENT')"}, {"publish": "jobs", "key": ":key"}, {"reply": 202})j";
  const std::string crash = R"j("crash": {"max": 1, "service": "s"})j";
  const std::string promise = R"j({"name": "delivered", "finally_empty": "SELECT id FROM db.outbox WHERE id NOT IN (SELECT id FROM db.work)"})j";
  CHECK(verdict({.services = service("s", direct) + ", " + worker, .queues = queue, .faults = crash, .promise = promise}) == Verdict::Violated);
  CHECK(verdict({.services = service("s", accept, relay) + ", " + worker, .queues = queue, .faults = crash, .promise = promise}) == Verdict::Holds);
  // The relay sends at least once.
  CHECK(verdict({.services = service("s", accept, relay) + ", " + service("w", kWork), .queues = queue, .faults = crash}) == Verdict::Violated);
}

TEST_CASE("a deploy with drain lets running work end, one without does not, and a drain may be cut short") {
  const std::string steps = std::string(kWork) + R"j(, {"sql": "INSERT INTO done VALUES (:key)"}, {"reply": 200})j";
  for (const char* fault : {"deploy", "rolling_deploy"}) {
    CAPTURE(fault);
    const std::string faults = fmt::format("\"{}\": 1", fault);
    CHECK(verdict({.services = service("s", steps), .promise = kHalves}) == Verdict::Holds);
    CHECK(verdict({.services = service("s", steps), .faults = faults, .promise = kHalves}) == Verdict::Violated);
    CHECK(verdict({.services = service("s", steps, R"j(, "drain": true)j"), .faults = faults, .promise = kHalves}) == Verdict::Holds);
    const std::string limited = R"j(, "drain": "30s")j";
    CHECK(verdict({.services = service("s", steps, limited), .faults = faults, .promise = kHalves}) == Verdict::Holds);
    CHECK(verdict({.services = service("s", steps, limited), .faults = faults + R"j(, "timeout": {"max": 1, "service": "s"})j", .promise = kHalves}) == Verdict::Violated);
  }
}

TEST_CASE("a deploy brings the next version; a rolling one lets both run together") {
  // The old version works without a claim, the new one with one: they do not see each other.
  const std::string old_code = std::string(kWork) + R"j(, {"reply": 200})j";
  const std::string claim = R"j({"sql": "INSERT INTO done VALUES (:key) ON CONFLICT DO NOTHING", "into": "c"}, {"if": ":c.count = 0", "then": [{"reply": 200}]}, )j";
  auto two = [&](const std::string& first, const std::string& next) {
    return service("s", first, fmt::format(R"j(, "instances": 2, "drain": true, "next": {{"on_request": [{}]}})j", next));
  };
  const std::string twice = R"j("requests": [{"to": "s", "key": "K"}], "clicks": 2)j";
  const std::string none = R"j({"reply": 404})j";
  const std::string never = R"j({"name": "never", "always_empty": "SELECT id FROM db.work"})j";
  // Without a deploy the next version does not run.
  CHECK(verdict({.services = two(none, old_code), .promise = never}) == Verdict::Holds);
  CHECK(verdict({.services = two(none, old_code), .faults = R"j("deploy": 1)j", .promise = never}) == Verdict::Violated);
  CHECK(verdict({.services = two(none, old_code), .faults = R"j("rolling_deploy": 1)j", .promise = never}) == Verdict::Violated);
  // Each version alone is right; together they are not.
  const std::string by_done = claim + old_code;
  const std::string by_outbox = R"j({"sql": "INSERT INTO outbox VALUES (:key, 'X') ON CONFLICT DO NOTHING", "into": "c"}, {"if": ":c.count = 0", "then": [{"reply": 200}]}, )j" + old_code;
  CHECK(verdict({.services = service("s", by_done), .client = twice}) == Verdict::Holds);
  CHECK(verdict({.services = service("s", by_outbox), .client = twice}) == Verdict::Holds);
  CHECK(verdict({.services = two(by_done, by_outbox), .client = twice, .faults = R"j("rolling_deploy": 1)j"}) == Verdict::Violated);
  CHECK(verdict({.services = two(by_done, by_done), .client = twice, .faults = R"j("rolling_deploy": 1)j"}) == Verdict::Holds);
}

TEST_CASE("several copies of a job run at once") {
  auto scenario = [](int copies) {
    return Parts{.services = fmt::format(R"j("s": {{"on_request": [{{"sql": "INSERT INTO outbox VALUES (:key, 'NEW')"}}, {{"reply": 202}}],
      "jobs": {{"run": {{"every": "1s", "copies": {}, "steps": [{{"sql": "SELECT id FROM outbox WHERE state = 'NEW'", "into": "o"}},
        {{"if": ":o.count = 1", "then": [{{"sql": "INSERT INTO work VALUES (:o.id)"}}, {{"sql": "UPDATE outbox SET state = 'SENT'"}}]}}]}}}}}})j", copies)};
  };
  CHECK(verdict(scenario(1)) == Verdict::Holds);
  CHECK(verdict(scenario(2)) == Verdict::Violated);
}

TEST_CASE("bounds.tasks is how many a service works on at once, whoever sends them") {
  const auto check_with = [](int tasks) {
    return check(*program_from(fmt::format(R"j({{
      "title": "test",
      "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE running (n int)", "INSERT INTO running VALUES (0)"]}}}},
      "queues": {{"q": {{"to": "w.take", "visibility": "30s"}}}},
      "services": {{
        "s": {{"on_request": [{{"publish": "q", "key": ":key"}}, {{"publish": "q", "key": ":key"}}, {{"publish": "q", "key": ":key"}}, {{"reply": 202}}]}},
        "w": {{"endpoints": {{"take": [{{"sql": "UPDATE running SET n = n + 1"}}, {{"sql": "UPDATE running SET n = n - 1"}}]}}}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]}}}},
      "bounds": {{"tasks": {}}},
      "invariants": [{{"name": "never three", "always_empty": "SELECT n FROM db.running WHERE n >= 3"}}]
    }})j", tasks))).invariants[0].verdict;
  };
  CHECK(check_with(0) == Verdict::Violated);
  CHECK(check_with(2) == Verdict::Holds);
  CHECK(check_with(3) == Verdict::Violated);
}

TEST_CASE("412 of a service is class exists at its caller") {
  Parts p;
  p.promise = R"j("no-false-failure")j";
  for (const auto& [status, failed] : {std::pair{412, true}, {422, false}}) {
    CAPTURE(status);
    p.services = service("s", R"j({"sql": "INSERT INTO work VALUES (:key)"}, {"call": "t", "key": ":key", "on_error": {"exists": [{"reply": 400}], "any": []}}, {"reply": 200})j") +
                 ", " + service("t", fmt::format(R"j({{"reply": {}}})j", status));
    CHECK(verdict(p) == (failed ? Verdict::Violated : Verdict::Holds));
  }
}

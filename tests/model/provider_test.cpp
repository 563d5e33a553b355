// What a provider remembers, takes back, refuses, finds and tells: each behaviour alone decides a verdict.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "model/program/provider_presets.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Parts {
  std::string operations = R"j("charge": {"idempotency_key": "honoured"})j";
  std::string lookup = R"j(, "lookup": "consistent")j";
  std::string steps = {};
  std::string endpoints = {};  // besides on_request
  std::string client = {};
  std::string faults = {};
  std::string promise = R"j("no-duplicate-effect")j";
};

std::string scenario(const Parts& p) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id text PRIMARY KEY, state text)"]}}}},
    "providers": {{"p": {{"operations": {{{}}}{}}}}},
    "services": {{"s": {{"on_request": [{}], "endpoints": {{{}}}}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K", "amount": 5}}]{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     p.operations, p.lookup, p.steps, p.endpoints, p.client, p.faults, p.promise);
}

Verdict verdict(const Parts& p) {
  const CheckResult result = check(*program_from(scenario(p)));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

// A client that is told 500 tries again, once.
const char* const kRetries = R"j(, "retries": 1)j";
const char* const kChargeOnce = R"j({"call": "p.charge", "key": ":key", "amount": ":amount"}, {"reply": 200})j";
// A promise that breaks when the operation is never told as done.
const char* const kSucceeds =
    R"j({"name": "succeeds", "finally_empty": "SELECT o.identity FROM facts.operations o WHERE NOT EXISTS (SELECT 1 FROM facts.told t WHERE t.outcome = 'ok')"})j";

std::string charge(const std::string& more) { return R"j("charge": {"idempotency_key": "honoured")j" + more + "}"; }

}  // namespace

TEST_CASE("a key that is honoured, ignored, or honoured at times") {
  Parts p;
  p.steps = kChargeOnce;
  p.client = kRetries;
  p.faults = R"j("error_after_effect": 1)j";
  CHECK(verdict(p) == Verdict::Holds);
  p.operations = R"j("charge": {"idempotency_key": "ignored"})j";
  CHECK(verdict(p) == Verdict::Violated);
  p.operations = R"j("charge": {"idempotency_key": "sometimes"})j";
  CHECK(verdict(p) == Verdict::Violated);
}

TEST_CASE("an error that is stored is replayed for ever") {
  Parts p;
  p.steps = kChargeOnce;
  p.client = kRetries;
  p.promise = kSucceeds;
  for (const char* fault : {"error_after_effect", "error_before_effect"}) {
    CAPTURE(fault);
    p.faults = fmt::format("\"{}\": 1", fault);
    p.operations = charge("");
    CHECK(verdict(p) == Verdict::Holds);
    p.operations = charge(R"j(, "stores": "everything")j");
    CHECK(verdict(p) == Verdict::Violated);
  }
}

TEST_CASE("other parameters under the same key get the first answer, or are refused") {
  Parts p;
  p.steps = R"j({"call": "p.charge", "key": ":key", "amount": 5},
    {"call": "p.charge", "key": ":key", "amount": 7, "on_error": {"refused": [{"reply": 400, "means": "failed"}]}}, {"reply": 200})j";
  p.promise = R"j("no-false-failure")j";
  CHECK(verdict(p) == Verdict::Holds);
  p.operations = charge(R"j(, "other_parameters": "refused")j");
  CHECK(verdict(p) == Verdict::Violated);
}

TEST_CASE("a request whose key is in flight waits, or is answered 409") {
  Parts p;
  p.steps = R"j({"call": "p.charge", "key": ":key", "on_error": {"conflict": [{"reply": 400, "means": "failed"}]}}, {"reply": 200})j";
  p.client = R"j(, "clicks": 2)j";
  p.promise = R"j("no-false-failure")j";
  CHECK(verdict(p) == Verdict::Holds);
  p.operations = charge(R"j(, "in_flight": "conflict")j");
  CHECK(verdict(p) == Verdict::Violated);
  // The same key never has two effects for that.
  p.promise = R"j("no-duplicate-effect")j";
  CHECK(verdict(p) == Verdict::Holds);
}

TEST_CASE("a key that the provider forgets charges again") {
  Parts p;
  p.steps = kChargeOnce;
  p.client = R"j(, "clicks": 2)j";
  p.faults = R"j("expire": 1)j";
  CHECK(verdict(p) == Verdict::Holds);
  p.operations = charge(R"j(, "forgets_after": "24h")j");
  CHECK(verdict(p) == Verdict::Violated);
  p.faults = R"j("expire": {"max": 1, "provider": "p"})j";
  CHECK(verdict(p) == Verdict::Violated);
  p.faults = "";
  CHECK(verdict(p) == Verdict::Holds);
}

TEST_CASE("an answer 200 for nothing") {
  Parts p;
  p.steps = kChargeOnce;
  p.promise = R"j("no-phantom-success")j";
  CHECK(verdict(p) == Verdict::Holds);
  p.faults = R"j("ok_without_effect": 1)j";
  CHECK(verdict(p) == Verdict::Violated);
}

TEST_CASE("a refund takes an effect back, by its id or by its key, and may be asked for twice") {
  Parts p;
  p.promise = R"j("no-false-failure")j";
  const std::string failed = R"j(, {"reply": 400})j";
  p.operations = charge("") + R"j(, "refund": {"undoes": "charge"})j";
  p.steps = R"j({"call": "p.charge", "key": ":key", "into": "c"})j" + failed;
  CHECK(verdict(p) == Verdict::Violated);
  for (const char* target : {R"j("target": ":c.id")j", R"j("target": ":key")j", R"j("key": ":key")j"}) {
    CAPTURE(target);
    const std::string refund = fmt::format(R"j({{"call": "p.refund", {}}})j", target);
    p.steps = R"j({"call": "p.charge", "key": ":key", "into": "c"}, )j" + refund + ", " + refund + failed;
    CHECK(verdict(p) == Verdict::Holds);
  }
  // There is nothing to take back under another key.
  p.steps = R"j({"call": "p.charge", "key": ":key"}, {"call": "p.refund", "key": "'other'", "on_error": {"not_found": []}})j" + failed;
  CHECK(verdict(p) == Verdict::Violated);
}

TEST_CASE("a cancelled key is refused for good: a fence against a request on its way") {
  Parts p;
  p.operations = charge("") + R"j(, "cancel": {"cancels": "charge"})j";
  p.faults = R"j("timeout": 1)j";
  p.promise = R"j("no-false-failure")j";
  const std::string late = R"j({"call": "p.charge", "key": ":key", "timeout": "5s", "on_timeout": [)j";
  p.steps = late + R"j({"reply": 400}]}, {"reply": 200})j";
  CHECK(verdict(p) == Verdict::Violated);
  p.steps = late + R"j({"call": "p.cancel", "key": ":key", "on_error": {"refused": [{"reply": 200}]}}, {"reply": 400}]}, {"reply": 200})j";
  CHECK(verdict(p) == Verdict::Holds);
}

TEST_CASE("a look-up that lags misses what was done") {
  Parts p;
  p.steps = R"j({"call": "p.lookup", "key": ":key", "into": "l"},
    {"if": "NOT :l.found", "then": [{"call": "p.charge", "key": "gen_random_uuid()", "identity": ":key"}]}, {"reply": 200})j";
  // The provider knows the charge by the key of this look-up only if it was made under it.
  p.steps = R"j({"call": "p.lookup", "key": ":key", "into": "l"},
    {"if": "NOT :l.found", "then": [{"call": "p.charge", "key": ":key"}]}, {"reply": 200})j";
  p.operations = R"j("charge": {"idempotency_key": "ignored"})j";
  p.client = R"j(, "retries": 1)j";
  p.faults = R"j("error_after_effect": 1)j";
  CHECK(verdict(p) == Verdict::Holds);
  p.lookup = R"j(, "lookup": "lagging")j";
  CHECK(verdict(p) == Verdict::Violated);
}

TEST_CASE("a look-up says what became of a key") {
  struct Case {
    const char* before;
    const char* state;
  };
  const Case cases[] = {
      {R"j({"call": "p.charge", "key": ":key"})j", "succeeded"},
      {R"j({"call": "p.charge", "key": ":key"}, {"call": "p.refund", "key": ":key"})j", "undone"},
      {R"j({"call": "p.cancel", "key": ":key"})j", "cancelled"},
      {R"j({"pause": true})j", "unknown"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.state);
    Parts p;
    p.operations = charge("") + R"j(, "refund": {"undoes": "charge"}, "cancel": {"cancels": "charge"})j";
    p.promise = kSucceeds;
    auto steps = [&](const char* state) {
      return fmt::format(R"j({}, {{"call": "p.lookup", "key": ":key", "into": "l"}}, {{"if": ":l.state = '{}'", "then": [{{"reply": 200}}]}}, {{"reply": 400}})j",
                         c.before, state);
    };
    for (const Case& other : cases) {
      p.steps = steps(other.state);
      CHECK(verdict(p) == (std::string(other.state) == c.state ? Verdict::Holds : Verdict::Violated));
    }
  }
}

TEST_CASE("a webhook may come before the answer, twice, or in another order") {
  Parts p;
  const std::string hook = R"j(, "webhook": {"to": "s.event"})j";
  const std::string insert = R"j({"sql": "INSERT INTO t VALUES (:key, 'NEW')"})j";
  const std::string update = R"j({"sql": "UPDATE t SET state = :event WHERE id = :key", "into": "u"})j";
  p.operations = charge(hook);
  p.endpoints = R"j("event": [)j" + update + R"j(, {"reply": 200}])j";
  p.promise = R"j({"name": "seen", "finally_empty": "SELECT id FROM db.t WHERE state = 'NEW'"})j";
  SUBCASE("before the row that it is for") {
    p.steps = R"j({"call": "p.charge", "key": ":key"}, )j" + insert + R"j(, {"reply": 200})j";
    CHECK(verdict(p) == Verdict::Violated);
    p.steps = insert + R"j(, {"call": "p.charge", "key": ":key"}, {"reply": 200})j";
    CHECK(verdict(p) == Verdict::Holds);
  }
  SUBCASE("it is sent again until it is taken, when the provider does so") {
    p.steps = R"j({"call": "p.charge", "key": ":key"}, )j" + insert + R"j(, {"reply": 200})j";
    p.endpoints = R"j("event": [)j" + update + R"j(, {"if": ":u.count = 0", "then": [{"reply": 500}]}, {"reply": 200}])j";
    CHECK(verdict(p) == Verdict::Violated);
    p.operations = charge(R"j(, "webhook": {"to": "s.event", "retries": 1})j");
    CHECK(verdict(p) == Verdict::Violated);  // both may come too early
  }
  SUBCASE("a lost webhook") {
    p.steps = insert + R"j(, {"call": "p.charge", "key": ":key"}, {"reply": 200})j";
    p.faults = R"j("lose_request": 1)j";
    CHECK(verdict(p) == Verdict::Violated);
  }
  SUBCASE("what it does not tell of") {
    p.steps = insert + R"j(, {"call": "p.charge", "key": ":key"}, {"reply": 200})j";
    p.operations = charge(R"j(, "webhook": {"to": "s.event", "on": ["declined"]})j");
    CHECK(verdict(p) == Verdict::Violated);
  }
  SUBCASE("an inbox goes by the event's id, not by the effect's") {
    p.operations = charge(R"j(, "webhook": {"to": "s.event"})j") + R"j(, "refund": {"undoes": "charge", "webhook": {"to": "s.event"}})j";
    p.steps = R"j({"call": "p.charge", "key": ":key", "into": "c"}, {"call": "p.refund", "target": ":c.id"}, {"reply": 202})j";
    p.promise = R"j({"name": "both events", "finally_empty": "SELECT 1 AS n WHERE (SELECT count(*) FROM db.t) <> 2"})j";
    const auto inbox = [](const char* id) {
      return fmt::format(R"j("event": [{{"sql": "INSERT INTO t VALUES (:{}, :event) ON CONFLICT DO NOTHING"}}, {{"reply": 200}}])j", id);
    };
    for (const char* faults : {"", R"j("duplicate_request": {"max": 1, "service": "s"})j"}) {
      p.faults = faults;
      p.endpoints = inbox("event_id");
      CHECK(verdict(p) == Verdict::Holds);
      p.endpoints = inbox("id");
      CHECK(verdict(p) == Verdict::Violated);
    }
  }
  SUBCASE("an older event that comes later overwrites a newer one") {
    p.operations = R"j("charge": {"idempotency_key": "none", "may_decline": true, "webhook": {"to": "s.event"}})j";
    const std::string attempt = R"j({"call": "p.charge", "key": ":key", "on_error": {"declined": [{"call": "p.charge", "key": ":key", "on_error": []}]}})j";
    p.steps = insert + ", " + attempt + R"j(, {"reply": 200})j";
    p.promise = R"j({"name": "no regression", "never_step": "OLD.state = 'succeeded' AND NEW.state = 'declined'", "table": "db.t"})j";
    CHECK(verdict(p) == Verdict::Violated);
    p.endpoints = R"j("event": [{"sql": "UPDATE t SET state = :event WHERE id = :key AND state <> 'succeeded'"}, {"reply": 200}])j";
    CHECK(verdict(p) == Verdict::Holds);
  }
}

TEST_CASE("a webhook is delivered twice by a duplicate, or while its first handler still works") {
  Parts p;
  p.operations = charge(R"j(, "webhook": {"to": "s.event", "retries": 2}), "email": {})j");
  p.operations = charge(R"j(, "webhook": {"to": "s.event", "retries": 2})j") + R"j(, "email": {})j";
  p.steps = kChargeOnce;
  p.endpoints = R"j("event": [{"call": "p.email", "identity": ":key"}, {"reply": 200}])j";
  CHECK(verdict(p) == Verdict::Holds);
  for (const char* fault : {"duplicate_request", "redeliver", "crash"}) {
    CAPTURE(fault);
    p.faults = fmt::format("\"{}\": 1", fault);
    CHECK(verdict(p) == Verdict::Violated);
  }
}

TEST_CASE("an object store: a stable name is written once, a random one each time, and If-None-Match refuses the second") {
  auto verdict_with = [](const std::string& provider, const std::string& steps, const std::string& client, const std::string& faults,
                         const std::string& promise) {
    const CheckResult result = check(*program_from(fmt::format(R"j({{
      "title": "test",
      "providers": {{"s3": {{"preset": "object-store"{}}}}},
      "services": {{"s": {{"on_request": [{}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K", "identity": "log"}}]{}}}}},
      "faults": {{{}}},
      "invariants": [{}]
    }})j", provider, steps, client, faults, promise)));
    REQUIRE(result.invariants.size() == 1);
    return result.invariants[0].verdict;
  };
  const std::string once = R"j("no-duplicate-effect")j", again = R"j("error_after_effect": 1)j", retries = kRetries;
  auto put = [](const char* operation, const char* key) {
    return fmt::format(R"j({{"call": "s3.{}", "key": {}, "body": "'text'", "on_error": {{"exists": [{{"reply": 200}}], "any": [{{"reply": 500}}]}}}}, {{"reply": 200}})j", operation, key);
  };
  CHECK(verdict_with("", put("put", R"j("'raw/' || :key")j"), retries, again, once) == Verdict::Holds);
  CHECK(verdict_with("", put("put", R"j("gen_random_uuid()")j"), retries, again, once) == Verdict::Violated);
  CHECK(verdict_with("", put("put_new", R"j("gen_random_uuid()")j"), retries, again, once) == Verdict::Violated);
  // Two writers: the second overwrites, or is refused.
  const std::string first_wins = R"j({"name": "first wins", "finally_empty": "SELECT key FROM facts.effects WHERE amount = 'b'"})j";
  auto two = [](const char* operation) {
    return fmt::format(R"j({{"call": "s3.{0}", "key": ":key", "body": "'a'"}}, {{"call": "s3.{0}", "key": ":key", "body": "'b'", "on_error": []}}, {{"reply": 200}})j", operation);
  };
  CHECK(verdict_with("", two("put"), "", "", first_wins) == Verdict::Violated);
  CHECK(verdict_with("", two("put_new"), "", "", first_wins) == Verdict::Holds);
  // GET gives the content, LIST the number; a list may lag.
  const std::string seen = R"j({"name": "seen", "finally_empty": "SELECT o.identity FROM facts.operations o WHERE NOT EXISTS (SELECT 1 FROM facts.told t WHERE t.outcome = 'ok')"})j";
  const std::string reads = R"j({"call": "s3.put", "key": "'raw/1'", "body": "'a'"}, {"call": "s3.put", "key": "'raw/2'", "body": "'b'"},
    {"call": "s3.put", "key": "'other'", "body": "'c'"}, {"call": "s3.get", "key": "'raw/2'", "into": "o"}, {"call": "s3.list", "prefix": "'raw/'", "into": "l"},
    {"if": ":o.found AND :o.body = 'b' AND :l.count = 2", "then": [{"reply": 200}]}, {"reply": 400})j";
  CHECK(verdict_with("", reads, "", "", seen) == Verdict::Holds);
  CHECK(verdict_with(R"j(, "list": "lagging")j", reads, "", "", seen) == Verdict::Violated);
  const std::string gone = R"j({"call": "s3.put", "key": ":key", "body": "'a'"}, {"call": "s3.delete", "key": ":key"}, {"call": "s3.get", "key": ":key", "into": "o"},
    {"if": "NOT :o.found", "then": [{"reply": 200}]}, {"reply": 400})j";
  CHECK(verdict_with("", gone, "", "", seen) == Verdict::Holds);
}

TEST_CASE("presets behave as they say") {
  auto with_preset = [](const std::string& preset, const std::string& steps, const std::string& client, const std::string& faults,
                        const std::string& promise) {
    return verdict_of(*program_from(fmt::format(R"j({{
      "title": "test",
      "providers": {{"p": {{"preset": "{}"}}}},
      "services": {{"s": {{"on_request": [{}]}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K", "amount": 5}}]{}}}}},
      "faults": {{{}}},
      "invariants": [{}]
    }})j", preset, steps, client, faults, promise)), promise.find("succeeds") != std::string::npos ? "succeeds" : "no-duplicate-effect");
  };
  const std::string once = R"j("no-duplicate-effect")j";
  const std::string declined_is_final = R"j({"call": "p.charge", "key": ":key", "on_error": {"declined": [{"reply": 200}]}}, {"reply": 200})j";
  CHECK(with_preset("stripe-v1", declined_is_final, kRetries, R"j("error_before_effect": 1)j", kSucceeds) == "violated");
  CHECK(with_preset("stores-successes", kChargeOnce, kRetries, R"j("error_before_effect": 1)j", kSucceeds) == "holds");
  CHECK(with_preset("stripe-v1", kChargeOnce, R"j(, "clicks": 2)j", "", once) == "holds");
  CHECK(with_preset("stripe-v1", kChargeOnce, R"j(, "clicks": 2)j", R"j("expire": 1)j", once) == "violated");
  CHECK(with_preset("ignores-keys", kChargeOnce, R"j(, "clicks": 2)j", "", once) == "violated");
  CHECK(with_preset("honours-sometimes", kChargeOnce, R"j(, "clicks": 2)j", "", once) == "violated");
  for (const ProviderPreset& p : provider_presets()) {
    if (p.name == "object-store") continue;  // it charges nobody
    CAPTURE(p.name);
    CHECK(!p.meaning.empty());
    CHECK(with_preset(p.name, kChargeOnce, "", "", once) == "holds");
  }
}

TEST_CASE("a library that sends a POST again, and a network that doubles it, charge twice without a key that is honoured") {
  for (const bool honoured : {true, false}) {
    CAPTURE(honoured);
    const Verdict expected = honoured ? Verdict::Holds : Verdict::Violated;
    Parts p;
    p.operations = fmt::format(R"j("charge": {{"idempotency_key": "{}"}})j", honoured ? "honoured" : "ignored");
    p.steps = R"j({"call": "p.charge", "key": ":key", "timeout": "5s", "resends": 1, "on_timeout": []}, {"reply": 200})j";
    CHECK(verdict(p) == Verdict::Holds);
    p.faults = R"j("timeout": {"max": 1, "provider": "p"})j";
    CHECK(verdict(p) == expected);
    p.faults = R"j("lose_response": {"max": 1, "provider": "p"})j";
    CHECK(verdict(p) == expected);
    // Without the resends the handler gives up, and nothing happens twice.
    p.steps = R"j({"call": "p.charge", "key": ":key", "timeout": "5s", "on_timeout": []}, {"reply": 200})j";
    CHECK(verdict(p) == Verdict::Holds);
    // Below the handler, which sends once and hears one answer.
    p.faults = R"j("duplicate_request": {"max": 1, "provider": "p"})j";
    CHECK(verdict(p) == expected);
  }
}

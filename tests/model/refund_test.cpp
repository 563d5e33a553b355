// Operations that take back what another one did: their own idempotency key, what a webhook says of them, and a fence that meets
// the request it is against.
#include <doctest/doctest.h>

#include <string>

#include <fmt/format.h>

#include "model/program/diagnostic.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Parts {
  std::string provider = R"j("operations": {"charge": {"idempotency_key": "honoured"}, "refund": {"idempotency_key": "honoured", "undoes": "charge"}}, "lookup": "consistent")j";
  std::string steps = {};
  std::string hook = R"j({"reply": 200})j";
  std::string client = {};
  std::string faults = {};
};

// Whether no handler answers 400.
std::string verdict(const Parts& p) {
  return verdict_of(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE bad (n int)", "CREATE TABLE seen (n int PRIMARY KEY)"]}}}},
    "providers": {{"p": {{{}}}}},
    "services": {{"s": {{"on_request": [{}]}}, "h": {{"on_request": [{}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K", "amount": 5}}]{}}}}},
    "faults": {{{}}},
    "invariants": [{{"name": "m", "always_empty": "SELECT n FROM db.bad"}}]
  }})j", p.provider, p.steps, p.hook, p.client, p.faults)), "m");
}

std::string provider(const std::string& charge, const std::string& refund) {
  return R"j("operations": {"charge": {"idempotency_key": "honoured")j" + charge +
         R"j(}, "refund": {"idempotency_key": "honoured", "undoes": "charge")j" + refund + R"j(}}, "lookup": "consistent")j";
}

std::string bad_if(const std::string& condition) {
  return R"j({"if": ")j" + condition + R"j(", "then": [{"sql": "INSERT INTO bad VALUES (1)"}]})j";
}

const std::string kCharges = R"j({"call": "p.charge", "key": "'A'", "amount": 1}, {"call": "p.charge", "key": "'B'", "amount": 1}, )j";
const std::string kReply = R"j(, {"reply": 200})j";

std::string refund(const char* target, int amount, const std::string& more = "") {
  return fmt::format(R"j({{"call": "p.refund", "key": "'R'", "target": "'{}'", "amount": {}, "into": "z", "on_error": {{"any": []}}{}}}, )j", target, amount, more);
}

}  // namespace

TEST_CASE("a refund with the same key again does nothing new and gives the first answer") {
  Parts p;
  const std::string look = R"j({"call": "p.lookup", "key": "'B'", "into": "l"}, )j";
  p.steps = kCharges + refund("A", 1) + refund("B", 1) + look + bad_if(":l.state = 'undone' OR :z.status <> 200") + kReply;
  CHECK(verdict(p) == "holds");
  for (const char* policy : {"ignored", "sometimes"}) {
    CAPTURE(policy);
    p.provider = fmt::format(R"j("operations": {{"charge": {{"idempotency_key": "honoured"}}, "refund": {{"idempotency_key": "{}", "undoes": "charge"}}}}, "lookup": "consistent")j", policy);
    CHECK(verdict(p) == "violated");
  }
}

TEST_CASE("the options of a key work for a refund") {
  Parts p;
  SUBCASE("another amount, another target") {
    const auto refused = [&](const char* target, int amount) {
      p.steps = kCharges + refund("A", 1) + refund(target, amount) + bad_if(":z.status <> 422") + kReply;
      return verdict(p) == "holds";
    };
    CHECK(!refused("B", 1));
    p.provider = provider("", R"j(, "other_parameters": "refused")j");
    CHECK(refused("B", 1));
    CHECK(refused("A", 2));
    CHECK(!refused("A", 1));
  }
  SUBCASE("a stored error") {
    p.faults = R"j("error_before_effect": 1)j";
    p.steps = R"j({"call": "p.charge", "key": "'A'", "amount": 1, "on_error": [{"stop": true}]}, )j" + refund("A", 1) +
              R"j({"if": ":z.status = 500", "then": [)j" + refund("A", 1) + bad_if(":z.status = 200") + "]}" + kReply;
    CHECK(verdict(p) == "violated");
    p.provider = provider("", R"j(, "stores": "everything")j");
    CHECK(verdict(p) == "holds");
    p.provider = R"j("preset": "stripe-v1")j";
    CHECK(verdict(p) == "holds");
  }
  SUBCASE("a decline") {
    p.steps = R"j({"call": "p.charge", "key": "'A'", "amount": 1}, )j" + refund("A", 1) + bad_if(":z.status = 402") + kReply;
    CHECK(verdict(p) == "holds");
    p.provider = provider("", R"j(, "may_decline": true)j");
    CHECK(verdict(p) == "violated");
  }
  SUBCASE("in flight") {
    p.client = R"j(, "clicks": 2)j";
    p.steps = R"j({"call": "p.charge", "key": "'A'", "amount": 1}, )j" + refund("A", 1) + bad_if(":z.status = 409") + kReply;
    CHECK(verdict(p) == "holds");
    p.provider = provider("", R"j(, "in_flight": "conflict")j");
    CHECK(verdict(p) == "violated");
  }
  SUBCASE("a key that is forgotten") {
    p.provider = provider("", R"j(, "forgets_after": "24h")j");
    p.steps = kCharges + refund("A", 1) + refund("B", 1) + R"j({"call": "p.lookup", "key": "'B'", "into": "l"}, )j" + bad_if(":l.state = 'undone'") + kReply;
    CHECK(verdict(p) == "holds");
    p.faults = R"j("expire": 1)j";
    CHECK(verdict(p) == "violated");
  }
}

TEST_CASE("an operation that cancels takes no options of a key") {
  Parts p;
  p.provider = R"j("operations": {"charge": {"idempotency_key": "honoured"}, "cancel": {"cancels": "charge", "idempotency_key": "honoured"}})j";
  p.steps = R"j({"reply": 200})j";
  CHECK_THROWS_AS(verdict(p), ScenarioError);
}

TEST_CASE("a cancellation that meets its operation in flight is answered 409, and a fence that stands is never passed") {
  Parts p;
  p.faults = R"j("timeout": 1)j";
  const auto steps = [](const std::string& condition) {
    return R"j({"call": "p.charge", "key": ":key", "timeout": "1s", "on_timeout": []},
      {"call": "p.cancel", "key": ":key", "into": "c", "on_error": {"any": []}}, {"pause": true},
      {"call": "p.lookup", "key": ":key", "into": "l"}, )j" + bad_if(condition) + kReply;
  };
  for (const char* flight : {"waits", "conflict"}) {
    CAPTURE(flight);
    p.provider = fmt::format(R"j("operations": {{"charge": {{"idempotency_key": "honoured", "in_flight": "{}"}}, "cancel": {{"cancels": "charge"}}}}, "lookup": "consistent")j", flight);
    p.steps = steps(":c.status = 200 AND :l.state <> 'cancelled'");
    CHECK(verdict(p) == "holds");
    p.steps = steps(":c.status = 409");
    CHECK(verdict(p) == (std::string(flight) == "waits" ? "holds" : "violated"));
  }
}

TEST_CASE("a webhook of a refund tells of the charge, however the refund named it") {
  Parts p;
  p.provider = provider("", R"j(, "webhook": {"to": "h", "on": ["undone"]})j");
  p.hook = bad_if(":key <> 'K' OR :amount IS NULL OR :amount <> 5 OR :operation <> 'refund' OR :identity <> 'K'") + kReply;
  for (const char* target : {":key", ":c.id"}) {
    CAPTURE(target);
    p.steps = fmt::format(R"j({{"call": "p.charge", "key": ":key", "amount": 5, "into": "c"}},
      {{"call": "p.refund", "key": "'R'", "target": "{}", "amount": 1, "identity": "'other'"}}, {{"reply": 200}})j", target);
    CHECK(verdict(p) == "holds");
  }
}

TEST_CASE("a webhook whose handler ends without a reply is sent again") {
  Parts p;
  p.steps = R"j({"call": "p.charge", "key": ":key"}, {"reply": 200})j";
  const std::string once = R"j({"sql": "INSERT INTO seen VALUES (1)", "on_error": {"unique_violation": [{"sql": "INSERT INTO bad VALUES (1)"}]}}, )j";
  p.provider = provider(R"j(, "webhook": {"to": "h", "retries": 1})j", "");
  p.hook = once + R"j({"reply": 200})j";
  CHECK(verdict(p) == "holds");
  p.hook = once + R"j({"stop": true})j";
  CHECK(verdict(p) == "violated");
  p.provider = provider(R"j(, "webhook": {"to": "h"})j", "");
  CHECK(verdict(p) == "holds");
}

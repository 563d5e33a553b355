// Each promise can break and can hold: a short scenario for either, different in one place.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "invariants/library.hpp"
#include "model/program/scenario_reader.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const char* const kTwoCopies = R"j({"c": {"requests": [{"to": "s", "key": "K"}], "clicks": 2}})j";

struct Pair {
  std::string name;     // of the promise, also in `promise`
  std::string promise;  // an entry of "invariants"
  std::string broken;   // steps of the handler, for two copies of one request
  std::string sound;
  std::string clients = kTwoCopies;
  std::string queues = "{}";
};

std::string scenario(const Pair& pair, const std::string& steps) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [
      "CREATE TABLE claim (id text PRIMARY KEY, state text)",
      "CREATE TABLE work (id text NOT NULL)",
      "CREATE TABLE ledger (id text NOT NULL)",
      "CREATE TABLE lease (id text PRIMARY KEY, owner uuid, state text)",
      "CREATE TABLE outbox (id text PRIMARY KEY)"], "effects": ["work"]}}}},
    "redis": {{"r": {{}}}},
    "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "honoured"}}, "refund": {{"idempotency_key": "honoured"}}}}}},
                   "s3": {{"preset": "object-store"}}}},
    "services": {{"s": {{"on_request": [{}], "endpoints": {{"sink": [{{"reply": 200}}]}}}}}},
    "queues": {},
    "clients": {},
    "invariants": [{}]
  }})j",
                     steps, pair.queues, pair.clients, pair.promise);
}

std::string verdict(const Pair& pair, const std::string& steps) {
  return verdict_of(*program_from(scenario(pair, steps)), pair.name);
}

const std::string kClaim = R"j(
    {"sql": "INSERT INTO claim VALUES (:key, 'NEW') ON CONFLICT DO NOTHING", "into": "claim"}, )j";
const std::string kWork = R"j({"sql": "INSERT INTO work VALUES (:key)"})j";

// `step` runs once, or once for each copy of the request.
std::string once(const std::string& step) {
  return kClaim + R"j({"if": ":claim.count = 1", "then": [)j" + step + R"j(]}, {"reply": 500})j";
}
std::string each_time(const std::string& step) {
  return kClaim + R"j({"if": "true", "then": [)j" + step + R"j(]}, {"reply": 500})j";
}

std::string named(const std::string& name) { return "\"" + name + "\""; }

const std::vector<Pair>& pairs() {
  static const std::string charge = R"j({"call": "p.charge", "key": ":key"}, )j";
  static const std::string book = R"j({"sql": "INSERT INTO ledger VALUES (:key)"})j";
  static const std::string lock = R"j({"redis": "SET lock 1 NX", "into": "lock"}, )j";
  static const std::string unbooked =
      R"j("SELECT w.id FROM db.work w WHERE NOT EXISTS (SELECT 1 FROM db.ledger l WHERE l.id = w.id)")j";
  static const std::string done = R"j({"sql": "UPDATE claim SET state = 'DONE'"}, )j";
  static const std::string two_orders = R"j({"a": {"requests": [{"to": "s", "key": "K", "identity": "A", "who": "A"}]},
                                             "b": {"requests": [{"to": "s", "key": "K", "identity": "B", "who": "B"}]}})j";
  static const std::string one_order =
      R"j({"if": ":claim.count = 1", "then": [{"sql": "INSERT INTO work VALUES (:who)"}]}, {"reply": 200})j";
  static const std::string take = R"j({"set": {"me": "gen_random_uuid()"}},
    {"sql": "INSERT INTO lease VALUES (:key, :me, 'OPEN') ON CONFLICT (id) DO UPDATE SET owner = :me"}, {"pause": true}, )j";
  static const std::string doubt = kClaim + R"j({"if": ":claim.count = 1", "then": [{"reply": 500}]}, )j";
  static const std::string post = R"j({"sql": "INSERT INTO outbox VALUES (:key) ON CONFLICT DO NOTHING"}, )j";
  static const std::string paid = R"j({"call": "p.charge", "key": ":key", "amount": 100}, )j";
  static const std::string put = R"j({"call": "s3.put", "key": ":key", "body": "'payload'"}, )j";
  static const std::string queue = R"j({"q": {"to": "s.sink", "visibility": "30s"}})j";
  static const std::vector<Pair> all = {
      {"no-duplicate-effect", named("no-duplicate-effect"), each_time(kWork), once(kWork)},
      {"no-lost-intent", named("no-lost-intent"), R"j({"reply": 202})j",
       R"j({"reply": 202, "continue": true}, )j" + kWork},
      {"no-phantom-success", named("no-phantom-success"), R"j({"reply": 200, "continue": true}, )j" + kWork,
       kWork + R"j(, {"reply": 200, "continue": true})j"},
      {"no-false-failure", named("no-false-failure"), kWork + R"j(, {"reply": 422})j", kWork + R"j(, {"reply": 500})j"},
      {"ledger-matches-provider", R"j({"use": "ledger-matches-provider", "ledger": "db.ledger", "identity": "id"})j",
       charge + each_time(book), charge + once(book)},
      {"no-lost-effect", R"j({"use": "no-lost-effect", "record": "claim", "done": "DONE"})j", kClaim + kWork, kClaim + done + kWork},
      {"no-phantom-effect", R"j({"use": "no-phantom-effect", "record": "db.claim"})j", kWork + ", " + kClaim + R"j({"reply": 500})j",
       kClaim + kWork},
      {"no-false-refusal", named("no-false-refusal"), doubt + R"j({"reply": 422})j", doubt + kWork + R"j(, {"reply": 200})j"},
      {"no-false-duplicate", named("no-false-duplicate"), kClaim + one_order,
       R"j({"sql": "INSERT INTO claim VALUES (:who, 'NEW') ON CONFLICT DO NOTHING", "into": "claim"}, )j" + one_order, two_orders},
      {"same-answer", named("same-answer"), kClaim + R"j({"if": ":claim.count = 1", "then": [{"reply": 200, "body": "'first'"}]}, {"reply": 200, "body": "'again'"})j",
       kClaim + R"j({"if": ":claim.count = 1", "then": [{"reply": 200, "body": "'done'"}]}, {"reply": 200, "body": "'done'"})j"},
      {"only-owner-completes",
       R"j({"use": "only-owner-completes", "record": "db.lease", "owner": "owner", "token": "me", "open": "OPEN"})j",
       take + R"j({"sql": "UPDATE lease SET state = 'DONE' WHERE id = :key"})j",
       take + R"j({"sql": "UPDATE lease SET state = 'DONE' WHERE id = :key AND owner = :me"})j"},
      {"no-state-regression", R"j({"use": "no-state-regression", "record": "claim", "final": "DONE"})j",
       kClaim + done + R"j({"sql": "UPDATE claim SET state = 'NEW'"})j",
       kClaim + done + R"j({"sql": "UPDATE claim SET state = 'NEW' WHERE state <> 'DONE'"})j"},
      {"systems-agree", R"j({"use": "systems-agree", "systems": ["work", "p.charge", "s3"]})j",
       charge + once(kWork + R"j(, {"call": "s3.put", "key": "gen_random_uuid()", "body": "'log'"}, {"call": "s3.put", "key": "gen_random_uuid()", "body": "'log'"})j"),
       charge + once(kWork + R"j(, {"call": "s3.put", "key": ":key", "body": "'log'"}, {"call": "s3.put", "key": ":key", "body": "'log'"})j")},
      {"outbox-complete", named("outbox-complete"), post + R"j({"stop": true})j", post + R"j({"publish": "q", "key": ":key"})j",
       kTwoCopies, queue},
      {"conservation", R"j({"use": "conservation", "capture": "p.charge", "refund": "p.refund"})j",
       paid + R"j({"call": "p.refund", "key": "gen_random_uuid()", "amount": 60, "identity": ":key"})j",
       paid + R"j({"call": "p.refund", "key": ":key", "amount": 60, "identity": ":key"})j"},
      {"no-orphan-resource", R"j({"use": "no-orphan-resource", "resource": "s3", "record": "claim", "reference": "id", "live": "NEW"})j",
       put + kClaim + done + R"j({"stop": true})j", put + kClaim + R"j({"stop": true})j"},
      {"only-owner-releases", named("only-owner-releases"),
       lock + R"j({"pause": true}, {"redis": "DEL lock"}, {"reply": 200})j",
       lock + R"j({"pause": true}, {"if": ":lock IS NOT NULL", "then": [{"redis": "DEL lock"}]}, {"reply": 200})j"},
      {"answered-eventually", named("answered-eventually"), R"j({"reply": 500})j", R"j({"reply": 200})j"},
      {"no-stuck-intent", R"j({"use": "no-stuck-intent", "record": "db.claim", "open": "NEW"})j",
       kClaim + R"j({"reply": 200})j", kClaim + done + R"j({"reply": 200})j"},
      {"eventually", R"j({"name": "eventually", "eventually_empty": "SELECT id FROM db.claim WHERE state = 'NEW'"})j",
       kClaim + R"j({"reply": 200})j", kClaim + done + R"j({"reply": 200})j"},
      {"always", R"j({"name": "always", "always_empty": "SELECT id FROM db.work GROUP BY id HAVING count(*) > 1"})j",
       each_time(kWork), once(kWork)},
      {"finally", R"j({"name": "finally", "finally_empty": )j" + unbooked + "}", kWork, kWork + ", " + book},
      {"never",
       R"j({"name": "never", "never_step": "OLD.state = 'DONE' AND NEW.state <> 'DONE'", "table": "db.claim"})j",
       kClaim + done + R"j({"sql": "UPDATE claim SET state = 'NEW'"})j",
       kClaim + done + R"j({"sql": "UPDATE claim SET state = 'NEW' WHERE state <> 'DONE'"})j"},
  };
  return all;
}

}  // namespace

TEST_CASE("each promise breaks in one scenario and holds in nearly the same one") {
  for (const Pair& pair : pairs()) {
    CAPTURE(pair.name);
    CHECK(verdict(pair, pair.broken) == "violated");
    CHECK(verdict(pair, pair.sound) == "holds");
  }
}

TEST_CASE("every promise of the library has such a pair, and its alias is the same promise") {
  for (const Promise& promise : promise_library()) {
    CAPTURE(promise.name);
    const auto pair = std::ranges::find(pairs(), promise.name, &Pair::name);
    REQUIRE(pair != pairs().end());
    if (promise.alias[0] == 0) continue;
    const Pair other{promise.alias, named(promise.alias), pair->broken, pair->sound, pair->clients, pair->queues};
    CHECK(verdict(other, other.broken) == "violated");
    CHECK(verdict(other, other.sound) == "holds");
  }
}

TEST_CASE("the scenario reader knows the names of the library, in its order") {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> aliases;
  for (const Promise& promise : promise_library()) {
    names.push_back(promise.name);
    if (promise.alias[0] != 0) aliases.push_back({promise.alias, promise.name});
  }
  CHECK(builtin_invariant_names() == names);
  CHECK(builtin_invariant_aliases() == aliases);
}

TEST_CASE("finally_empty looks only at states of rest, always_empty at every state") {
  const auto pair = std::ranges::find(pairs(), "finally", &Pair::name);
  REQUIRE(pair != pairs().end());
  Pair always = *pair;
  always.promise.replace(always.promise.find("finally_empty"), 13, "always_empty");
  CHECK(verdict(always, pair->sound) == "violated");
}

TEST_CASE("the outbox: a row deleted before it was published is lost, and no other row is asked for") {
  const auto pair = std::ranges::find(pairs(), "outbox-complete", &Pair::name);
  REQUIRE(pair != pairs().end());
  const std::string row = R"j({"sql": "INSERT INTO outbox VALUES (:key) ON CONFLICT DO NOTHING"}, )j";
  const std::string gone = R"j({"sql": "DELETE FROM outbox WHERE id = :key"})j", sent = R"j({"publish": "q", "key": ":key"})j";
  CHECK(verdict(*pair, row + gone + ", " + sent) == "violated");
  CHECK(verdict(*pair, row + sent + ", " + gone) == "holds");
}

TEST_CASE("conservation counts what was promised and is not yet done, once") {
  Pair pair = *std::ranges::find(pairs(), "conservation", &Pair::name);
  pair.promise = R"j({"use": "conservation", "capture": "p.charge", "refund": "p.refund", "pending": "promised", "identity": "payment",
    "key": "id", "amount": "amount", "open": "PENDING"})j";
  const std::string table = R"j("CREATE TABLE promised (id text, payment text, amount int, state text)", "CREATE TABLE outbox)j";
  auto with_table = [&](const std::string& steps) {
    std::string text = scenario(pair, steps);
    text.replace(text.find("\"CREATE TABLE outbox"), 20, table);
    return verdict_of(*program_from(text), pair.name);
  };
  const std::string paid = R"j({"call": "p.charge", "key": ":key", "amount": 100}, )j";
  const std::string refund = R"j({"call": "p.refund", "key": "'R'", "amount": 60, "identity": ":key"})j";
  CHECK(with_table(paid + R"j({"sql": "INSERT INTO promised VALUES ('R', :key, 60, 'PENDING')"})j") == "violated");
  CHECK(with_table(paid + R"j({"sql": "INSERT INTO promised VALUES ('R', :key, 60, 'REFUSED')"})j") == "holds");
  CHECK(with_table(paid + refund + R"j(, {"sql": "INSERT INTO promised VALUES ('R', :key, 60, 'PENDING')"})j") == "holds");
}

TEST_CASE("a step is judged by the values themselves, not by the numbers that the canonical form gives them") {
  const Pair pair{"never", R"j({"name": "never", "never_step": "OLD.owner <> NEW.owner", "table": "lease"})j", "", ""};
  const std::string insert = R"j({"sql": "INSERT INTO lease VALUES (:key, gen_random_uuid(), 'OPEN') ON CONFLICT DO NOTHING"}, )j";
  CHECK(verdict(pair, insert + R"j({"sql": "UPDATE lease SET owner = gen_random_uuid()"})j") == "violated");
  CHECK(verdict(pair, insert + R"j({"sql": "UPDATE lease SET state = 'DONE'"})j") == "holds");
}

TEST_CASE("ACTOR is the program that made the change, at its COMMIT too, and what RETURNING has just given it") {
  const Pair pair{"never", R"j({"name": "never", "never_step": "ACTOR.\"me.owner\" = NEW.owner", "table": "lease"})j", "", ""};
  const std::string take = R"j({"sql": "INSERT INTO lease VALUES (:key, gen_random_uuid(), 'OPEN') ON CONFLICT DO NOTHING RETURNING owner", "into": "me"}, )j";
  const std::string use = R"j({"sql": "SELECT id FROM lease WHERE owner = :me.owner"})j";
  CHECK(verdict(pair, take + use) == "violated");
  CHECK(verdict(pair, R"j({"sql": "BEGIN"}, )j" + take + use + R"j(, {"sql": "COMMIT"})j") == "violated");
  const std::string other = R"j({"sql": "INSERT INTO lease VALUES (:key, gen_random_uuid(), 'OPEN') ON CONFLICT DO NOTHING"}, {"sql": "SELECT owner FROM lease", "into": "me"}, )j";
  CHECK(verdict(pair, other + use) == "holds");
}

TEST_CASE("a fencing token never goes down, whoever holds the record") {
  const Pair pair{"only-owner-completes", R"j({"use": "only-owner-completes", "record": "fenced", "fence": "fence"})j", "", ""};
  auto with_table = [&](const std::string& where) {
    std::string text = scenario(pair, R"j({"sql": "SELECT nextval('t') AS n", "into": "t"}, {"sql": "UPDATE fenced SET fence = :t.n )j" + where + R"j("})j");
    text.replace(text.find("\"CREATE TABLE outbox"), 20, R"j("CREATE SEQUENCE t", "CREATE TABLE fenced (id text PRIMARY KEY, fence bigint)", "INSERT INTO fenced VALUES ('K', 0)", "CREATE TABLE outbox)j");
    return verdict_of(*program_from(text), pair.name);
  };
  CHECK(with_table("WHERE id = :key") == "violated");
  CHECK(with_table("WHERE id = :key AND fence < :t.n") == "holds");
}

TEST_CASE("the world keeps facts only where a promise asks for them") {
  auto bytes = [](const std::string& promise) {
    const auto pair = std::ranges::find(pairs(), promise, &Pair::name);
    return program_from(scenario(*pair, R"j({"reply": 200})j"))->plan.layout.bytes;
  };
  const int plain = bytes("no-lost-intent");
  CHECK(bytes("no-lost-effect") == plain);
  CHECK(bytes("conservation") == plain);
  CHECK(bytes("no-false-duplicate") > plain);  // two clients
  CHECK(bytes("no-false-refusal") == plain + 1);
  CHECK(bytes("same-answer") > plain);
}

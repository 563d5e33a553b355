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

struct Pair {
  std::string name;     // of the promise, also in `promise`
  std::string promise;  // an entry of "invariants"
  std::string broken;   // steps of the handler, for two copies of one request
  std::string sound;
};

std::string scenario(const std::string& promise, const std::string& steps) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [
      "CREATE TABLE claim (id text PRIMARY KEY, state text)",
      "CREATE TABLE work (id text NOT NULL)",
      "CREATE TABLE ledger (id text NOT NULL)"], "effects": ["work"]}}}},
    "redis": {{"r": {{}}}},
    "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "honoured"}}}}}}}},
    "services": {{"s": {{"on_request": [{}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2}}}},
    "invariants": [{}]
  }})j",
                     steps, promise);
}

std::string verdict(const Pair& pair, const std::string& steps) {
  return verdict_of(*program_from(scenario(pair.promise, steps)), pair.name);
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
  static const std::vector<Pair> all = {
      {"no-duplicate-effect", named("no-duplicate-effect"), each_time(kWork), once(kWork)},
      {"no-lost-intent", named("no-lost-intent"), R"j({"reply": 202})j",
       R"j({"reply": 202, "continue": true}, )j" + kWork},
      {"no-phantom-success", named("no-phantom-success"), R"j({"reply": 200, "continue": true}, )j" + kWork,
       kWork + R"j(, {"reply": 200, "continue": true})j"},
      {"no-false-failure", named("no-false-failure"), kWork + R"j(, {"reply": 422})j", kWork + R"j(, {"reply": 500})j"},
      {"ledger-matches-provider", R"j({"use": "ledger-matches-provider", "ledger": "db.ledger", "identity": "id"})j",
       charge + each_time(book), charge + once(book)},
      {"only-owner-releases", named("only-owner-releases"),
       lock + R"j({"pause": true}, {"redis": "DEL lock"}, {"reply": 200})j",
       lock + R"j({"pause": true}, {"if": ":lock IS NOT NULL", "then": [{"redis": "DEL lock"}]}, {"reply": 200})j"},
      {"answered-eventually", named("answered-eventually"), R"j({"reply": 500})j", R"j({"reply": 200})j"},
      {"no-stuck-intent", R"j({"use": "no-stuck-intent", "records": "db.claim", "open": "state = 'NEW'"})j",
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
    const Pair other{promise.alias, named(promise.alias), pair->broken, pair->sound};
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
  std::string promise = pair->promise;
  promise.replace(promise.find("finally_empty"), 13, "always_empty");
  CHECK(verdict({pair->name, promise, "", ""}, pair->sound) == "violated");
}

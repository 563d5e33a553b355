// Ablation: every kind of mutant once, exact tables, and the planted bugs that they notice.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "invariants/load.hpp"
#include "model/check/ablation.hpp"
#include "reports/ablation_report.hpp"
#include "sim/replay.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

Scenario scenario_of(const std::string& text) { return load_scenarios_text(text, "test.jsonc").front(); }

Ablation ablate_text(const std::string& text, int threads = 1) {
  CheckOptions options;
  options.threads = threads;
  return ablate(scenario_of(text), options);
}

// "LINE PLACE, CHANGE: TEXT -> VERDICT[: PROMISE DEPTH ...]"
std::vector<std::string> table(const Ablation& a) {
  std::vector<std::string> out;
  for (const MutantResult& m : a.mutants) {
    std::string line = std::to_string(m.mutant.at.line) + " " + m.mutant.place + ", " + m.mutant.change + ": " + m.mutant.text + " -> ";
    line += need_name(m.need);
    for (const InvariantResult& r : m.check.invariants) {
      if (r.verdict == Verdict::Violated) line += ": " + r.name + " " + std::to_string(r.trace.size());
    }
    out.push_back(line);
  }
  return out;
}

void check_table(const Ablation& a, const std::vector<std::string>& expected) {
  const std::vector<std::string> got = table(a);
  CHECK(got.size() == expected.size());
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) CHECK(got[i] == expected[i]);
}

const char* const kCoupon = R"j({
  "title": "A coupon is redeemed once",
  "databases": { "shop": { "engine": "postgres", "schema": [
    "CREATE TABLE coupon (code text PRIMARY KEY, used boolean NOT NULL)",
    "INSERT INTO coupon VALUES ('WELCOME', false)",
    "CREATE TABLE credit (code text NOT NULL, amount int NOT NULL)" ],
    "effects": [ { "table": "credit", "identity": "code" } ] } },
  "services": { "api": { "on_request": [
    { "sql": "BEGIN" },
    { "sql": "UPDATE coupon SET used = true WHERE code = :key AND NOT used", "into": "claim" },
    { "if": ":claim.count = 1 AND :key <> 'X'", "then": [ { "sql": "INSERT INTO credit VALUES (:key, 10)" } ] },
    { "sql": "COMMIT" },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "api", "key": "WELCOME" } ], "clicks": 2, "timeout": "5s" } },
  "faults": { "crash": 1 },
  "invariants": [ "no-duplicate-effect", "no-phantom-success" ]
}
)j";

const char* const kMysql = R"j({
  "title": "Rows of MySQL",
  "databases": { "shop": { "engine": "mysql", "isolation": "serializable", "schema": [
    "CREATE TABLE parent (id int NOT NULL, PRIMARY KEY (id))",
    "CREATE TABLE seen (id varchar(20) NOT NULL, n int NOT NULL CHECK (n >= 0), p int REFERENCES parent (id), UNIQUE KEY u (id), CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id))",
    "CREATE TABLE orders (id varchar(20) NOT NULL)" ], "effects": [ "orders" ] } },
  "services": { "api": { "drain": true, "on_request": [
    { "sql": "INSERT IGNORE INTO seen (id, n) VALUES (:key, 0)", "into": "claim" },
    { "sql": "START TRANSACTION" },
    { "sql": "SELECT n FROM seen WHERE id = :key FOR UPDATE", "into": "row" },
    { "if": ":row.n = 0", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] },
    { "sql": "INSERT INTO seen (id, n) VALUES (:key, 1) ON DUPLICATE KEY UPDATE n = 1" },
    { "sql": "COMMIT" },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "api", "key": "K1" } ], "clicks": 2, "timeout": "5s" } },
  "invariants": [ "no-duplicate-effect" ], "bounds": { "rows": 6 }
}
)j";

const char* const kRedis = R"j({
  "title": "A lock with an owner",
  "databases": { "shop": { "engine": "postgres", "schema": [ "CREATE TABLE orders (id text NOT NULL)" ], "effects": [ "orders" ] } },
  "redis": { "cache": { "replicas": 1, "min_replicas": 1, "persistence": "always" } },
  "services": { "api": { "on_request": [
    { "set": { "token": "gen_random_uuid()" } },
    { "redis": "SET lock:{:key} :token NX EX 30", "into": "lock" },
    { "if": ":lock IS NULL", "then": [ { "reply": 409 } ] },
    { "sql": "SELECT id FROM orders WHERE id = :key", "into": "old" },
    { "if": ":old.count = 0", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] },
    { "redis": "MULTI" },
    { "redis": "SET done:{:key} 1 XX KEEPTTL" },
    { "redis": "EXEC" },
    { "redis": "EVAL \"if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end\" 1 lock:{:key} :token" },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "api", "key": "K1" } ], "clicks": 2, "timeout": "5s" } },
  "faults": { "timeout": 1 },
  "invariants": [ "no-duplicate-effect", "only-owner-releases" ], "bounds": { "rows": 4 }
}
)j";

const char* const kCalls = R"j({
  "title": "A call, a job and a queue",
  "databases": { "pay": { "engine": "postgres", "schema": [ "CREATE TABLE todo (id text PRIMARY KEY)", "CREATE UNIQUE INDEX one ON todo (id) WHERE id <> 'X' AND id <> 'Y'" ] } },
  "providers": { "bank": { "operations": { "charge": { "idempotency_key": "honoured", "may_decline": true } } } },
  "queues": { "work": { "to": "pay.work", "visibility": "30s", "receives": 2 } },
  "services": { "pay": {
    "on_request": [
      { "sql": "INSERT INTO todo VALUES (:key) ON CONFLICT DO NOTHING" },
      { "publish": "work", "key": ":key", "identity": ":identity" },
      { "reply": 202 } ],
    "endpoints": { "work": [
      { "call": "bank.charge", "key": ":key", "amount": "1", "timeout": "5s", "resends": 1, "into": "c",
        "on_timeout": [ { "stop": true } ], "on_error": { "declined": [ { "set": { "a": "1", "b": "2" } } ] } },
      { "sql": "DELETE FROM todo WHERE id = :key" } ] },
    "on_start": [ { "pause": true } ],
    "jobs": { "sweep": { "every": "1m", "steps": [
      { "for_each": "SELECT id FROM todo WHERE id <> 'X'", "into": "t", "do": [
        { "call": "bank.charge", "key": ":t.id", "amount": "1", "timeout": "5s" },
        { "sql": "DELETE FROM todo WHERE id = :t.id" } ] },
      { "set": { "n": "0" } },
      { "while": ":n < 1 AND :n < 2", "do": [ { "pause": true }, { "set": { "n": ":n + 1" } } ] } ] } } } },
  "clients": { "buyer": { "requests": [ { "to": "pay", "key": "K1" } ], "timeout": "5s" } },
  "faults": { "crash": 1 },
  "invariants": [ "no-duplicate-effect" ],
  "bounds": { "rows": 3, "effects": 3 }
}
)j";

}  // namespace

TEST_CASE("steps, a transaction, conjuncts and guards: the table of a small endpoint") {
  check_table(ablate_text(kCoupon), {
    "9 api on_request/0, without the transaction: BEGIN ... COMMIT -> load-bearing: no-phantom-success 8",
    "10 api on_request/1, without the step: UPDATE coupon SET used = true WHERE code = :key AND NOT used -> cannot be dropped",
    "10 api on_request/1, without conjunct of WHERE: code = :key -> not needed within these bounds",
    "10 api on_request/1, without conjunct of WHERE: NOT used -> load-bearing: no-duplicate-effect 12",
    "11 api on_request/2, if: always: :claim.count = 1 AND :key <> 'X' -> load-bearing: no-duplicate-effect 12",
    "11 api on_request/2, if: never: :claim.count = 1 AND :key <> 'X' -> load-bearing: no-phantom-success 7",
    "11 api on_request/2, without conjunct: :claim.count = 1 -> load-bearing: no-duplicate-effect 12",
    "11 api on_request/2, without conjunct: :key <> 'X' -> not needed within these bounds",
    "11 api on_request/2/then/0, without the step: INSERT INTO credit VALUES (:key, 10) -> load-bearing: no-phantom-success 7",
    "12 api on_request/3, without the step: COMMIT -> load-bearing: no-phantom-success 7",
    "13 api on_request/4, without the step: reply 200 -> not needed within these bounds",
    "4 database shop, without primary key: coupon: code PRIMARY KEY -> not needed within these bounds",
  });
}

TEST_CASE("MySQL's words, row locks, isolation, drain and constraints") {
  check_table(ablate_text(kMysql), {
    "8 api on_request/0, without the step: INSERT IGNORE INTO seen (id, n) VALUES (:key, 0) -> not needed within these bounds",
    "8 api on_request/0, without IGNORE: IGNORE -> not needed within these bounds",
    "9 api on_request/1, without the transaction: START TRANSACTION ... COMMIT -> load-bearing: no-duplicate-effect 10",
    "10 api on_request/2, without the step: SELECT n FROM seen WHERE id = :key FOR UPDATE -> cannot be dropped",
    "10 api on_request/2, without WHERE: WHERE id = :key -> not needed within these bounds",
    "10 api on_request/2, without row lock: FOR UPDATE -> not needed within these bounds",
    "11 api on_request/3, if: always: :row.n = 0 -> load-bearing: no-duplicate-effect 16",
    "11 api on_request/3, if: never: :row.n = 0 -> not needed within these bounds",
    "11 api on_request/3/then/0, without the step: INSERT INTO orders VALUES (:key) -> not needed within these bounds",
    "12 api on_request/4, without the step: INSERT INTO seen (id, n) VALUES (:key, 1) ON DUPLICATE KEY UPDATE n = 1 -> load-bearing: no-duplicate-effect 14",
    "12 api on_request/4, without ON DUPLICATE KEY UPDATE: ON DUPLICATE KEY UPDATE n = 1 -> not needed within these bounds",
    "13 api on_request/5, without the step: COMMIT -> not needed within these bounds",
    "14 api on_request/6, without the step: reply 200 -> not needed within these bounds",
    "7 service api, without drain: api -> not needed within these bounds",
    "3 database shop, isolation: repeatable read: serializable -> not needed within these bounds",
    "4 database shop, without primary key: parent: PRIMARY KEY (id) -> cannot be dropped",
    "5 database shop, without check: n CHECK (n >= 0) -> not needed within these bounds",
    "5 database shop, without foreign key: p REFERENCES parent (id) -> not needed within these bounds",
    "5 database shop, without unique constraint: seen: UNIQUE KEY u (id) -> load-bearing: no-duplicate-effect 16",
    "5 database shop, without foreign key: CONSTRAINT f FOREIGN KEY (p) REFERENCES parent (id) -> not needed within these bounds",
  });
}

TEST_CASE("Redis: NX, a time to live, MULTI with EXEC, a comparison, min_replicas, persistence") {
  check_table(ablate_text(kRedis), {
    "6 api on_request/0, without the step: set token = gen_random_uuid() -> cannot be dropped",
    "7 api on_request/1, without the step: SET lock:{:key} :token NX EX 30 -> cannot be dropped",
    "7 api on_request/1, without NX: NX -> load-bearing: no-duplicate-effect 10",
    "7 api on_request/1, without time to live: EX 30 -> not needed within these bounds",
    "8 api on_request/2, if: always: :lock IS NULL -> not needed within these bounds",
    "8 api on_request/2, if: never: :lock IS NULL -> load-bearing: no-duplicate-effect 10",
    "8 api on_request/2/then/0, without the step: reply 409 -> load-bearing: no-duplicate-effect 10",
    "9 api on_request/3, without the step: SELECT id FROM orders WHERE id = :key -> cannot be dropped",
    "9 api on_request/3, without WHERE: WHERE id = :key -> not needed within these bounds",
    "10 api on_request/4, if: always: :old.count = 0 -> load-bearing: no-duplicate-effect 14",
    "10 api on_request/4, if: never: :old.count = 0 -> not needed within these bounds",
    "10 api on_request/4/then/0, without the step: INSERT INTO orders VALUES (:key) -> not needed within these bounds",
    "11 api on_request/5, without the transaction: MULTI ... EXEC -> not needed within these bounds",
    "12 api on_request/6, without the step: SET done:{:key} 1 XX KEEPTTL -> not needed within these bounds",
    "12 api on_request/6, without XX: XX -> not needed within these bounds",
    "12 api on_request/6, without KEEPTTL: KEEPTTL -> not needed within these bounds",
    "13 api on_request/7, without the step: EXEC -> not needed within these bounds",
    R"j(14 api on_request/8, without the step: EVAL "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end" 1 lock:{:key} :token -> not needed within these bounds)j",
    "14 api on_request/8, comparison: true: redis.call('get', KEYS[1]) == ARGV[1] -> not needed within these bounds",
    "15 api on_request/9, without the step: reply 200 -> not needed within these bounds",
    "4 redis cache, without min_replicas: 1 -> not needed within these bounds",
    "4 redis cache, persistence: everysec: always -> not needed within these bounds",
  });
}

TEST_CASE("calls, branches of errors, start-up programs, jobs, loops, sets and indexes") {
  check_table(ablate_text(kCalls), {
    "8 pay on_request/0, without the step: INSERT INTO todo VALUES (:key) ON CONFLICT DO NOTHING -> not needed within these bounds",
    "8 pay on_request/0, without ON CONFLICT: ON CONFLICT DO NOTHING -> not needed within these bounds",
    "9 pay on_request/1, without the step: publish to work -> not needed within these bounds",
    "10 pay on_request/2, without the step: reply 202 -> not needed within these bounds",
    "12 pay endpoints/work/0, without the step: call bank.charge -> not needed within these bounds",
    "12 pay endpoints/work/0, without the key of the call: :key -> load-bearing: no-duplicate-effect 11",
    "12 pay endpoints/work/0, without on_timeout: call bank.charge -> not needed within these bounds",
    "12 pay endpoints/work/0, without resends: call bank.charge -> not needed within these bounds",
    "12 pay endpoints/work/0, without on_error: declined -> not needed within these bounds",
    "13 pay endpoints/work/0/on_timeout/0, without the step: stop -> not needed within these bounds",
    "13 pay endpoints/work/0/on_error/declined/0, without the step: set a = 1, b = 2 -> not needed within these bounds",
    "13 pay endpoints/work/0/on_error/declined/0, without setting it: a = 1 -> not needed within these bounds",
    "13 pay endpoints/work/0/on_error/declined/0, without setting it: b = 2 -> not needed within these bounds",
    "14 pay endpoints/work/1, without the step: DELETE FROM todo WHERE id = :key -> not needed within these bounds",
    "14 pay endpoints/work/1, without WHERE: WHERE id = :key -> not needed within these bounds",
    "15 pay on_start, without the program: on_start -> not needed within these bounds",
    "15 pay on_start/0, without the step: pause -> not needed within these bounds",
    "16 pay jobs/sweep, without the job: sweep -> not needed within these bounds",
    "17 pay jobs/sweep/0, without the step: for each row of SELECT id FROM todo WHERE id <> 'X' -> not needed within these bounds",
    "17 pay jobs/sweep/0, without WHERE: WHERE id <> 'X' -> not needed within these bounds",
    "18 pay jobs/sweep/0/do/0, without the step: call bank.charge -> not needed within these bounds",
    "18 pay jobs/sweep/0/do/0, without the key of the call: :t.id -> cannot be dropped",
    "19 pay jobs/sweep/0/do/1, without the step: DELETE FROM todo WHERE id = :t.id -> not needed within these bounds",
    "19 pay jobs/sweep/0/do/1, without WHERE: WHERE id = :t.id -> not needed within these bounds",
    "20 pay jobs/sweep/1, without the step: set n = 0 -> not needed within these bounds",
    "21 pay jobs/sweep/2, while: never: :n < 1 AND :n < 2 -> not needed within these bounds",
    "21 pay jobs/sweep/2, without conjunct: :n < 1 -> not needed within these bounds",
    "21 pay jobs/sweep/2, without conjunct: :n < 2 -> not needed within these bounds",
    "21 pay jobs/sweep/2/do/0, without the step: pause -> cannot be dropped",
    "21 pay jobs/sweep/2/do/1, without the step: set n = :n + 1 -> not needed within these bounds",
    "3 database pay, without primary key: todo: id PRIMARY KEY -> not needed within these bounds",
    "3 database pay, without unique index: todo: CREATE UNIQUE INDEX one ON todo (id) WHERE id <> 'X' AND id <> 'Y' -> not needed within these bounds",
    "3 database pay, without conjunct of WHERE: id <> 'X' -> not needed within these bounds",
    "3 database pay, without conjunct of WHERE: id <> 'Y' -> not needed within these bounds",
  });
}

TEST_CASE("a unique key goes together with the conflict targets that name it") {
  std::string text = kCoupon;
  const std::string update = "UPDATE coupon SET used = true WHERE code = :key AND NOT used";
  text.replace(text.find(update), update.size(), "INSERT INTO coupon VALUES (:key || '2', true) ON CONFLICT (code) DO NOTHING");
  const Ablation a = ablate_text(text);
  REQUIRE(!a.mutants.empty());
  CHECK(table(a).back() ==
        "4 database shop, without primary key, and ON CONFLICT without its target: coupon: code PRIMARY KEY -> load-bearing: no-duplicate-effect 12");
}

TEST_CASE("only a variant whose promises all hold is ablated") {
  std::string text = kCoupon;
  text.replace(text.find(" AND NOT used"), 13, "");
  const Ablation a = ablate_text(text);
  CHECK(a.refused == "no-duplicate-effect is violated");
  CHECK(a.mutants.empty());
  CHECK(exit_status(a) == 2);
  CheckOptions options;
  options.max_states = 50;
  const Ablation open = ablate(scenario_of(kCoupon), options);
  CHECK(open.refused == "no-duplicate-effect is inconclusive");
  CHECK(exit_status(open) == 3);
}

TEST_CASE("a mutant that fills a bound before a promise breaks is inconclusive, and says which") {
  std::string text = kCoupon;
  // Room for the rows of the design, not for two credits.
  text.replace(text.find("\"effects\": ["), 0, "\"rows\": { \"credit\": 1 }, ");
  const Ablation a = ablate_text(text);
  REQUIRE(a.refused.empty());
  bool found = false;
  for (const MutantResult& m : a.mutants) {
    if (m.mutant.text != "NOT used") continue;
    found = true;
    CHECK(m.need == Need::Inconclusive);
    CHECK(m.why.find("bounds.rows: table credit") != std::string::npos);
  }
  CHECK(found);
  CHECK(exit_status(a) == 3);
}

TEST_CASE("the same bytes for any number of threads; every counterexample runs on its mutant, found again by name") {
  const Ablation a = ablate_text(kCoupon, 1);
  std::vector<Ablation> one, three;
  one.push_back(ablate_text(kCoupon, 1));
  three.push_back(ablate_text(kCoupon, 3));
  CHECK(to_json(one) == to_json(three));
  int traces = 0;
  for (const MutantResult& m : a.mutants) {
    for (const Trace& t : traces_of(m, {})) {
      ++traces;
      Mutant mutant = find_mutant(scenario_of(kCoupon), t.ablation);
      const auto program = compile_mutant(mutant);
      const Replay run = replay(*program, t.choices);
      REQUIRE(!run.divergence);
      CHECK(breaks_at_end(*program, run.events, t.invariant));
      // And not on the design as it is: either the run is not possible there, or nothing is broken.
      const auto original = load_program(scenario_of(kCoupon));
      const Replay intact = replay(*original, t.choices);
      CHECK((intact.divergence || !breaks_at_end(*original, intact.events, t.invariant)));
    }
  }
  CHECK(traces == 7);
  CHECK_THROWS_AS(find_mutant(scenario_of(kCoupon), "nothing"), ScenarioError);
}

TEST_CASE("shipped scenarios: names of mutants differ, and what is cut is still SQL") {
  for (const std::string& file : shipped_files()) {
    for (const Scenario& s : load_scenarios(file)) {
      CAPTURE(file);
      CAPTURE(s.variant);
      std::vector<std::string> names;
      for (Mutant& m : mutants_of(s)) {
        CAPTURE(m.name);
        names.push_back(m.name);
        try {
          compile_mutant(m);
        } catch (const ScenarioError& e) {
          CHECK(std::string(e.what()).find("syntax") == std::string::npos);
        }
      }
      std::sort(names.begin(), names.end());
      CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    }
  }
}

// The hygiene of a search: what was never reached, what is marked, what a promise needs to say anything.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/check/checker.hpp"
#include "model/program/place_names.hpp"
#include "model/program/premise.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/sql_print.hpp"
#include "reports/run_report.hpp"
#include "sim/simulator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

CheckResult searched(const Program& p, int threads = 2, bool symmetry = true, bool explore_all = true) {
  CheckOptions options;
  options.threads = threads;
  options.symmetry = symmetry;
  options.explore_all = explore_all;
  return check(p, options);
}

// Gaps that are not implied by others and not intended.
std::vector<std::string> gaps(const Program& p) {
  const CheckResult r = searched(p);
  REQUIRE(r.complete);
  std::vector<std::string> out;
  for (const Gap& g : hygiene_of(p, r.unseen, true).gaps) {
    if (!g.implied) out.push_back(gap_words(g));
  }
  return out;
}

using Words = std::vector<std::string>;

std::string shop(const std::string& steps, const std::string& rest = "") {
  return R"~({ "title": "t",
    "databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text PRIMARY KEY, state text)" ] } },
    "providers": { "p": { "operations": { "charge": {} } } },
    "services": { "s": { "on_request": [ )~" + steps + R"~( ] } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } })~" + rest + " }";
}

std::string premise(const std::string& promise) { return sql::to_string(premise_of(*sql::parse_statement(promise).select)); }
std::string premise_of_change(const std::string& promise) { return sql::to_string(premise_of_step(sql::parse_expression(promise), "d", "t")); }

}  // namespace

TEST_CASE("steps that are never executed and branches that are never taken") {
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "claim" }, { "reply": 200 })~"))).empty());
  // One side of an if; what lies in it is implied.
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "claim" },
      { "if": ":claim.count = 0", "then": [ { "pause": true }, { "if": ":claim.count = 5", "then": [ { "pause": true } ] }, { "reply": 409 } ] }, { "reply": 200 })~"))) ==
        Words{"never taken: s on_request/1/then: if :claim.count = 0"});
  // The other side, although it is not written.
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "claim" },
      { "if": ":claim.count = 1", "then": [ { "pause": true } ] }, { "reply": 200 })~"))) ==
        Words{"never taken: s on_request/1/else: if :claim.count = 1"});
  // Handlers of errors, also empty ones; of calls and of time-outs.
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "on_error": { "unique_violation": [], "any": [ { "stop": true } ] } },
      { "call": "p.charge", "key": ":key", "timeout": "1s", "on_timeout": [ { "reply": 202 } ], "on_error": { "5xx": [ { "stop": true } ] } }, { "reply": 200 })~",
                                R"~(, "faults": { "lose_response": 1 })~"))) ==
        Words{"never taken: s on_request/0/on_error/any: INSERT INTO t VALUES (:key, 'NEW')",
              "never taken: s on_request/0/on_error/unique_violation: INSERT INTO t VALUES (:key, 'NEW')",
              "never taken: s on_request/1/on_error/5xx: call p.charge"});
  // With what leads there, nothing is left.
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "on_error": [ { "reply": 409 } ] }, { "reply": 200 })~",
                                R"~(, "faults": { "lose_connection": 1 })~"))).empty());
  // Loops.
  CHECK(gaps(*program_from(shop(R"~({ "for_each": "SELECT id FROM t", "into": "row", "do": [ { "pause": true } ] },
      { "set": { "n": "0" } }, { "while": ":n > 0", "do": [ { "pause": true }, { "set": { "n": "0" } } ] }, { "reply": 200 })~"))) ==
        Words{"never taken: s on_request/0/do: for each row of SELECT id FROM t", "never taken: s on_request/2/do: while :n > 0"});
  // Steps that nothing leads to, an if among them.
  CHECK(gaps(*program_from(shop(R"~({ "reply": 200 }, { "pause": true }, { "if": "true", "then": [ { "pause": true } ] })~"))) ==
        Words{"never executed: s on_request/1: pause", "never executed: s on_request/2: if true"});
}

TEST_CASE("local steps count too: set and stop, in handlers and behind what always fails") {
  CHECK(gaps(*program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "made" },
      { "if": ":made.count = 0", "then": [ { "set": { "a": "1" } }, { "stop": true } ] }, { "reply": 200, "continue": true }, { "stop": true }, { "set": { "b": "2" } })~"))) ==
        Words{"never taken: s on_request/1/then: if :made.count = 0", "never executed: s on_request/4: set b = 2"});
  CHECK(!searched(*program_from(shop(R"~({ "reply": 200 })~", R"~(, "must_reach": [ { "name": "x", "step": "on_request/0" } ])~"))).unseen.must_reach.size());
  CHECK(searched(*program_from(shop(R"~({ "if": ":key = 'L'", "then": [ { "set": { "a": "1" } } ] }, { "reply": 200 })~",
                                    R"~(, "must_reach": [ { "name": "x", "step": "on_request/0/then/0" } ])~"))).unseen.must_reach.size() == 1);
}

TEST_CASE("what only the other side of an if leads to is not told again, and is covered by the same mark") {
  const std::string steps = R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "made" }, { "if": ":made.count = 1", "then": [ { "reply": 200 } ] }, { "pause": true }, { "reply": 503 })~";
  CHECK(gaps(*program_from(shop(steps))) == Words{"never taken: s on_request/1/else: if :made.count = 1"});
  CHECK(gaps(*program_from(shop(steps, R"~(, "unreached": { "on_request/1/else": "the key is new" })~"))).empty());
}

TEST_CASE("faults that are never used") {
  CHECK(gaps(*program_from(shop(R"~({ "reply": 200 })~", R"~(, "faults": { "error_after_effect": 1, "crash": { "max": 1, "service": "s" }, "lose_response": 1 })~"))) ==
        Words{"never used: fault error_after_effect"});
}

TEST_CASE("the premise of a promise of one's own is read off the promise") {
  CHECK(premise("SELECT id FROM d.t WHERE state = 'OPEN'") == "SELECT 1 FROM d.t");
  CHECK(premise("SELECT id FROM d.t WHERE state = 'OPEN' GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 3") == "SELECT 1 FROM d.t WHERE state = 'OPEN'");
  CHECK(premise("SELECT a.id FROM d.t a JOIN d.u b ON a.id = b.id WHERE a.n <> b.n") == "SELECT 1 FROM d.t AS a CROSS JOIN d.u AS b");
  CHECK(premise("SELECT a.id FROM d.t a LEFT JOIN d.u b ON a.id = b.id WHERE b.id IS NULL") == "SELECT 1 FROM d.t AS a");
  CHECK(premise("SELECT a.id FROM d.t a WHERE a.state = 'DONE' AND NOT EXISTS (SELECT 1 FROM d.u b WHERE b.id = a.id) AND a.n > 2") ==
        "SELECT 1 FROM d.t AS a WHERE a.state = 'DONE' AND a.n > 2");
  // What is asked of a table that may be missing cannot be part of it.
  CHECK(premise("SELECT a.id FROM d.t a LEFT JOIN d.u b ON a.id = b.id WHERE b.id IS NULL AND a.n IN (SELECT n FROM d.v)") == "SELECT 1 FROM d.t AS a");
  CHECK(premise("SELECT id FROM d.t UNION SELECT id FROM d.u WHERE n = 1") == "(SELECT 1 FROM d.t) UNION ALL (SELECT 1 FROM d.u)");
  CHECK(premise("SELECT id FROM d.t EXCEPT SELECT id FROM d.u") == "SELECT 1 FROM d.t");
  // Inner queries are opened in the same way.
  CHECK(premise("SELECT id FROM (SELECT id FROM d.t GROUP BY id HAVING count(*) > 1) AS x") == "SELECT 1 FROM (SELECT id FROM d.t GROUP BY id) AS x");
  CHECK(premise("WITH x AS (SELECT id FROM d.t WHERE n > 1) SELECT id FROM x") == "WITH x AS (SELECT id FROM d.t) SELECT 1 FROM x");
  CHECK(premise("SELECT id FROM d.t JOIN d.u USING (id) WHERE id = 'K' AND NOT EXISTS (SELECT 1 FROM d.v)") == "SELECT 1 FROM d.t JOIN d.u USING (id) WHERE id = 'K'");
  CHECK(sql::to_string(premise_of(*sql::parse_statement("SELECT id FROM d.t WHERE state = 'OPEN' AND NOT EXISTS (SELECT 1 FROM d.u)").select, true)) ==
        "SELECT 1 FROM d.t WHERE state = 'OPEN'");
  CHECK(premise_of_change("OLD.id IS NULL AND NEW.state <> 'NEW'") == "SELECT 1 FROM d.t AS old");
  CHECK(premise_of_change("OLD.state = 'DONE' AND NEW.state <> 'DONE'") == "SELECT 1 FROM d.t AS old WHERE old.state = 'DONE'");
  CHECK(premise_of_change("NEW.n < OLD.n") == "SELECT 1 FROM d.t AS old");
  CHECK(premise_of_change("OLD.state = 'A' AND OLD.n = 1 AND ACTOR.me <> OLD.owner") == "SELECT 1 FROM d.t AS old WHERE old.state = 'A' AND old.n = 1");
}

TEST_CASE("a promise is armed by a row of its premise in some state, its own or the one that it is given") {
  const auto inserts = [](const std::string& state) { return R"~({ "sql": "INSERT INTO t VALUES (:key, ')~" + state + R"~(')" }, { "reply": 200 })~"; };
  const auto with = [&](const std::string& state, const std::string& promise) {
    return gaps(*program_from(shop(inserts(state), R"~(, "invariants": [ )~" + promise + " ]")));
  };
  const std::string forward = R"~({ "name": "forward", "never_step": "OLD.state = 'DONE' AND NEW.state <> 'DONE'", "table": "d.t" })~";
  const Words never = {"never armed: forward: its premise never held, so that it holds says nothing"};
  CHECK(with("NEW", forward) == never);
  CHECK(with("DONE", forward).empty());
  const std::string given = R"~({ "name": "forward", "always_empty": "SELECT id FROM d.t WHERE state = 'BAD'", "premise": "SELECT id FROM d.t WHERE state = 'DONE'" })~";
  CHECK(with("NEW", given) == never);
  CHECK(with("DONE", given).empty());
  const std::string live = R"~({ "name": "forward", "eventually_empty": "SELECT id FROM d.t WHERE state = 'OPEN'" })~";
  CHECK(with("NEW", live) == never);
  // A violated promise has been armed.
  CHECK(with("OPEN", live).empty());
  // A row that only one transaction sees is none.
  CHECK(gaps(*program_from(shop(R"~({ "sql": "BEGIN" }, { "sql": "INSERT INTO t VALUES (:key, 'DONE')" }, { "sql": "ROLLBACK" }, { "reply": 200 })~",
                                R"~(, "invariants": [ )~" + forward + " ]"))) == never);
}

TEST_CASE("each built-in promise with a premise of its own: not armed by what is beside it, armed by what it is about") {
  struct Pair {
    std::string promise;
    std::string unarmed, armed;  // steps
  };
  const std::vector<Pair> pairs = {
      {R"~({ "use": "ledger-matches-provider", "name": "x", "ledger": "d.t" })~", R"~({ "reply": 200 })~", R"~({ "call": "p.charge", "key": ":key" }, { "reply": 200 })~"},
      {R"~({ "use": "systems-agree", "name": "x", "systems": [ "d.t", "p" ] })~", R"~({ "reply": 200 })~", R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')" }, { "reply": 200 })~"},
      {R"~({ "use": "only-owner-completes", "name": "x", "record": "d.t", "owner": "state", "token": "me" })~",
       R"~({ "set": { "me": "'a'" } }, { "sql": "INSERT INTO t VALUES (:key, NULL)" }, { "sql": "SELECT id FROM t WHERE state = :me" }, { "reply": 200 })~",
       R"~({ "set": { "me": "'a'" } }, { "sql": "INSERT INTO t VALUES (:key, :me)" }, { "sql": "SELECT id FROM t WHERE state = :me" }, { "reply": 200 })~"},
      {R"~({ "use": "no-state-regression", "name": "x", "record": "d.t", "final": "DONE" })~", R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')" }, { "reply": 200 })~",
       R"~({ "sql": "INSERT INTO t VALUES (:key, 'DONE')" }, { "reply": 200 })~"},
      {R"~({ "use": "no-false-failure", "name": "x" })~", R"~({ "call": "p.charge", "key": ":key" }, { "reply": 200 })~", R"~({ "reply": 422 })~"},
      {R"~({ "use": "conservation", "name": "x", "capture": "p.charge", "refund": "p.refund" })~", R"~({ "call": "p.charge", "key": ":key", "amount": 5 }, { "reply": 200 })~",
       R"~({ "call": "p.charge", "key": ":key", "amount": 5, "into": "c" }, { "call": "p.refund", "key": ":key", "amount": 5 }, { "reply": 200 })~"},
  };
  for (const Pair& p : pairs) {
    CAPTURE(p.promise);
    for (const bool armed : {false, true}) {
      std::string text = shop(armed ? p.armed : p.unarmed, R"~(, "invariants": [ )~" + p.promise + " ]");
      text.replace(text.find(R"~("charge": {})~"), 12, R"~("charge": {}, "refund": {})~");
      CAPTURE(armed);
      CHECK(searched(*program_from(text)).unseen.promises.empty() == armed);
    }
  }
}

TEST_CASE("a premise that cannot be read off the promise asks for less; no-stuck-intent needs a record and a lock") {
  const std::string insert = R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')" }, { "reply": 200 })~";
  // `other` is a column of the side that may be missing.
  const std::string left = R"~(, "invariants": [ { "name": "x", "always_empty": "SELECT a.id FROM d.t a LEFT JOIN (SELECT id AS other FROM d.t) b ON a.id = b.other WHERE other IS NULL AND a.id IN (SELECT id FROM d.t)" } ])~";
  CHECK(searched(*program_from(shop(insert, left))).unseen.promises.empty());
  const auto stuck = [](const std::string& lock, const std::string& open) {
    const std::string text = shop(R"~({ "redis": "SET k v EX 9" }, { "sql": "INSERT INTO t VALUES (:key, 'NEW')" }, { "sql": "DELETE FROM t" }, { "redis": "DEL k" }, { "reply": 200 })~",
                                  R"~(, "redis": { "r": {} }, "invariants": [ { "use": "no-stuck-intent")~" + lock + open + " } ]");
    return searched(*program_from(text)).unseen.promises.empty();
  };
  CHECK(stuck(R"~(, "lock": "k")~", R"~(, "record": "d.t", "open": "NEW")~"));
  CHECK(!stuck(R"~(, "lock": "kk")~", R"~(, "record": "d.t", "open": "NEW")~"));
  CHECK(!stuck(R"~(, "lock": "k")~", R"~(, "record": "d.t", "open": "NWE")~"));
  CHECK(stuck(R"~(, "lock": "k")~", ""));
  CHECK(stuck("", R"~(, "record": "d.t", "open": "NEW")~"));
}

TEST_CASE("only-owner-releases and no-false-duplicate have premises of their own") {
  const auto armed = [](const std::string& text) { return searched(*program_from(text)).unseen.promises.empty(); };
  const auto redis = [](const char* command) {
    return std::string(R"~({ "title": "t", "redis": { "r": {} }, "services": { "s": { "on_request": [ { "redis": ")~") + command +
           R"~(" }, { "reply": 200 } ] } }, "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } }, "invariants": [ "only-owner-releases" ] })~";
  };
  CHECK(!armed(redis("DEL k")));
  CHECK(armed(redis("SET k v")));
  const auto keys = [](const char* second) {
    return std::string(R"~({ "title": "t", "services": { "s": { "on_request": [ { "reply": 200 } ] } }, "clients": {
      "c": { "requests": [ { "to": "s", "key": "K", "identity": "one" } ] }, "e": { "requests": [ { "to": "s", "key": ")~") + second + R"~(", "identity": "two" } ] } },
      "invariants": [ "no-false-duplicate" ] })~";
  };
  CHECK(!armed(keys("L")));
  CHECK(armed(keys("K")));
}

TEST_CASE("must_reach: a step, a branch, a label, a fault, a query") {
  const auto missed = [](const std::string& mark) {
    const auto p = program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "claim", "as": "the claim" },
        { "if": ":claim.count = 0", "then": [ { "reply": 409 } ] }, { "reply": 200 })~",
                                     R"~(, "faults": { "lose_response": 1, "error_after_effect": 1 }, "must_reach": [ { "name": "x", )~" + mark + " } ]"));
    return !searched(*p).unseen.must_reach.empty();
  };
  CHECK(!missed(R"~("step": "on_request/0")~"));
  CHECK(!missed(R"~("step": "s on_request/1/else")~"));
  CHECK(!missed(R"~("step": "the claim")~"));
  CHECK(missed(R"~("step": "on_request/1/then")~"));
  CHECK(missed(R"~("step": "s on_request/1/then/0")~"));
  CHECK(!missed(R"~("fault": "lose_response")~"));
  CHECK(missed(R"~("fault": "error_after_effect")~"));
  CHECK(!missed(R"~("finds": "SELECT id FROM d.t WHERE state = 'NEW'")~"));
  CHECK(missed(R"~("finds": "SELECT id FROM d.t WHERE state = 'DONE'")~"));
  // The world as it begins counts.
  CHECK(!missed(R"~("finds": "SELECT client FROM facts.operations WHERE NOT EXISTS (SELECT 1 FROM d.t)")~"));
}

TEST_CASE("a search goes on behind the last violation until its marks are reached, or to the end") {
  const auto p = [](const std::string& mark) {
    return program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'BAD')" }, { "pause": true }, { "sql": "UPDATE t SET state = 'WORSE'" }, { "pause": true }, { "pause": true }, { "reply": 200 })~",
                             R"~(, "invariants": [ { "name": "no row", "always_empty": "SELECT id FROM d.t" } ], "expect": "violated", "must_reach": [ )~" + mark + " ]"));
  };
  const auto status = [](const Program& program) {
    const CheckResult r = searched(program, 1, true, false);
    return std::pair(exit_status(make_report(program, r, {})), r.complete);
  };
  const auto without = p("");
  CHECK(status(*without) == std::pair(0, false));
  const auto later = p(R"~({ "name": "x", "finds": "SELECT id FROM d.t WHERE state = 'WORSE'" })~");
  CHECK(status(*later) == std::pair(0, false));
  CHECK(searched(*later, 1, true, false).states > searched(*without, 1, true, false).states);
  const auto never = p(R"~({ "name": "x", "finds": "SELECT id FROM d.t WHERE state = 'BEST'" })~");
  CHECK(status(*never) == std::pair(5, true));
}

TEST_CASE("what is never reached does not depend on threads or reductions") {
  for (const char* file : {"dedup-race.jsonc", "redis-failover.jsonc", "lease.jsonc", "outbox.jsonc", "field/B03-rejected-duplicate-deletes-claim.jsonc"}) {
    for (const auto& p : programs_of(shipped(file))) {
      CAPTURE(file);
      CAPTURE(p->scenario.variant);
      const CheckResult one = searched(*p, 1);
      CHECK(searched(*p, 3).unseen == one.unseen);
      CHECK(searched(*p, 2, false).unseen == one.unseen);
    }
    for (const auto& p : programs_of(shipped(file), false)) {
      CAPTURE(p->scenario.variant);
      const auto all = programs_of(shipped(file));
      const auto same = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o->scenario.variant == p->scenario.variant; });
      CHECK(searched(*p).unseen == searched(**same).unseen);
    }
  }
}

TEST_CASE("a simulation sees no more than the search, and all of it given enough runs") {
  const auto p = program_from(shop(R"~({ "sql": "INSERT INTO t VALUES (:key, 'NEW')", "on_error": { "unique_violation": [ { "reply": 409 } ] } }, { "reply": 200 })~",
                                   R"~(, "faults": { "lose_response": 1 }, "must_reach": [ "deadlock", { "name": "row", "finds": "SELECT id FROM d.t" } ])~"));
  SimulateOptions options;
  options.runs = 200;
  CHECK(simulate(*p, options).unseen == searched(*p).unseen);
}

TEST_CASE("every shipped variant: nothing is unreached that is not marked, no mark is stale, each must_reach is reached") {
  for (const std::string& file : shipped_files()) {
    for (const auto& p : programs_of(file)) {
      CAPTURE(file);
      CAPTURE(p->scenario.variant);
      const CheckResult r = searched(*p);
      const Hygiene h = hygiene_of(*p, r.unseen, r.complete);
      for (const Gap& g : h.gaps) {
        CAPTURE(gap_words(g));
        CHECK(g.implied);
      }
      CHECK(h.stale.empty());
      for (const MarkReport& m : h.marks) {
        CAPTURE(m.name);
        CHECK(m.reached);
      }
    }
  }
}

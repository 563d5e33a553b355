// The command line as a user meets it: exit statuses (DESIGN 7), what is printed where, --help with an example for each verb.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/scenarios.hpp"
#include "tests/support/tool.hpp"

using namespace oncecheck::testing;

TEST_CASE("0: every verdict is as the file expects") {
  const Run run = run_tool("check " + shipped("dedup-race.jsonc"));
  CHECK(run.status == 0);
  CHECK(run.out.find("5 variants: 5 as expected") != std::string::npos);
}

TEST_CASE("1: a verdict differs; without expect, any violation") {
  std::string text = read_text(shipped("dedup-race.jsonc"));
  const std::string expectation = R"("expect": { "no-duplicate-effect": "violated" })";
  REQUIRE(text.find(expectation) != std::string::npos);
  text.replace(text.find(expectation), expectation.size(), R"("expect": "holds")");
  CHECK(run_tool("check " + temporary("differs.jsonc", text) + " --variant check-then-act").status == 1);
}

TEST_CASE("2: bad usage, a missing file, a broken scenario, an unknown variant or parameter") {
  CHECK(run_tool("").status == 2);
  CHECK(run_tool("chekc x").status == 2);
  CHECK(run_tool("check").status == 2);
  CHECK(run_tool("check no-such-file.jsonc").status == 2);
  CHECK(run_tool("check " + shipped("dedup-race.jsonc") + " --variant nothing").status == 2);
  CHECK(run_tool("check " + shipped("dedup-race.jsonc") + " --set nothing=1").status == 2);
  CHECK(run_tool("check " + shipped("dedup-race.jsonc") + " --max-memory lots").status == 2);
  const Run broken = run_tool("check " + temporary("broken.jsonc", "{ \"title\": \"x\",\n  \"servces\": {} }"), true);
  CHECK(broken.status == 2);
  CHECK(broken.out.find("broken.jsonc:2:3: error: ") != std::string::npos);
  CHECK(broken.out.find("did you mean 'services'?") != std::string::npos);
}

TEST_CASE("2: mistakes in the SQL of a scenario name construct and place") {
  auto with = [](const std::string& sql) {
    std::string text = read_text(shipped("dedup-race.jsonc"));
    const std::string before = "SELECT result FROM dedup WHERE key = :key\", \"into\": \"seen\"";
    REQUIRE(text.find(before) != std::string::npos);
    return text.replace(text.find(before), std::string("SELECT result FROM dedup WHERE key = :key").size(), sql);
  };
  const std::pair<const char*, const char*> cases[] = {
      {"SELEC result FROM dedup", "syntax error"},
      {"SELECT result FROM dedpu WHERE key = :key", "did you mean 'dedup'?"},
      {"SELECT resutl FROM dedup WHERE key = :key", "did you mean 'result'?"},
      {"SELECT result FROM dedup WHERE key = :kye", "undeclared name \":kye\""},
      {"SELECT row_number() OVER () FROM dedup", "window function"},
      {"MERGE INTO dedup USING orders ON true WHEN MATCHED THEN DELETE", "MERGE"},
      {"UPDATE dedup SET result = result || 'x'", "would grow without bound"},
      {"SELECT result FROM dedup WHERE key = 5", "two values of one type"},
  };
  for (const auto& [sql, message] : cases) {
    CAPTURE(sql);
    const Run run = run_tool("check " + temporary("sql.jsonc", with(sql)) + " --variant check-then-act", true);
    CHECK(run.status == 2);
    CHECK(run.out.find(message) != std::string::npos);
    CHECK(run.out.find("sql.jsonc:") != std::string::npos);
    CHECK(run.out.find("/variants/check-then-act/services/checkout/on_request/0/sql") != std::string::npos);
  }
}

TEST_CASE("3: a limit leaves verdicts open, and open is never holds") {
  for (const char* limit : {"--max-states 100", "--max-memory 200K"}) {
    CAPTURE(limit);
    const Run run = run_tool("check " + shipped("lying-api.jsonc") + " --variant intent-log " + std::string(limit) + " --json - --no-times");
    CHECK(run.status == 3);
    const auto j = nlohmann::json::parse(run.out);
    CHECK(j["results"][0]["complete"] == false);
    for (const auto& v : j["results"][0]["verdicts"]) CHECK(v["verdict"] == "inconclusive");
  }
}

TEST_CASE("--json - leaves nothing but JSON on standard output, with the fields of DESIGN 7") {
  const Run run = run_tool("check " + shipped("redis-failover.jsonc") + " --json -");
  const auto j = nlohmann::json::parse(run.out);
  CHECK(j["tool"] == "oncecheck");
  for (const char* field : {"scenario", "variant", "mode", "complete", "states", "transitions", "depth", "seconds",
                            "peak_memory_bytes", "verdicts", "unreached_steps", "unused_faults"}) {
    CHECK(j["results"][0].contains(field));
  }
}

TEST_CASE("traces are written, replayed and explained; a changed one fails at its first different step") {
  const std::string folder = (std::filesystem::temp_directory_path() / "oncecheck-cli-test" / "traces").string();
  CHECK(run_tool("check " + shipped("rpc-in-transaction.jsonc") + " --traces " + folder).status == 0);
  const std::string trace = folder + "/rpc-in-transaction.rollback-on-timeout.no-double-charge.trace.json";
  CHECK(run_tool("replay " + trace).status == 0);
  const Run story = run_tool("explain " + trace);
  CHECK(story.status == 0);
  CHECK(story.out.find("the promise no-double-charge is broken") != std::string::npos);
  std::string text = read_text(trace);
  text.replace(text.find("send again"), 10, "send agian");
  const Run changed = run_tool("replay " + temporary("changed.trace.json", text), true);
  CHECK(changed.status == 1);
  CHECK(changed.out.find("diverges at step 10") != std::string::npos);
  CHECK(changed.out.find("nearest that can: \"shopper: send again\"") != std::string::npos);
  CHECK(run_tool("replay " + shipped("dedup-race.jsonc")).status == 2);
  // A name that no file can have is a mistake of the trace, as is one that is not there.
  for (const std::string& name : {std::string("gone.jsonc"), std::string(500, 'x') + ".jsonc"}) {
    const std::string text = R"({"oncecheck_trace": 1, "scenario": ")" + name + R"(", "variant": "", "invariant": "", "steps": []})";
    CHECK(run_tool("replay " + temporary("moved.trace.json", text), true).status == 2);
  }
}

TEST_CASE("every verb has help with an example; schema is JSON; list knows the library") {
  for (const std::string verb : {"check", "simulate", "ablate", "windows", "replay", "explain", "conform", "list", "schema"}) {
    CAPTURE(verb);
    const Run run = run_tool(verb + " --help");
    CHECK(run.status == 0);
    CHECK(run.out.find("Example: oncecheck " + verb) != std::string::npos);
  }
  CHECK(nlohmann::json::parse(run_tool("schema").out)["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(run_tool("list invariants").out.find("no-double-charge") != std::string::npos);
  CHECK(run_tool("list faults").out.find("lose_response") != std::string::npos);
  CHECK(run_tool("list " + shipped("")).out.find("intent-log") != std::string::npos);
}

namespace {

// One click on a service that inserts a row; `rest` stands behind.
std::string one_insert(const std::string& rest) {
  return R"~({ "title": "t", "databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text PRIMARY KEY, state text)" ] } },
    "services": { "s": { "on_request": [ { "sql": "INSERT INTO t VALUES (:key, 'NEW')", "into": "made" }, { "if": ":made.count = 0", "then": [ { "reply": 409 } ] }, { "reply": 200 } ] } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } }, )~" + rest + " }";
}

Run checked(const std::string& rest, const std::string& flags = "") { return run_tool("check " + temporary("marks.jsonc", one_insert(rest)) + flags, true); }

}  // namespace

TEST_CASE("5: a mark that is not reached, a promise that was never armed; not when they are marked as intended") {
  const Run missed = checked(R"~("must_reach": [ "deadlock" ])~");
  CHECK(missed.status == 5);
  CHECK(missed.out.find("VACUOUS") != std::string::npos);
  CHECK(missed.out.find("NOT REACHED: deadlock") != std::string::npos);
  const std::string promise = R"~("invariants": [ { "name": "forward", "never_step": "OLD.state = 'DONE' AND NEW.state <> 'DONE'", "table": "d.t" } ])~";
  const Run unarmed = checked(promise);
  CHECK(unarmed.status == 5);
  CHECK(unarmed.out.find("never armed: forward") != std::string::npos);
  const Run intended = checked(promise + R"~(, "unreached": { "forward": "nothing is ever done", "s on_request/1/then": "the key is new" })~", " -v");
  CHECK(intended.status == 0);
  CHECK(intended.out.find("never armed: forward: its premise never held, so that it holds says nothing; intended: nothing is ever done") != std::string::npos);
  CHECK(intended.out.find("never taken: s on_request/1/then: if :made.count = 0; intended: the key is new") != std::string::npos);
  // A gap that is neither a mark nor a promise is told, and fails nothing.
  const Run told = checked(R"~("invariants": [])~");
  CHECK(told.status == 0);
  CHECK(told.out.find("never taken: s on_request/1/then: if :made.count = 0\n") != std::string::npos);
}

TEST_CASE("1: what is marked as unreached is reached; 3: a limit leaves marks open") {
  const Run stale = checked(R"~("unreached": { "s on_request/1/else": "why not" })~");
  CHECK(stale.status == 1);
  CHECK(stale.out.find("\"unreached\" names what is reached: s on_request/1/else") != std::string::npos);
  const Run open = checked(R"~("must_reach": [ { "name": "told", "finds": "SELECT client FROM facts.told" } ])~", " --max-states 2");
  CHECK(open.status == 3);
  CHECK(open.out.find("not reached so far: told") != std::string::npos);
}

TEST_CASE("what was never reached is in the JSON, under names of its own") {
  const Run run = checked(R"~("faults": { "crash": 1, "deploy": 0 }, "must_reach": [ "deadlock", "crash-in-flight" ], "unreached": { "s on_request/1/then": "the key is new" },
      "invariants": [ "no-false-failure" ])~", " --json - --no-times");
  const auto j = nlohmann::json::parse(run.out.substr(run.out.find("{\n")))["results"][0];
  CHECK(j["unreached_steps"].empty());
  CHECK(j["untaken_branches"].empty());
  CHECK(j["intended_unreached"][0]["what"] == "s on_request/1/then");
  CHECK(j["unarmed_promises"] == nlohmann::json::array({"no-false-failure"}));
  CHECK(j["must_reach"] == nlohmann::json::parse(R"~([ { "name": "deadlock", "reached": false }, { "name": "crash-in-flight", "reached": true } ])~"));
}

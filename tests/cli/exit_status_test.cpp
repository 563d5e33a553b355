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

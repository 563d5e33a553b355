// `oncecheck ablate` and `oncecheck windows` as a user meets them: statuses, tables, JSON, traces that replay.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/scenarios.hpp"
#include "tests/support/tool.hpp"

using namespace oncecheck::testing;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string fresh_folder(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() / "oncecheck-cli-test" / name;
  std::filesystem::remove_all(folder);
  return folder.string();
}

int replayed(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path().string());
    CHECK(run_tool("replay " + entry.path().string()).status == 0);
    CHECK(has(run_tool("explain " + entry.path().string()).out, "is broken"));
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("ablate: a table, JSON, and a trace for each load-bearing part") {
  const std::string folder = fresh_folder("ablate");
  const std::string file = shipped("dedup-race.jsonc");
  const Run run = run_tool("ablate " + file + " --variant same-transaction --traces " + folder);
  CHECK(run.status == 0);
  CHECK(has(run.out, "every promise holds in 1,867 states; 8 mutants within the same bounds"));
  CHECK(has(run.out, "7 load-bearing, 1 cannot be dropped"));
  const Run json = run_tool("ablate " + file + " --variant same-transaction --json -");
  const auto j = nlohmann::json::parse(json.out);
  CHECK(json.out == run_tool("ablate " + file + " --variant same-transaction --json - --threads 1").out);
  int broken = 0;
  for (const auto& m : j["results"][0]["mutants"]) {
    CHECK(m["pointer"].get<std::string>().starts_with("/"));
    CHECK(m["line"].get<int>() > 0);
    CHECK((m["verdict"] == "load-bearing") == !m["broken"].empty());
    for (const auto& b : m["broken"]) CHECK(b["trace"].size() == b["depth"].get<std::size_t>());
    broken += static_cast<int>(m["broken"].size());
  }
  CHECK(replayed(folder) == broken);
}

TEST_CASE("ablate: what breaks a promise already is refused; limits leave it open") {
  const std::string file = shipped("dedup-race.jsonc");
  const Run refused = run_tool("ablate " + file + " --variant check-then-act");
  CHECK(refused.status == 2);
  CHECK(has(refused.out, "not ablated: no-duplicate-effect is violated"));
  CHECK(run_tool("ablate " + file).status == 0);  // those that hold are ablated
  CHECK(run_tool("ablate " + file + " --variant same-transaction --max-states 100").status == 3);
  CHECK(run_tool("ablate " + file + " --variant nothing").status == 2);
}

TEST_CASE("windows: a table, JSON, and a trace for each unsafe cell") {
  const std::string folder = fresh_folder("windows");
  const std::string file = shipped("rpc-in-transaction.jsonc");
  const Run run = run_tool("windows " + file + " --variant rollback-on-timeout --explain --traces " + folder);
  CHECK(run.status == 0);
  CHECK(has(run.out, "crash  deploy  timeout  lose_response  duplicate_request"));
  CHECK(!has(run.out, "failover"));
  CHECK(has(run.out, "FAULT timeout"));
  CHECK(replayed(folder) == 11);
  const Run json = run_tool("windows " + file + " --json -");
  CHECK(json.out == run_tool("windows " + file + " --json - --threads 1").out);
  const auto j = nlohmann::json::parse(json.out);
  REQUIRE(j["results"].size() == 2);
  for (const auto& w : j["results"][1]["windows"]) {
    for (const auto& cell : w["cells"]) CHECK(cell["verdict"] != "unsafe");
  }
  const std::string kept = fresh_folder("windows-kept");
  CHECK(run_tool("windows " + file + " --variant rollback-on-timeout --keep-faults --traces " + kept).status == 0);
  CHECK(run_tool("windows " + file + " --variant rollback-on-timeout --max-states 20").status == 3);
  CHECK(run_tool("windows " + file + " --variant nothing").status == 2);
}

TEST_CASE("a trace that names no mutant or disturbance of the scenario is a mistake") {
  for (const std::string key : {"ablation", "only_fault", "one_more_fault"}) {
    const std::string text = R"({"oncecheck_trace": 1, "scenario": ")" + shipped("dedup-race.jsonc") + R"(", "variant": "same-transaction", ")" + key +
                             R"(": "nothing", "invariant": "", "steps": []})";
    CHECK(run_tool("replay " + temporary("unknown.trace.json", text), true).status == 2);
  }
}

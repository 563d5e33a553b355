// Strategies of random runs, shards, and runs that go round for ever.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "invariants/liveness.hpp"
#include "model/step/relation.hpp"
#include "reports/merge_reports.hpp"
#include "reports/run_report.hpp"
#include "sim/simulator.hpp"
#include "tests/support/scenarios.hpp"
#include "tests/support/tool.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

constexpr Strategy kAll[] = {Strategy::Uniform, Strategy::Pct, Strategy::Swarm};

SimulateOptions with(Strategy strategy, std::uint64_t runs) {
  SimulateOptions out;
  out.strategy = strategy;
  out.runs = runs;
  return out;
}

std::string report_of(const Program& p, const SimulateOptions& options) { return to_json({make_report(p, simulate(p, options), {})}, false); }

// How many ways to begin `runs` runs have.
std::size_t openings(const Program& p, Strategy strategy, std::uint64_t runs) {
  std::set<std::string> seen;
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::string opening;
    const std::vector<Event> path = simulate_one(p, with(strategy, 1), run);
    for (std::size_t i = 0; i < std::min<std::size_t>(path.size(), 8); ++i) {
      opening += std::to_string(static_cast<int>(path[i].kind)) + "," + std::to_string(path[i].a) + ";";
    }
    seen.insert(opening);
  }
  return seen.size();
}

}  // namespace

TEST_CASE("each strategy: the same bytes for any number of threads, every run is a path of the model, different runs differ") {
  for (const char* file : {"redis-failover.jsonc", "dedup-race.jsonc", "rolling-deploy.jsonc"}) {
    for (const auto& p : programs_of(shipped(file))) {
      for (const Strategy s : kAll) {
        CAPTURE(file);
        CAPTURE(strategy_name(s));
        SimulateOptions options = with(s, 40);
        options.threads = 1;
        const std::string one = report_of(*p, options);
        options.threads = 3;
        CHECK(report_of(*p, options) == one);
        std::vector<std::uint8_t> world = p->initial;
        Workspace workspace;
        std::vector<Event> events;
        for (const Event& e : simulate_one(*p, options, 7)) {
          enabled(*p, world.data(), events);
          REQUIRE(std::find(events.begin(), events.end(), e) != events.end());
          REQUIRE(!apply(*p, world.data(), e, workspace));
        }
      }
    }
  }
  const auto programs = programs_of(shipped("five-clicks.jsonc"));
  for (const Strategy s : kAll) CHECK(openings(*programs[0], s, 60) >= 10);
}

TEST_CASE("pct: one participant can be slow for the whole run, which a uniform run hardly ever is") {
  // The second of two copies is done with twelve steps before the first one takes its second step.
  std::string twelve;
  for (int i = 0; i < 12; ++i) twelve += R"~({ "pause": true }, )~";
  const auto p = program_from(R"~({ "title": "t", "databases": { "d": { "engine": "postgres", "schema": [ "CREATE TABLE t (id text)", "CREATE TABLE u (id text)" ] } },
    "services": { "s": { "on_request": [ { "sql": "SELECT id FROM t", "into": "before" }, { "if": ":before.count > 0", "then": [ { "reply": 200 } ] }, { "sql": "SELECT id FROM u", "into": "mine" }, )~" +
                              twelve + R"~({ "sql": "INSERT INTO t VALUES (:key)" }, { "sql": "SELECT id FROM u", "into": "other" }, { "if": ":other.count = 0", "then": [ { "sql": "INSERT INTO u VALUES ('first')" } ] }, { "reply": 200 } ],
      "endpoints": { "slow": [ { "pause": true }, { "sql": "SELECT id FROM u", "into": "u" }, { "if": ":u.count > 0", "then": [ { "sql": "INSERT INTO u VALUES ('late')" } ] }, { "reply": 200 } ] } } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] }, "e": { "requests": [ { "to": "s.slow", "key": "L" } ] } },
    "invariants": [ { "name": "never so late", "always_empty": "SELECT id FROM d.u WHERE id = 'late'" } ] })~");
  const std::uint64_t uniform = simulate(*p, with(Strategy::Uniform, 400)).invariants[0].broken_runs;
  const std::uint64_t pct = simulate(*p, with(Strategy::Pct, 400)).invariants[0].broken_runs;
  CHECK(pct > 4 * uniform);
  CHECK(pct > 40);
}

TEST_CASE("swarm: a fault that hides another is left out of half of the runs") {
  // Each crash stops the only handler, and a time-out is needed for the second charge: with crashes as frequent as all else, few
  // runs come so far.
  const auto p = program_from(R"~({ "title": "t", "providers": { "p": { "operations": { "charge": {} } } },
    "services": { "s": { "on_request": [ { "pause": true }, { "pause": true }, { "pause": true }, { "pause": true }, { "pause": true }, { "pause": true }, { "reply": 200, "continue": true },
      { "pause": true }, { "pause": true }, { "pause": true }, { "pause": true }, { "call": "p.charge", "key": ":key" }, { "call": "p.charge", "key": ":key" } ] } },
    "clients": { "c": { "requests": [ { "to": "s", "key": "K" } ] } }, "faults": { "crash": 1, "lose_request": 1, "lose_response": 1 },
    "invariants": [ "no-double-charge" ] })~");
  const std::uint64_t uniform = simulate(*p, with(Strategy::Uniform, 400)).invariants[0].broken_runs;
  const std::uint64_t swarm = simulate(*p, with(Strategy::Swarm, 400)).invariants[0].broken_runs;
  CHECK(swarm > 2 * uniform);
}

TEST_CASE("a run that goes round for ever breaks a promise of liveness, and its cycle is one") {
  for (const auto& [file, variant] : {std::pair("lease.jsonc", "no-lease"), std::pair("dedup-race.jsonc", "poll-then-500")}) {
    for (const auto& p : programs_of(shipped(file))) {
      if (p->scenario.variant != variant) continue;
      const SimulateResult r = simulate(*p, with(Strategy::Uniform, 30));
      CHECK(r.circled > 0);
      CHECK(r.circled + r.at_rest + r.unfinished + r.limited == r.runs);
      for (std::size_t i = 0; i < r.invariants.size(); ++i) {
        const Invariant& promise = p->invariants[i];
        if (!is_liveness(promise.spec.kind)) continue;
        REQUIRE(r.invariants[i].broken_runs == r.circled);
        REQUIRE(r.invariants[i].cycle_from.has_value());
        std::string why;
        CHECK(breaks_for_ever(*p, promise, r.invariants[i].trace, *r.invariants[i].cycle_from, why));
      }
    }
  }
  // Those that keep the promise go on, if need be to the limit.
  const auto programs = programs_of(shipped("in-flight-duplicate.jsonc"));
  for (const auto& p : programs) {
    const SimulateResult r = simulate(*p, with(Strategy::Uniform, 30));
    CHECK(r.circled == 0);
    for (const SimulatedInvariant& i : r.invariants) CHECK(i.broken_runs == 0);
  }
}

TEST_CASE("shards put together are the whole, in any order; what does not fit is refused") {
  for (const char* file : {"redis-failover.jsonc", "lease.jsonc"}) {
    std::vector<std::pair<std::string, std::string>> parts;
    std::vector<RunReport> whole;
    std::vector<std::vector<RunReport>> reports(3);
    for (const auto& p : programs_of(shipped(file))) {
      SimulateOptions options = with(Strategy::Swarm, 100);
      whole.push_back(make_report(*p, simulate(*p, options), {}));
      options.shards = 3;
      for (options.shard = 0; options.shard < 3; ++options.shard) reports[options.shard].push_back(make_report(*p, simulate(*p, options), {}));
    }
    for (std::size_t i : {1u, 2u, 0u}) parts.emplace_back("part" + std::to_string(i), to_json(reports[i], i == 1));
    CHECK(merge_reports(parts).json == to_json(whole, false));
    CHECK(merge_reports(parts).status == 0);
    const auto refused = [](const std::vector<std::pair<std::string, std::string>>& files) {
      try {
        merge_reports(files);
      } catch (const ScenarioError& e) {
        return e.diagnostics()[0].message;
      }
      return std::string();
    };
    CHECK(refused({parts[0], parts[1]}) == "1 of 3 parts are missing");
    CHECK(refused({parts[0], parts[1], parts[1]}) == "part 3 is there twice");
    CHECK(refused({parts[0], {"x", "{"}}) == "this is not JSON");
    CHECK(refused({{"x", "{}"}}) == "this is not a report of oncecheck");
    CHECK(refused({{"whole", to_json(whole, false)}}) == "this is not a report of 'simulate --shard I/N'");
    std::string other = parts[1].second;
    other.replace(other.find("\"seed\": 1"), 9, "\"seed\": 2");
    CHECK(refused({parts[0], {"x", other}, parts[2]}) == "'seed' is another one than in part1");
    CHECK(refused({{"x", R"~({"tool": "oncecheck", "results": [ { "shard": "1/1" } ]})~"}}) == "these are not reports of one simulation");
  }
}

TEST_CASE("the command line: --strategy, --shard, merge") {
  const std::string file = shipped("redis-failover.jsonc") + " --variant redis-only --runs 30 --no-times";
  const std::string a = temporary("a.json", run_tool("simulate " + file + " --strategy pct --shard 1/2 --json -").out);
  const std::string b = temporary("b.json", run_tool("simulate " + file + " --strategy pct --shard 2/2 --json -").out);
  const Run merged = run_tool("merge " + a + " " + b + " --json -");
  CHECK(merged.status == 0);
  CHECK(merged.out == run_tool("simulate " + file + " --strategy pct --json -").out);
  CHECK(run_tool("merge " + a + " " + b).out.find("no-duplicate-effect") != std::string::npos);
  CHECK(run_tool("merge " + a).status == 2);
  CHECK(run_tool("merge no-such-file.json").status == 2);
  for (const char* wrong : {"0/2", "3/2", "1", "1/2x", "a/b", "-1/2"}) {
    CAPTURE(wrong);
    CHECK(run_tool("simulate " + file + " --shard " + wrong).status == 2);
  }
  CHECK(run_tool("simulate " + file + " --strategy luck").status == 2);
}

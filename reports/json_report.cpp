#include <nlohmann/json.hpp>

#include "reports/run_report.hpp"
#include "reports/version.hpp"

namespace oncecheck {

namespace {

using Json = nlohmann::ordered_json;

Json verdict_json(const VerdictReport& v) {
  Json j;
  j["invariant"] = v.invariant;
  j["verdict"] = verdict_name(v.verdict);
  j["expected"] = v.expected ? Json(*v.expected == Expectation::Holds ? "holds" : "violated") : Json(nullptr);
  if (v.broken_runs > 0) {
    j["broken_runs"] = v.broken_runs;
    j["first_run"] = v.first_run;
  }
  if (v.trace) {
    j["trace"] = v.trace->choices;
    j["at_rest"] = v.trace->at_rest;
    if (v.trace->cycle_from) j["cycle_from"] = *v.trace->cycle_from;
  } else {
    j["trace"] = nullptr;
  }
  return j;
}

// In a check, gaps are told only when every state was explored.
void hygiene_json(const RunReport& r, Json& j) {
  const Hygiene& h = r.hygiene;
  const bool looked = h.whole || r.mode == "simulate";
  const auto names = [&](Gap::Kind kind) {
    Json out = Json::array();
    for (const Gap& g : h.gaps) {
      if (looked && g.kind == kind) out.push_back(g.text.empty() ? g.what : g.what + ": " + g.text);
    }
    return out;
  };
  j["unreached_steps"] = names(Gap::Kind::Step);
  j["untaken_branches"] = names(Gap::Kind::Branch);
  j["unused_faults"] = names(Gap::Kind::Fault);
  j["unarmed_promises"] = names(Gap::Kind::Promise);
  j["intended_unreached"] = Json::array();
  for (const Gap& g : h.intended) {
    if (looked) j["intended_unreached"].push_back({{"what", g.what}, {"reason", g.reason}});
  }
  j["stale_unreached"] = h.stale;
  j["must_reach"] = Json::array();
  for (const MarkReport& m : h.marks) j["must_reach"].push_back({{"name", m.name}, {"reached", m.reached}});
}

Json report_json(const RunReport& r, bool with_times) {
  Json j;
  j["scenario"] = r.scenario;
  j["variant"] = r.variant;
  j["mode"] = r.mode;
  if (r.mode == "check") {
    j["complete"] = r.check.complete;
    if (!r.check.why_incomplete.empty()) j["why_incomplete"] = r.check.why_incomplete;
    j["states"] = r.check.states;
    j["transitions"] = r.check.transitions;
    j["depth"] = r.check.depth;
    j["state_bytes"] = r.check.state_bytes;
    j["symmetry"] = {{"interchangeable", r.check.interchangeable}, {"told_apart", r.check.kept_apart}, {"renamed", r.check.renamed}};
  } else {
    j["complete"] = false;
    j["seed"] = r.simulated->seed;
    j["strategy"] = strategy_name(r.simulated->strategy);
    if (r.simulated->shards > 1) j["shard"] = std::to_string(r.simulated->shard + 1) + "/" + std::to_string(r.simulated->shards);
    j["runs"] = r.simulated->runs;
    j["events"] = r.simulated->events;
    j["runs_at_rest"] = r.simulated->at_rest;
    j["runs_circled"] = r.simulated->circled;
    j["runs_unfinished"] = r.simulated->unfinished;
    j["runs_limited"] = r.simulated->limited;
  }
  if (with_times) {
    j["seconds"] = r.check.seconds;
    if (r.mode == "check") {
      j["states_per_second"] = r.check.seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(r.check.states) / r.check.seconds) : 0;
      j["peak_memory_bytes"] = r.check.peak_memory_bytes;
    }
  }
  j["expect"] = r.expects_violation_of_any ? Json("violated") : r.has_expect ? Json("each") : Json(nullptr);
  j["verdicts"] = Json::array();
  for (const VerdictReport& v : r.verdicts) j["verdicts"].push_back(verdict_json(v));
  j["count_mismatches"] = r.count_mismatches;
  j["only_at_rest"] = r.only_at_rest;
  hygiene_json(r, j);
  j["covered"] = r.coverage;
  return j;
}

}  // namespace

std::string to_json(const std::vector<RunReport>& reports, bool with_times) {
  Json j;
  j["tool"] = "oncecheck";
  j["version"] = kVersion;
  j["results"] = Json::array();
  for (const RunReport& r : reports) j["results"].push_back(report_json(r, with_times));
  return j.dump(2) + "\n";
}

}  // namespace oncecheck

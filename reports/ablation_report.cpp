#include "reports/ablation_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/table.hpp"
#include "reports/trace_file.hpp"
#include "reports/version.hpp"

namespace oncecheck {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTextWidth = 60;

std::size_t count(const Ablation& a, Need need) {
  return static_cast<std::size_t>(std::count_if(a.mutants.begin(), a.mutants.end(), [&](const MutantResult& m) { return m.need == need; }));
}

std::string verdict_text(const MutantResult& m, bool verbose) {
  std::string out = need_name(m.need);
  if (!m.why.empty()) return out + ": " + (verbose ? m.why : shorten(m.why, kTextWidth));
  const char* separator = ": ";
  for (const InvariantResult& r : m.check.invariants) {
    if (r.verdict != Verdict::Violated) continue;
    out += separator + r.name + " " + broken_when(r.trace.size(), r.cycle_from);
    separator = ", ";
  }
  return out;
}

Json broken_json(const MutantResult& m) {
  Json out = Json::array();
  for (const Trace& t : traces_of(m, {})) {
    Json j;
    j["invariant"] = t.invariant;
    j["depth"] = t.choices.size();
    j["at_rest"] = t.at_rest;
    if (t.cycle_from) j["cycle_from"] = *t.cycle_from;
    j["trace"] = t.choices;
    out.push_back(std::move(j));
  }
  return out;
}

Json mutant_json(const MutantResult& m) {
  Json j;
  j["name"] = m.mutant.name;
  j["place"] = m.mutant.place;
  j["pointer"] = m.mutant.at.pointer;
  j["line"] = m.mutant.at.line;
  j["change"] = m.mutant.change;
  j["text"] = m.mutant.text;
  j["verdict"] = need_name(m.need);
  if (!m.why.empty()) j["why"] = m.why;
  j["states"] = m.check.states;
  j["broken"] = broken_json(m);
  return j;
}

}  // namespace

std::string to_text(const Ablation& a, const TextOptions& options) {
  std::string out = a.scenario + (a.variant.empty() ? "" : "  " + a.variant) + "\n";
  if (!a.refused.empty()) return out + "    not ablated: " + a.refused + "; only a variant whose promises all hold is ablated\n";
  out += fmt::format("    every promise holds in {} states; {} mutants within the same bounds\n\n", thousands(a.original.states), a.mutants.size());
  std::vector<std::vector<std::string>> rows = {{"line", "place", "change", "text", "verdict"}};
  for (const MutantResult& m : a.mutants) {
    rows.push_back({std::to_string(m.mutant.at.line), m.mutant.place, m.mutant.change, options.verbose ? m.mutant.text : shorten(m.mutant.text, kTextWidth),
                    verdict_text(m, options.verbose)});
  }
  out += table_text(rows, "    ") + "\n    ";
  const char* separator = "";
  for (const Need need : {Need::LoadBearing, Need::NotNeeded, Need::Inconclusive, Need::CannotBeDropped}) {
    if (count(a, need) == 0) continue;
    out += fmt::format("{}{} {}", separator, count(a, need), need_name(need));
    separator = ", ";
  }
  return out + "\n";
}

std::string to_json(const std::vector<Ablation>& ablations) {
  Json j;
  j["tool"] = "oncecheck";
  j["version"] = kVersion;
  j["results"] = Json::array();
  for (const Ablation& a : ablations) {
    Json r;
    r["scenario"] = a.scenario;
    r["variant"] = a.variant;
    r["mode"] = "ablate";
    r["refused"] = a.refused.empty() ? Json(nullptr) : Json(a.refused);
    r["states"] = a.original.states;
    r["mutants"] = Json::array();
    for (const MutantResult& m : a.mutants) r["mutants"].push_back(mutant_json(m));
    j["results"].push_back(std::move(r));
  }
  return j.dump(2) + "\n";
}

std::vector<Trace> traces_of(const MutantResult& m, const std::map<std::string, std::string>& overrides) {
  std::vector<Trace> out;
  for (const InvariantResult& r : m.check.invariants) {
    if (r.verdict != Verdict::Violated) continue;
    out.push_back(trace_of(*m.program, r.trace, r.name, r.at_rest, overrides, r.cycle_from));
    out.back().ablation = m.mutant.name;
  }
  return out;
}

int exit_status(const Ablation& a) {
  if (!a.refused.empty()) return a.refused_inconclusive ? 3 : 2;
  return count(a, Need::Inconclusive) > 0 ? 3 : 0;
}

}  // namespace oncecheck

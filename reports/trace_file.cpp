#include "reports/trace_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/replay.hpp"

namespace oncecheck {

Trace trace_of(const Program& program, const std::vector<Event>& events, const std::string& invariant, bool at_rest,
               const std::map<std::string, std::string>& overrides, std::optional<std::size_t> cycle_from) {
  Trace t;
  t.scenario = program.scenario.file;
  t.variant = program.scenario.variant;
  t.overrides = overrides;
  t.invariant = invariant;
  t.at_rest = at_rest;
  t.choices = choices_of(program, events);
  t.cycle_from = cycle_from;
  return t;
}

std::string trace_to_json(const Trace& trace) {
  nlohmann::ordered_json j;
  j["oncecheck_trace"] = 1;
  j["scenario"] = trace.scenario;
  j["variant"] = trace.variant;
  if (!trace.overrides.empty()) j["set"] = trace.overrides;
  if (!trace.ablation.empty()) j["ablation"] = trace.ablation;
  if (!trace.only_fault.empty()) j["only_fault"] = trace.only_fault;
  if (!trace.one_more.empty()) j["one_more_fault"] = trace.one_more;
  j["invariant"] = trace.invariant;
  j["at_rest"] = trace.at_rest;
  if (trace.cycle_from) j["cycle_from"] = *trace.cycle_from;
  j["steps"] = trace.choices;
  return j.dump(2) + "\n";
}

Trace read_trace(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw ScenarioError({file, "", 0, 0}, "cannot read the trace");
  std::ostringstream text;
  text << in.rdbuf();
  if (!in && !in.eof()) throw ScenarioError({file, "", 0, 0}, "cannot read the trace");
  try {
    const auto j = nlohmann::json::parse(text.str());
    if (j.value("oncecheck_trace", 0) != 1) {
      throw ScenarioError({file, "/oncecheck_trace", 0, 0}, "this is no trace of oncecheck: \"oncecheck_trace\": 1 is missing");
    }
    Trace t;
    t.scenario = j.at("scenario").get<std::string>();
    t.variant = j.value("variant", "");
    t.ablation = j.value("ablation", "");
    t.only_fault = j.value("only_fault", "");
    t.one_more = j.value("one_more_fault", "");
    t.invariant = j.value("invariant", "");
    t.at_rest = j.value("at_rest", false);
    if (j.contains("set")) t.overrides = j["set"].get<std::map<std::string, std::string>>();
    t.choices = j.at("steps").get<std::vector<std::string>>();
    if (j.contains("cycle_from")) {
      const nlohmann::json& from = j["cycle_from"];
      if (!from.is_number_unsigned() || from.get<std::size_t>() > t.choices.size()) {
        throw ScenarioError({file, "/cycle_from", 0, 0}, "\"cycle_from\" is the number of a step: expected a whole number from 0 to " + std::to_string(t.choices.size()));
      }
      t.cycle_from = from.get<std::size_t>();
    }
    return t;
  } catch (const nlohmann::json::exception& e) {
    throw ScenarioError({file, "", 0, 0}, std::string("this is no trace of oncecheck: ") + e.what());
  }
}

}  // namespace oncecheck

// Traces as JSON files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/event.hpp"
#include "model/step/trace.hpp"

namespace oncecheck {

// The run as a trace. REQUIRES: the events are a path of the program.
Trace trace_of(const Program& program, const std::vector<Event>& events, const std::string& invariant, bool at_rest,
               const std::map<std::string, std::string>& overrides, std::optional<std::size_t> cycle_from = std::nullopt);

std::string trace_to_json(const Trace& trace);

// Throws ScenarioError when the file cannot be read or is no trace.
Trace read_trace(const std::string& file);

}  // namespace oncecheck

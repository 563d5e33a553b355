// Traces as JSON files.
#pragma once

#include <string>

#include "model/program/diagnostic.hpp"
#include "model/step/trace.hpp"

namespace oncecheck {

std::string trace_to_json(const Trace& trace);

// Throws ScenarioError when the file cannot be read or is no trace.
Trace read_trace(const std::string& file);

}  // namespace oncecheck

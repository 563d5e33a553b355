// A scenario file to its variants. See docs/format.md for the format, schema.hpp for the JSON Schema.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/program/scenario.hpp"

namespace oncecheck {

// NAME=VALUE of `--set`. VALUE is read as JSON when it parses as such, else as a string.
using Overrides = std::map<std::string, std::string>;

// Reads `file` ("-" is not supported), applies params, overrides and merge patches (RFC 7396), and gives one Scenario for
// each variant in file order (one with variant "" when there are none). Throws ScenarioError with every mistake found.
// Never reads anything but `file` and the {"file": ...} texts that it names (relative to it).
std::vector<Scenario> read_scenario(const std::string& file, const Overrides& overrides = {});

// The same from text; `name` stands for the file in diagnostics and as the base of {"file": ...}.
std::vector<Scenario> read_scenario_text(const std::string& text, const std::string& name, const Overrides& overrides = {});

// The canonical names of the built-in invariants, in the order in which documents list them. The schema lists the same.
const std::vector<std::string>& builtin_invariant_names();

// Other names under which "use" and the invariants of a scenario may call a built-in invariant, with the canonical one.
const std::vector<std::pair<std::string, std::string>>& builtin_invariant_aliases();

}  // namespace oncecheck

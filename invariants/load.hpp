// From a scenario file to programs that know the library of promises.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/program/scenario_reader.hpp"

namespace oncecheck {

struct LoadOptions {
  Overrides overrides;
  std::string variant;  // "": all
  bool clear_dead = true;
};

// One program a variant, in file order. Throws ScenarioError, also for an unknown variant.
std::vector<std::unique_ptr<Program>> load_programs(const std::string& file, const LoadOptions& options = {});
std::vector<std::unique_ptr<Program>> load_programs_text(const std::string& text, const std::string& name,
                                                         const LoadOptions& options = {});

// The same in two steps, for who changes a scenario in between.
std::vector<Scenario> load_scenarios(const std::string& file, const LoadOptions& options = {});
std::vector<Scenario> load_scenarios_text(const std::string& text, const std::string& name, const LoadOptions& options = {});
std::unique_ptr<Program> load_program(const Scenario& scenario, bool clear_dead = true);

}  // namespace oncecheck

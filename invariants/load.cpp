#include "invariants/load.hpp"

#include "invariants/library.hpp"

namespace oncecheck {

namespace {

std::vector<Scenario> chosen(std::vector<Scenario> scenarios, const std::string& file, const LoadOptions& options) {
  if (options.variant.empty()) return scenarios;
  std::vector<Scenario> out;
  std::vector<std::string> known;
  for (Scenario& s : scenarios) {
    known.push_back(s.variant);
    if (s.variant == options.variant) out.push_back(std::move(s));
  }
  if (out.empty()) {
    throw ScenarioError({file, "/variants", 1, 1}, "there is no variant \"" + options.variant + "\"", nearest_name(options.variant, known));
  }
  return out;
}

std::vector<std::unique_ptr<Program>> compile_all(const std::vector<Scenario>& scenarios, const LoadOptions& options) {
  std::vector<std::unique_ptr<Program>> programs;
  for (const Scenario& s : scenarios) programs.push_back(load_program(s, options.clear_dead));
  return programs;
}

}  // namespace

std::vector<Scenario> load_scenarios(const std::string& file, const LoadOptions& options) {
  return chosen(read_scenario(file, options.overrides), file, options);
}

std::vector<Scenario> load_scenarios_text(const std::string& text, const std::string& name, const LoadOptions& options) {
  return chosen(read_scenario_text(text, name, options.overrides), name, options);
}

std::unique_ptr<Program> load_program(const Scenario& scenario, bool clear_dead) {
  CompileOptions options;
  options.promises = &promise_library();
  options.clear_dead = clear_dead;
  return compile(scenario, options);
}

std::vector<std::unique_ptr<Program>> load_programs(const std::string& file, const LoadOptions& options) {
  return compile_all(load_scenarios(file, options), options);
}

std::vector<std::unique_ptr<Program>> load_programs_text(const std::string& text, const std::string& name, const LoadOptions& options) {
  return compile_all(load_scenarios_text(text, name, options), options);
}

}  // namespace oncecheck

#include "invariants/load.hpp"

#include "invariants/library.hpp"

namespace oncecheck {

namespace {

std::vector<std::unique_ptr<Program>> compile_all(const std::vector<Scenario>& scenarios, const std::string& file, const LoadOptions& options) {
  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::string> known;
  for (const Scenario& s : scenarios) {
    known.push_back(s.variant);
    if (!options.variant.empty() && s.variant != options.variant) continue;
    CompileOptions compile_options;
    compile_options.promises = &promise_library();
    compile_options.clear_dead = options.clear_dead;
    programs.push_back(compile(s, compile_options));
  }
  if (programs.empty()) {
    throw ScenarioError({file, "/variants", 1, 1}, "there is no variant \"" + options.variant + "\"", nearest_name(options.variant, known));
  }
  return programs;
}

}  // namespace

std::vector<std::unique_ptr<Program>> load_programs(const std::string& file, const LoadOptions& options) {
  return compile_all(read_scenario(file, options.overrides), file, options);
}

std::vector<std::unique_ptr<Program>> load_programs_text(const std::string& text, const std::string& name, const LoadOptions& options) {
  return compile_all(read_scenario_text(text, name, options.overrides), name, options);
}

}  // namespace oncecheck

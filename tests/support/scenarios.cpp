#include "tests/support/scenarios.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "invariants/load.hpp"
#include "model/check/checker.hpp"

namespace oncecheck::testing {

namespace {

// Sanitizers make a search ten times slower: they take a sample. Whether some variant of the file has more states than that.
bool too_large(const std::string& file) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr long kMostStates = 10'000;
  std::ifstream counts(std::string(ONCECHECK_SOURCE_DIR) + "/tests/check/counts.txt");
  std::string name, variant;
  for (long states, transitions, depth, all; counts >> name >> variant >> states >> transitions >> depth >> all;) {
    if (all > kMostStates && file.ends_with("/" + name)) return true;
  }
  return false;
#else
  return file.empty();
#endif
}

}  // namespace

std::vector<std::string> shipped_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(ONCECHECK_SOURCE_DIR) + "/scenarios")) {
    if (entry.path().extension() == ".jsonc" && !too_large(entry.path().string())) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string shipped(const std::string& name) { return std::string(ONCECHECK_SOURCE_DIR) + "/scenarios/" + name; }

std::string read_text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::unique_ptr<Program>> programs_of(const std::string& file, bool clear_dead) {
  LoadOptions options;
  options.clear_dead = clear_dead;
  return load_programs(file, options);
}

std::unique_ptr<Program> program_from(const std::string& text, const std::string& variant, bool clear_dead) {
  LoadOptions options;
  options.clear_dead = clear_dead;
  options.variant = variant;
  return std::move(load_programs_text(text, "test.jsonc", options).front());
}

std::string verdict_of(const Program& program, const std::string& invariant) {
  CheckOptions options;
  options.threads = 1;
  for (const InvariantResult& r : check(program, options).invariants) {
    if (r.name == invariant) return verdict_name(r.verdict);
  }
  return "";
}

}  // namespace oncecheck::testing

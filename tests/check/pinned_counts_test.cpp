// The size of the search of every shipped variant, as tests/check/counts.txt has it: a change of the model, of a reduction or of
// a scenario that makes it another one is noticed. Where the change is meant, pin anew and look at the difference:
//
//   ONCECHECK_PIN=1 ctest --test-dir build/release -R check/pinned_counts
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kTable = std::string(ONCECHECK_SOURCE_DIR) + "/tests/check/counts.txt";

// "file variant" to "states transitions depth", then the states without symmetry, in the order of the files.
using Counts = std::map<std::string, std::string>;

Counts counted() {
  Counts out;
  for (const std::string& file : shipped_files()) {
    const std::string name = std::filesystem::relative(file, shipped("")).string();
    for (const auto& program : programs_of(file)) {
      const CheckResult r = check(*program, {});
      CheckOptions all;
      all.symmetry = false;
      const std::string variant = program->scenario.variant.empty() ? "-" : program->scenario.variant;
      out[name + " " + variant] = fmt::format("{} {} {} {}", r.states, r.transitions, r.depth, check(*program, all).states);
      CAPTURE(name);
      CAPTURE(variant);
      for (const InvariantResult& i : r.invariants) CHECK(i.verdict != Verdict::Inconclusive);
    }
  }
  return out;
}

Counts pinned() {
  Counts out;
  std::ifstream in(kTable);
  std::string file, variant, counts;
  while (in >> file >> variant && std::getline(in >> std::ws, counts)) out[file + " " + variant] = counts;
  return out;
}

}  // namespace

TEST_CASE("every shipped variant has as many states, transitions and levels as are pinned") {
  const Counts now = counted();
  if (std::getenv("ONCECHECK_PIN") != nullptr) {
    std::ofstream out(kTable);
    for (const auto& [variant, counts] : now) out << variant << " " << counts << "\n";
  }
  const Counts before = pinned();
  for (const auto& [variant, counts] : now) {
    CAPTURE(variant);
    REQUIRE(before.contains(variant));
    CHECK(before.at(variant) == counts);
  }
  CHECK(before.size() == now.size());
}

// The collapsed search (check/collapsed_search.hpp) against the search that takes every step anew.
#include <doctest/doctest.h>

#include <optional>
#include <utility>

#include "model/check/checker.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

struct Pair {
  CheckResult collapsed, plain;
};

// Nothing: the scenario cannot be collapsed.
std::optional<Pair> both(const Program& program, bool symmetry, std::uint64_t audit, std::uint32_t forgets = 0) {
  CheckOptions options;
  options.threads = 1;
  options.explore_all = true;
  options.symmetry = symmetry;
  options.max_states = 40'000;
  options.collapse_audit = audit;
  options.collapse_forgets = forgets;
  CheckResult collapsed = check(program, options);
  if (!collapsed.collapsed) return std::nullopt;
  options.collapse = false;
  Pair out{std::move(collapsed), check(program, options)};
  CHECK_FALSE(out.plain.collapsed);
  return out;
}

// Whether the scenario could be collapsed.
bool compare(const Program& program, bool symmetry) {
  const std::optional<Pair> pair = both(program, symmetry, 1);  // every state is expanded both ways
  if (!pair) return false;
  const CheckResult &got = pair->collapsed, &want = pair->plain;
  CHECK(got.complete == want.complete);
  CHECK(got.why_incomplete == want.why_incomplete);
  CHECK(got.rest_states == want.rest_states);
  CHECK(got.depth == want.depth);
  CHECK(got.unseen == want.unseen);
  // Symmetry keeps some worlds of one orbit apart (step/symmetry.hpp); collapsed states have no order to begin with.
  if (symmetry) {
    CHECK(got.states <= want.states);
  } else {
    CHECK(got.states == want.states);
    CHECK(got.transitions == want.transitions);
  }
  for (std::size_t i = 0; i < want.invariants.size(); ++i) {
    CAPTURE(want.invariants[i].name);
    CHECK(got.invariants[i].verdict == want.invariants[i].verdict);
    CHECK(got.invariants[i].trace.size() == want.invariants[i].trace.size());
    CHECK(got.invariants[i].at_rest == want.invariants[i].at_rest);
  }
  return true;
}

bool differs(const Program& program, bool symmetry, std::uint32_t forgets) {
  const std::optional<Pair> pair = both(program, symmetry, 0, forgets);
  if (!pair) return false;
  return pair->collapsed.states != pair->plain.states || pair->collapsed.transitions != pair->plain.transitions ||
         pair->collapsed.rest_states != pair->plain.rest_states;
}

std::string pay_lease() { return std::string(ONCECHECK_SOURCE_DIR) + "/tests/bench/pay-lease.jsonc"; }

}  // namespace

TEST_CASE("collapsed or not, shipped scenarios and pay-lease have the same states and verdicts") {
  int collapsed = 0;
  std::vector<std::string> files = shipped_files();
  files.push_back(pay_lease());
  for (const std::string& file : files) {
    CAPTURE(file);
    for (const auto& program : programs_of(file)) {
      CAPTURE(program->scenario.variant);
      for (const bool symmetry : {true, false}) collapsed += compare(*program, symmetry) ? 1 : 0;
    }
  }
  MESSAGE(collapsed << " searches were collapsed");
  CHECK(collapsed >= 30);
}

TEST_CASE("collapsed or not, generated scenarios have the same states and verdicts") {
  std::uint64_t collapsed = 0;
  for (std::uint64_t seed = 0; seed < generated_count(200); ++seed) {
    CAPTURE(seed);
    const auto program = program_from(generated_plain_scenario(seed));
    for (const bool symmetry : {true, false}) collapsed += compare(*program, symmetry) ? 1 : 0;
  }
  MESSAGE(collapsed << " searches were collapsed");
  CHECK(collapsed > generated_count(200));
}

TEST_CASE("each rule that makes collapsing sound is missed when it is forgotten") {
  std::vector<std::unique_ptr<Program>> programs;
  for (const std::string& file : {pay_lease(), shipped("redlock.jsonc"), shipped("redis-failover.jsonc")}) {
    for (auto& program : programs_of(file)) programs.push_back(std::move(program));
  }
  // Two requests, and room for one of them.
  std::string text = read_text(pay_lease());
  const std::string tasks = R"("tasks": "${handlers}")";
  REQUIRE(text.find(tasks) != std::string::npos);
  text.replace(text.find(tasks), tasks.size(), R"("tasks": 1)");
  programs.push_back(program_from(text, "key-honoured"));
  for (auto& program : programs) program->invariants.clear();  // no traces of states that there are not
  for (int rule = 0; rule < kCollapseRules; ++rule) {
    CAPTURE(rule);
    bool missed = false;
    for (const auto& program : programs) {
      for (const bool symmetry : {true, false}) {
        CHECK_FALSE(differs(*program, symmetry, 0));
        missed = missed || differs(*program, symmetry, 1u << rule);
      }
      if (missed) break;
    }
    CHECK(missed);
  }
}

// The checker against the plain reference explorer: same verdicts, and the same number of states and transitions.
#include <doctest/doctest.h>

#include "model/check/checker.hpp"
#include "model/check/reference.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

TEST_CASE("checker and reference agree on every shipped variant, reductions off") {
  for (const std::string& file : shipped_files()) {
    for (const auto& p : programs_of(file, false)) {
      CAPTURE(file);
      CAPTURE(p->scenario.variant);
      CheckOptions options;
      options.explore_all = true;
      options.symmetry = false;
      const CheckResult got = check(*p, options);
      REQUIRE(got.complete);
      const CheckResult want = reference_check(*p, got.states + 10);
      REQUIRE(want.complete);
      CHECK(got.states == want.states);
      CHECK(got.transitions == want.transitions);
      CHECK(got.depth == want.depth);
      for (std::size_t i = 0; i < want.invariants.size(); ++i) {
        CAPTURE(want.invariants[i].name);
        if (is_liveness(p->invariants[i].spec.kind)) continue;  // liveness_test.cpp
        CHECK(verdict_name(got.invariants[i].verdict) == std::string(verdict_name(want.invariants[i].verdict)));
      }
    }
  }
}

TEST_CASE("dead-variable clearing changes no verdict and never adds states") {
  for (const std::string& file : shipped_files()) {
    const auto plain = programs_of(file, false), reduced = programs_of(file, true);
    for (std::size_t v = 0; v < plain.size(); ++v) {
      CAPTURE(file);
      CAPTURE(plain[v]->scenario.variant);
      CheckOptions options;
      options.explore_all = true;
      options.symmetry = false;
      const CheckResult a = check(*plain[v], options), b = check(*reduced[v], options);
      CHECK(b.states <= a.states);
      for (std::size_t i = 0; i < a.invariants.size(); ++i) CHECK(a.invariants[i].verdict == b.invariants[i].verdict);
    }
  }
}

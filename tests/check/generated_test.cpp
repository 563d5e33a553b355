// The checker against the reference explorer on random scenarios; simulated runs stay inside what the checker knows.
#include <doctest/doctest.h>

#include <set>

#include "model/check/checker.hpp"
#include "model/check/reference.hpp"
#include "model/step/relation.hpp"
#include "sim/simulator.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

TEST_CASE("checker and reference agree on generated scenarios, and clearing dead variables changes no verdict") {
  constexpr std::uint64_t kMost = 6000;
  std::uint64_t compared = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < generated_count(300); ++seed) {
    CAPTURE(seed);
    const std::string text = generated_scenario(seed);
    const auto plain = program_from(text, "", false);
    const CheckResult want = reference_check(*plain, kMost);
    if (want.states > kMost) continue;
    ++compared;
    limited += want.complete ? 0 : 1;
    CheckOptions options;
    options.threads = 2;
    options.explore_all = true;
    options.symmetry = false;
    const CheckResult got = check(*plain, options), reduced = check(*program_from(text), options);
    CHECK(got.complete == want.complete);
    CHECK(got.states == want.states);
    CHECK(got.transitions == want.transitions);
    CHECK(got.depth == want.depth);
    for (std::size_t i = 0; i < want.invariants.size(); ++i) {
      CAPTURE(want.invariants[i].name);
      CHECK(got.invariants[i].verdict == want.invariants[i].verdict);
      if (want.complete && reduced.complete) CHECK(reduced.invariants[i].verdict == want.invariants[i].verdict);
    }
    CHECK(reduced.states <= got.states);
  }
  MESSAGE(compared << " scenarios compared, " << limited << " of them met a bound of the model");
  CHECK(compared * 2 > generated_count(300));
}

// Traces: every counterexample replays and breaks its promise; every simulated run is a path of the model.
#include <doctest/doctest.h>

#include "model/check/checker.hpp"
#include "model/step/relation.hpp"
#include "sim/replay.hpp"
#include "sim/simulator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

TEST_CASE("every counterexample of every shipped variant replays by its names and breaks its promise") {
  int counterexamples = 0;
  for (const std::string& file : shipped_files()) {
    for (const auto& p : programs_of(file)) {
      CAPTURE(file);
      CAPTURE(p->scenario.variant);
      for (const InvariantResult& r : check(*p).invariants) {
        if (r.verdict != Verdict::Violated) continue;
        ++counterexamples;
        const Replay again = replay(*p, choices_of(*p, r.trace));
        REQUIRE(!again.divergence);
        CHECK(again.events == r.trace);
        CHECK(breaks_at_end(*p, again.events, r.name, r.cycle_from));
        if (r.cycle_from) continue;
        // Shortest: no earlier point of it breaks the promise.
        for (std::size_t n = 0; n < r.trace.size(); ++n) {
          CHECK(!breaks_at_end(*p, {r.trace.begin(), r.trace.begin() + static_cast<std::ptrdiff_t>(n)}, r.name));
        }
      }
    }
  }
  CHECK(counterexamples >= 8);
}

TEST_CASE("every step of a simulated run is one that the model offers") {
  std::vector<Event> events;
  Workspace workspace;
  for (const std::string& file : shipped_files()) {
    for (const auto& p : programs_of(file)) {
      SimulateOptions options;
      options.seed = 11;
      for (std::uint64_t run = 0; run < 10; ++run) {
        std::vector<std::uint8_t> world = p->initial;
        for (const Event& e : simulate_one(*p, options, run)) {
          enabled(*p, world.data(), events);
          REQUIRE(std::find(events.begin(), events.end(), e) != events.end());
          REQUIRE(!apply(*p, world.data(), e, workspace));
        }
      }
    }
  }
}

TEST_CASE("a replay fails loudly at the first choice that is not offered") {
  const auto programs = programs_of(shipped("dedup-race.jsonc"));
  const Program& p = *programs[0];
  std::vector<std::string> choices;
  for (const InvariantResult& r : check(p).invariants) {
    if (r.verdict == Verdict::Violated && choices.empty()) choices = choices_of(p, r.trace);
  }
  REQUIRE(choices.size() > 3);
  choices[2] += "x";
  const Replay again = replay(p, choices);
  REQUIRE(again.divergence);
  CHECK(again.divergence->step == 2);
  CHECK(again.divergence->nearest + "x" == choices[2]);
}

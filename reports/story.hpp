// A run told step by step: who did what, with which result, and what it changed. Data first; text and other formats render
// it (timeline.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

struct StoryStep {
  std::string lane;                  // the participant
  std::string headline;              // one sentence
  std::vector<std::string> changes;  // tables, keys and ledgers that look different now
  bool fault = false;
};

struct Story {
  std::vector<std::string> lanes;  // in the order of the scenario
  std::vector<StoryStep> steps;
  std::vector<std::string> findings;  // rows that the broken promise's query found at the end
};

// REQUIRES: the events are a path of the model. `invariant` may be empty. `cycle_from`: it is one of liveness, and the events
// from there on are repeated for ever.
Story tell(const Program& program, const std::vector<Event>& events, const std::string& invariant,
           std::optional<std::size_t> cycle_from = std::nullopt);

}  // namespace oncecheck

// Named choices back to events: replays a trace on the model, loudly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

struct ReplayDivergence {  // the first choice that the model does not offer
  std::size_t step = 0;  // from 0
  std::string choice;
  std::string nearest;   // the offered choice that looks most like it; "" when there is none
  std::vector<std::string> offered;
  std::string reason;    // a limit of the model, when that is why
};

struct Replay {
  std::vector<Event> events;
  std::optional<ReplayDivergence> divergence;
};

Replay replay(const Program& program, const std::vector<std::string>& choices);

// The names of a run's choices. REQUIRES: the events are a path of the model.
std::vector<std::string> choices_of(const Program& program, const std::vector<Event>& events);

// Whether the promise breaks at the end of the run; a promise of liveness, when events[cycle_from..] goes on for ever
// (breaks_for_ever; none: nothing is left to happen). Otherwise `why`, if there, may say what is wrong.
bool breaks_at_end(const Program& program, const std::vector<Event>& events, const std::string& invariant,
                   std::optional<std::size_t> cycle_from = std::nullopt, std::string* why = nullptr);

}  // namespace oncecheck

// The transition relation: the only code that changes a world (DESIGN 1). The checker, the simulator and replay all drive
// these functions. A world is Program::plan.layout.bytes bytes; both functions are deterministic and keep no state but the
// scratch space, so threads work side by side with one Workspace each.
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/event.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

// Scratch space of one thread.
struct Workspace {
  Scratch scratch;
  std::vector<std::uint8_t> world;  // room for one
  // A byte for each of Program::branches that `apply` takes, then for each local instruction of Program::code that it runs (Set,
  // End); empty: nobody asks.
  std::vector<std::uint8_t> visited;
};

// All events that can happen in this world, in a fixed order, into `events` (cleared first).
// `faults` false leaves out those that a budget pays for.
void enabled(const Program& program, const std::uint8_t* world, std::vector<Event>& events, bool faults = true);

// Performs an event that `enabled` gave for the same world, then brings the world into canonical form.
// A limit that comes back set means: the model cannot follow this event (see limit.hpp); the world is then meaningless.
// `seen` takes what a statement or command gave, for people; null in a search.
Limit apply(const Program& program, std::uint8_t* world, const Event& event, Workspace& workspace,
            Observation* seen = nullptr);

// The same without the canonical form: fresh values and deadlines keep their numbers, so that what was there before can be
// compared with what is there now. Such a world is to look at, no event starts from it.
Limit apply_raw(const Program& program, std::uint8_t* world, const Event& event, Workspace& workspace, Observation* seen = nullptr);

// Whether nothing is left to happen without a fault: messages are gone, tasks have ended, timers have fired, and each job,
// run alone, changes nothing (DESIGN 4, "rest"). Timers that only a quiet system fires count as still to come.
bool at_rest(const Program& program, const std::uint8_t* world, Workspace& workspace);

}  // namespace oncecheck

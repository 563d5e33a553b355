// What fairness is about (model/check/liveness.hpp): which events are the same action, and which timers run.
//
// A run is fair when it leaves out nothing for ever that the system would do. Two things are asked of it:
// - Each action that can happen from some moment on at every moment happens again and again (weak fairness). Events that
//   differ only in what somebody may choose are one action: the answer of a provider that may decline, the instance that
//   takes a request, the connection of a pool, the way of a Redis command. So nothing forces a choice to go the good way.
// - No timer runs for ever: it fires, or what it was for comes to an end. Otherwise time would stand still.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/step/relation.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

// The action of an event, 48 bits, the same number in every world: it names sender, task, job, message or request by what
// they are, not by their slot. Fresh values and deadlines count as equal. 0: nothing forces it, because a fault pays, it is a
// fault without end, it ends a timer (see below), or it is a purge, which can also never come.
// REQUIRES: the event is one of this world's.
std::uint64_t action_of(const Program& program, const std::uint8_t* world, const Event& event);

// Something that time alone ends: a client that waits with a time-out, a deadline, a time to live, a key that a provider
// forgets, the default time-out of a lock, a wait for a connection of a pool, the end of a drain.
struct Timer {
  EventKind kind = EventKind::PassDeadline;
  std::uint8_t a = 0, b = 0, c = 0;  // as in the event that ends it
  std::uint64_t what = 0;            // ForgetKey, whose slots move: the key
  friend bool operator==(const Timer&, const Timer&) = default;
};

// All that run in this world, also where no event may end them yet.
std::vector<Timer> running_timers(const Program& program, const std::uint8_t* world);

// The same timer after a step, which gave `seen` (deadlines are numbered anew); nothing when the step ended it or what it was
// for.
std::optional<Timer> still_runs(const Program& program, const Timer& timer, const std::uint8_t* before, const Event& event,
                                const Observation& seen, const std::uint8_t* after);

bool ends_timer(const Program& program, const std::uint8_t* world, const Event& event, const Timer& timer);

}  // namespace oncecheck

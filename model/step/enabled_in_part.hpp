// What can happen in a part of a world, seen for itself (check/collapse.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/event.hpp"

namespace oncecheck {

// As `enabled` with faults, but for a world from which something is left out that has work to do: the system is not quiet, so
// timers that run out only in a quiet system are not listed.
void enabled_in_part(const Program& program, const std::uint8_t* world, std::vector<Event>& events);

}  // namespace oncecheck

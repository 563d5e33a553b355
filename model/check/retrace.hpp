// From a state that the search has seen back to the first one, and forward again by real steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/check/seen_set.hpp"
#include "model/check/state_space.hpp"

namespace oncecheck {

// The events of a shortest way to states[0], and on through the others by one step each. `broken`, unless null, is broken by the
// last step. REQUIRES: the states are in the set, and each follows from the one before; `first` is the fingerprint of the first
// state of the search.
std::vector<Event> retrace(const StateSpace& space, const SeenSet& seen, std::uint64_t first, const std::vector<std::uint64_t>& states,
                           const Invariant* broken);

// The same for a search that knows a world by known_as(world), 0 when it cannot say. Nothing: there is no such way.
std::optional<std::vector<Event>> retrace(const Program& program, const std::function<std::uint64_t(const std::uint8_t*)>& known_as, const SeenSet& seen,
                           std::uint64_t first, const std::vector<std::uint64_t>& states);

}  // namespace oncecheck

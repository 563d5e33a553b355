// Liveness judged the plain way, for comparison with model/check/liveness.hpp: whole worlds in a map, every edge kept, and for
// each state on its own the set of states from which it can be reached back. Quadratic, no components, no cycles built.
#pragma once

#include <cstdint>
#include <optional>

#include "model/check/monitor.hpp"
#include "model/check/result.hpp"
#include "model/program/program.hpp"

namespace oncecheck::testing {

// The verdict of a promise of liveness, beside a monitor if there is one; nothing when there are more states, or the model meets a
// bound.
std::optional<Verdict> live_reference(const Program& program, std::size_t invariant, std::size_t max_states,
                                      const Monitor* monitor = nullptr);

}  // namespace oncecheck::testing

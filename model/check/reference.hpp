// A deliberately plain explorer: a set of whole worlds, one queue, no fingerprints, no reductions, no threads. Slow and
// obvious; the checker is tested against it.
#pragma once

#include "model/check/result.hpp"
#include "model/program/program.hpp"

namespace oncecheck {

// Verdicts (without traces), states, transitions and depth. Stops with complete = false beyond max_states.
// Promises of liveness are not judged: they come back inconclusive.
CheckResult reference_check(const Program& program, std::uint64_t max_states);

}  // namespace oncecheck

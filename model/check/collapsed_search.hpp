// Breadth-first search over collapsed states (collapse.hpp): what Search (checker.cpp) finds, with steps that are looked up instead of
// made. Its states are worlds up to the numbers of requests, handlers and fresh values: with symmetry, no more than Search has, and fewer
// where symmetry keeps some of one orbit apart.
#pragma once

#include <optional>

#include "model/check/checker.hpp"

namespace oncecheck {

// Nothing: the scenario, its promises or the options are not of this kind, see docs/performance.md. The result, counterexamples included,
// does not depend on the number of threads.
std::optional<CheckResult> check_collapsed(const Program& program, const CheckOptions& options);

}  // namespace oncecheck

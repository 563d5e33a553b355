// `oncecheck ablate` and `oncecheck windows`: what holds a design up, and where it is open.
#pragma once

#include "cli/arguments.hpp"

namespace oncecheck {

// Both give the exit status: 0 done; 2 when no variant could be ablated; 3 when something is inconclusive. Throw ScenarioError.
int run_ablate(const Arguments& arguments);
int run_windows(const Arguments& arguments);

}  // namespace oncecheck

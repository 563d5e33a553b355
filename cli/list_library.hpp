// `oncecheck list invariants|faults|steps|providers`: what a scenario can name.
#pragma once

#include <string>

namespace oncecheck {

// Prints the list; false when there is none of that name.
bool list_library(const std::string& what);

}  // namespace oncecheck

// Dead-variable analysis of bodies: which local cells nobody reads again before they are set (backward data flow).
// Clearing them merges states. Sound for every property: a dead cell takes no part in any later step.
#pragma once

#include "model/program/program.hpp"

namespace oncecheck {
void find_dead_cells(Program& program);
}  // namespace oncecheck

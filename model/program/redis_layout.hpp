// Room for each redis in a world: only what the scenario's options, faults and commands ask for.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// REQUIRES: the layout has its tasks and budgets. Moves `next`, the first free byte.
void build_redis_layout(CompileState& state, int& next);

// Roles in the first world.
void start_redis(const Plan& plan, std::uint8_t* w);

}  // namespace oncecheck

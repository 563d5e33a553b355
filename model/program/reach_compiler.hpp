// Resolves the marks of "must_reach" and "unreached": places of steps and branches, faults, promises, queries.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// REQUIRES: bodies, faults and invariants have been compiled.
void compile_reach(CompileState& state);

}  // namespace oncecheck

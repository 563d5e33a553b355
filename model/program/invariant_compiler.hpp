// Promises to queries over tables and facts.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// `promises` is the library that built-in names are looked up in.
void compile_invariants(CompileState& state, const std::vector<Promise>& promises);

}  // namespace oncecheck

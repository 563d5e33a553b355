// Places every part of the world: offsets, strides, the list of value cells.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Whether some promise reads this table of facts.
bool asks_for(const Program& program, FactTable table);

void build_layout(CompileState& state);

}  // namespace oncecheck

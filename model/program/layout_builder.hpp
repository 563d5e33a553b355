// Places every part of the world: offsets, strides, the list of value cells.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {
void build_layout(CompileState& state);
}  // namespace oncecheck

// The rows that a schema's INSERTs give: put into the first world, committed.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// state.initial_rows into the world `w`. A row that the server would refuse (NOT NULL, CHECK, a key that is there, a missing
// parent, a value that does not fit) is a mistake at the place of its INSERT.
void place_initial_rows(CompileState& state, std::uint8_t* w);

}  // namespace oncecheck

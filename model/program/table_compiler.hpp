// CREATE TABLE / INDEX and the rows that a schema starts with.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Reads every database's schema: tables into Plan::layout.tables (no offsets yet), INSERTs into state.initial_rows.
void compile_tables(CompileState& state);

}  // namespace oncecheck

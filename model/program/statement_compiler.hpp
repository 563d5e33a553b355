// SQL statements of steps to what exec_sql runs.
#pragma once

#include <string>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

struct CompiledStatement {
  SqlStatement statement;             // without `into`
  std::vector<std::string> columns;   // names of the result's columns, in order
  std::vector<SqlType> types;         // of these columns
};

// `names` null: no `:name` allowed. Errors go to state.errors; the statement is then of kind Nothing.
CompiledStatement compile_statement(CompileState& state, const Text& text, const sql::Statement& statement,
                                    LocalNames* names, int db);

}  // namespace oncecheck

// Statements about the session: transactions, savepoints, settings.
#pragma once

#include "model/program/expr_compiler.hpp"

namespace oncecheck {

// BEGIN, COMMIT, ROLLBACK, SAVEPOINT, ROLLBACK TO, RELEASE and SET into `out`. False for every other kind of statement.
bool compile_session_statement(ExprCompiler& exprs, const sql::Statement& statement, int db, SqlStatement& out);

}  // namespace oncecheck

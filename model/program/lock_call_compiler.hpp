// Advisory locks of PostgreSQL and named locks of MySQL: SELECT pg_advisory_xact_lock(42), SELECT GET_LOCK('a', 10).
#pragma once

#include "model/program/expr_compiler.hpp"

namespace oncecheck {

// Of any kind, supported or not.
bool is_lock_function(const std::string& name);

// A SELECT whose list is one call of a lock function, or that selects from a subselect of that kind. False for others.
bool compile_lock_call(ExprCompiler& exprs, const sql::Select& select, SqlStatement& out, std::vector<std::string>& columns);

}  // namespace oncecheck

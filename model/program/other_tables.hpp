// A statement that writes or locks rows of one table and joins others: which rows, is EXISTS over the others; a value that
// names them is a scalar subquery over them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

// UPDATE t SET a = u.b FROM u WHERE ...: which rows change is EXISTS (SELECT ... FROM u WHERE ...), and a value is
// (SELECT u.b FROM u WHERE ... LIMIT 1). When several rows of u match, the server takes any of them (PostgreSQL manual,
// UPDATE); the model takes the first.
sql::Expr over_other_tables(sql::ExprKind kind, const sql::Expr& value, const std::vector<sql::FromItem>& from,
                            const std::shared_ptr<sql::Expr>& where);

// Whether the value may differ from row to row.
bool names_column(const sql::Expr& e);

sql::Expr number_one(int location);

// SELECT ... FROM o JOIN a ON a.id = o.a FOR UPDATE OF o as a SELECT from o alone. It must be sure that each row of o is in
// the result at most once: the join names all columns of a unique key of each other table. nullopt otherwise, and for
// everything but inner joins of tables that lock one of them.
std::optional<sql::Select> locked_table_alone(const CompileState& state, const sql::Select& s, int db);

}  // namespace oncecheck

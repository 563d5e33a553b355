// When PostgreSQL evaluates the subqueries of a WHERE, which SSI can see (planner: distribute_qual_to_rels, SS_process_sublinks,
// pull_up_sublinks; executor: nodeResult, nodeSubplan). Only transactions tracked by SSI need to know.
//
// - A condition that names no column of the query ("gate": EXISTS of something else, a parameter) is tested once, before
//   anything is scanned. When it does not hold, nothing is.
// - The others run for a row that the conditions without subqueries let through; or before (the value of an index scan, the
//   table of a hash join), which is a choice of the server's plan: read_subqueries.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Whether the statement or a part of it has a subquery in some WHERE that the server may run ahead.
bool asks_subqueries(const Code& code, const SqlStatement& statement);

// Whether the gates of a WHERE over `sources` row sources from `first` on are open.
bool gates_open(Context& ctx, ExprId where, int first, int sources);

// The WHERE of a row, subqueries last. kNoExpr: true.
bool row_passes(Context& ctx, ExprId where);

// Runs the subqueries of every WHERE of the statement, its parts left out, for what SSI remembers of it. One that depends on
// the row around it is read as a hash join does: all of its tables. REQUIRES: its parts have run.
void read_subqueries(Context& ctx, const SqlStatement& statement);

}  // namespace oncecheck

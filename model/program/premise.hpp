// The premise of a promise: what there must be for the promise to say anything. A promise that holds because its premise never
// did is vacuous (DESIGN 5).
//
// A promise of one's own may give its "premise", a query; a built-in one has it in the library. Otherwise it is taken from the
// promise itself, "where A, B must be" being read as "A, and not B":
// - HAVING: what is grouped. No WHERE conjunct is dropped.
// - else, when some conjuncts of WHERE have subqueries: the rows that the other conjuncts leave.
// - else: a row of each table in FROM, without WHERE. Conditions of joins never count.
// - UNION: of either side; EXCEPT and INTERSECT: of the left one.
// - eventually_empty: as these, but the conjuncts of WHERE without subqueries always count: a row has been open.
// - never_step: a row of the table for which the conjuncts about OLD alone are true.
#pragma once

#include <string>

#include "model/program/sql_ast.hpp"

namespace oncecheck {

// Of an always_empty or finally_empty, or, `eventually`, of an eventually_empty.
sql::Select premise_of(const sql::Select& promise, bool eventually = false);

// Of a never_step over rows of "schema.table".
sql::Select premise_of_step(const sql::Expr& promise, const std::string& schema, const std::string& table);

}  // namespace oncecheck

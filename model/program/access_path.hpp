// Which index a statement scans, and which ranges of its keys.
#pragma once

#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

struct TableScan {
  int table = 0;
  int src = 0;                       // row source of the table
  int last_src = 0;                  // the sources after it, up to this one, are not known yet when it is scanned
  std::vector<ExprId> conditions;    // all of them hold for a row of the result; kNoExpr among them is ignored
  const std::vector<Order>* order = nullptr;  // that the rows of this table alone are wanted in
  bool write = false;                // UPDATE or DELETE
  std::vector<ExprId> reads;         // what else is evaluated on its rows
};

// As the servers choose for tables of a few rows: an equality, IN list or range on the primary key or a unique index first,
// then on another index, else a full scan. MariaDB makes a full scan by the shortest index that has all columns that are read.
AccessPath choose_access(const CompileState& state, const TableScan& scan);

// SqlStatement::covering for a write that is found by `access`, the whole key of a unique index; index < 0: none. Instead of
// the primary key it is a secondary index that has all columns, else a shorter index. MariaDB takes it when it expects no more
// records in it than keys to look up, counted by a dive into the index when the statement starts (measured, EXPLAIN UPDATE).
AccessPath covering_access(const CompileState& state, const TableScan& scan, const AccessPath& access);

// How SELECT MIN(column) or MAX(column) of one table is answered by one record of an index; index < 0: it is not.
AccessPath extreme_access(const CompileState& state, const TableScan& scan, int column, bool highest);

}  // namespace oncecheck

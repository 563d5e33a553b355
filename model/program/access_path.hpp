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
};

// As the servers choose for tables of a few rows: an equality, IN list or range on the primary key or a unique index first,
// then on another index, else a full scan.
AccessPath choose_access(const CompileState& state, const TableScan& scan);

}  // namespace oncecheck

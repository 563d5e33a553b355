// Row locks that exclude each other.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

// PostgreSQL manual, table 13.3: whether one session's lock on a row keeps another from taking the other.
bool conflicts(RowLock a, RowLock b);

// The session (global number) whose lock on this row version keeps session `number` of the same database from taking `want`;
// -1 when none does.
int lock_holder(const Layout& layout, const TableLayout& table, const std::uint8_t* version, int number, RowLock want);

}  // namespace oncecheck

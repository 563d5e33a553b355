// Row locks that exclude each other.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

// PostgreSQL manual, table 13.3: whether one session's lock on a row keeps another from taking the other.
bool conflicts(RowLock a, RowLock b);

// A session's byte on a row version: the lock (bits 0-2), the savepoint depth that took it (bits 3-5), and the weaker lock
// that it was raised from (bits 6-7), which a ROLLBACK TO brings back. A lock raised twice, at two depths, forgets the first.
inline RowLock held_lock(std::uint8_t byte) { return static_cast<RowLock>(byte & 7); }
void add_row_lock(std::uint8_t& byte, RowLock lock, int level);
void undo_row_lock(std::uint8_t& byte, int level);   // what was taken at `level` or deeper goes
void merge_row_lock(std::uint8_t& byte, int level);  // what was taken deeper than `level` belongs to it

// The session (global number) whose lock on this row version keeps session `number` of the same database from taking `want`;
// -1 when none does.
int lock_holder(const Layout& layout, const TableLayout& table, const std::uint8_t* version, int number, RowLock want);

}  // namespace oncecheck

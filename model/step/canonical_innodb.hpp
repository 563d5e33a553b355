// The canonical form of InnoDB tables and their lock table.
#pragma once

#include <cstdint>

#include "model/world/plan.hpp"

namespace oncecheck {

// Slots in byte order, current rows first; every name of a slot follows: the versions that it replaced, locks, scans
// that wait. A table without a key keeps its rows in the order in which they came, which is that of their hidden row
// numbers.
void sort_innodb_table(const Plan& plan, int table, std::uint8_t* w);

// Granted locks by record (on one record in the order in which they were granted), then the queue as it stands.
void sort_lock_table(const Plan& plan, int db, std::uint8_t* w);

}  // namespace oncecheck

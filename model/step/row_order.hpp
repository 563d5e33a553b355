// Whether the order in which a database goes through rows can depend on which session, or which fresh value, has which number.
// Such a database is not the same to all sessions, so they cannot change places (symmetry.hpp).
//
// PostgreSQL: rows lie sorted by their cells, uncommitted ones behind (canonical_postgres.hpp). Who goes through several rows and
// can tell their order - it waits for them one by one, takes the first, loops over them - finds one that has nothing to do with
// numbers only where a key without fresh values and times tells all rows apart. InnoDB goes by its indexes, where fresh values
// and times have an arbitrary order.
#pragma once

#include <string>

#include "model/step/numbered_values.hpp"

namespace oncecheck {

// "" when it cannot; else why, for people.
std::string numbered_order(const Program& program, const NumberedValues& numbered, int db);

// The same for the order of values: "" when nobody goes through several rows and can tell their order.
std::string told_order(const Program& program, const NumberedValues& numbered, int db);

}  // namespace oncecheck

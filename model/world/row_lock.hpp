// Row locks that exclude each other.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

// PostgreSQL manual, table 13.3: whether one session's lock on a row keeps another from taking the other.
bool conflicts(RowLock a, RowLock b);

}  // namespace oncecheck

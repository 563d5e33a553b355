// A SELECT on the read replica. Internal to model/world: callers use exec_sql (statement.hpp).
#pragma once

#include "model/world/statement.hpp"

namespace oncecheck {

// Reads what the replica has applied, on a connection of its own: a transaction of the session on the primary plays no part.
ExecResult run_on_replica(Context& ctx, const SqlStatement& statement, std::uint8_t* locals);

}  // namespace oncecheck

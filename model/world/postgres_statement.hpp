// A statement on PostgreSQL. Internal to model/world: callers use exec_sql (statement.hpp).
#pragma once

#include "model/world/statement.hpp"

namespace oncecheck {

ExecResult run_postgres(Context& ctx, const SqlStatement& statement, std::uint8_t* locals);

}  // namespace oncecheck

// A statement on InnoDB (MariaDB, MySQL). Internal to model/world: callers use exec_sql (statement.hpp).
#pragma once

#include "model/world/statement.hpp"

namespace oncecheck {

ExecResult run_innodb(Context& ctx, const SqlStatement& statement, std::uint8_t* locals);

}  // namespace oncecheck

// SQLSTATE (PostgreSQL) and errno (MariaDB, MySQL) of the error classes that handlers branch on.
// PostgreSQL manual, appendix A; MariaDB "Error Codes"; MySQL "Server Error Message Reference".
#pragma once

#include <string>

#include "model/world/plan.hpp"

namespace oncecheck {

// Whether a server reports this class with this code. "" stands for no error.
bool is_code_of(Engine engine, ErrorClass error, const std::string& code);

// The code that it reports as a rule, for messages.
std::string usual_code(Engine engine, ErrorClass error);

}  // namespace oncecheck

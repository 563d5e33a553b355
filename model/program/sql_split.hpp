// A text of several SQL statements to its statements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_parser.hpp"

namespace oncecheck::sql {

// Splits at semicolons outside of literals and comments (for PostgreSQL libpg_query's scanner); empty statements are dropped.
// Throws SqlError when the text cannot be scanned.
std::vector<std::string> split_statements(std::string_view text, Dialect dialect = Dialect::Postgres);

}  // namespace oncecheck::sql

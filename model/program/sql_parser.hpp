// Text of the SQL subset to a syntax tree. The grammar is PostgreSQL's own (libpg_query); only `:name` is ours, and the
// spellings of MySQL are rewritten before (mysql_rewrite.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "model/program/sql_ast.hpp"

namespace oncecheck::sql {

enum class Dialect { Postgres, MySql, MariaDb };

// A syntax error, or a construct outside the subset. `location` is a byte offset into the text given, -1 when unknown;
// what() names the construct and what is supported instead.
class SqlError : public std::runtime_error {
 public:
  SqlError(std::string message, int location) : std::runtime_error(std::move(message)), location(location) {}
  int location;
};

// Exactly one statement (a trailing semicolon is allowed). `:name` and `:name.field` become ExprKind::Param; `::type` casts,
// string literals, quoted identifiers and comments are left alone. Throws SqlError.
Statement parse_statement(std::string_view text, Dialect dialect = Dialect::Postgres);

// One expression, e.g. a condition ":claim.count = 0". Throws SqlError.
Expr parse_expression(std::string_view text);

// "30s", "10 minutes", "1m", "250ms", "24h", "1 day" -> microseconds; nullopt when it is no interval.
std::optional<std::int64_t> parse_interval(std::string_view text);

}  // namespace oncecheck::sql

// The spellings of MySQL and MariaDB that PostgreSQL's grammar does not have, rewritten before it reads the text. What is
// only a matter of meaning (CONCAT, IF, booleans that are numbers) is left to the readers and the compiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/mysql_editor.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck::sql {

// INSERT ... ON DUPLICATE KEY UPDATE becomes ON CONFLICT ON CONSTRAINT with this name.
inline constexpr std::string_view kDuplicateKey = "duplicate key";
// UPDATE ... ORDER BY ... LIMIT becomes WITH this name AS (SELECT 1 ORDER BY ... LIMIT) UPDATE ...
inline constexpr std::string_view kOrderOfWrite = "order of write";
// KEY name (a) within CREATE TABLE becomes CONSTRAINT with this in front of its name UNIQUE (a).
inline constexpr std::string_view kPlainIndex = "plain index ";

// a DIV b becomes a / this column * b, which binds as DIV does.
inline constexpr std::string_view kDiv = "div of mysql";

struct MysqlText {
  std::vector<TextPiece> pieces;
  std::optional<ServerRefusal> refused;
  bool no_result = false;  // DO
};

// Throws SqlError for spellings of MySQL that are outside the subset.
MysqlText rewrite_mysql(std::string_view text, Dialect dialect);

// mysql_table_rewrite.cpp: CREATE TABLE, which begins at the first token.
void rewrite_create_table(MysqlEditor& editor);

// A name of MySQL (with backticks or without) as PostgreSQL's quoted name. MySQL's column names ignore case.
std::string quoted_name(std::string_view written);

}  // namespace oncecheck::sql

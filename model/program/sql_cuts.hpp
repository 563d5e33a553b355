// Guards in an SQL text that can be cut out of it: what each weaker text would lack. Works on tokens, so that the rest stays
// as the user wrote it, for every dialect.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_parser.hpp"

namespace oncecheck::sql {

// Bytes [from, to) of the text are replaced by `by`.
struct TextCut {
  std::size_t from = 0;
  std::size_t to = 0;
  std::string by;
  std::string what;   // "conjunct of WHERE", "ON CONFLICT", "primary key", ...
  std::string shown;  // the part that goes: "state = 'IN_FLIGHT'"
  // A unique or primary key: of which table and columns. Empty for other cuts.
  std::string table;
  std::vector<std::string> columns;
};

std::string apply_cut(std::string_view text, const TextCut& cut);

// Of a statement of a handler: each conjunct of a WHERE or HAVING, also of subqueries and of DO UPDATE (a top-level OR keeps a
// clause whole); ON CONFLICT, INSERT IGNORE, ON DUPLICATE KEY UPDATE; FOR UPDATE and the like; ISOLATION LEVEL one lower.
// In the order of the text. REQUIRES: parse_statement accepts the text.
std::vector<TextCut> statement_cuts(std::string_view text, Dialect dialect);

// Of the statements of a schema: each PRIMARY KEY, UNIQUE, FOREIGN KEY or REFERENCES and CHECK, each unique index, and each
// conjunct of a partial one's WHERE. What an index leaves may be blank.
std::vector<TextCut> schema_cuts(std::string_view text, Dialect dialect);

// Of a condition: its conjuncts, when it has several.
std::vector<TextCut> condition_cuts(std::string_view text);

// The conflict target of an INSERT INTO `table` ... ON CONFLICT (`columns`) DO NOTHING: without it any conflict counts. Empty
// when the text is no such statement.
std::vector<TextCut> conflict_target_cuts(std::string_view text, Dialect dialect, const TextCut& unique);

// The next lower isolation level of this dialect, or "".
std::string weaker_isolation(std::string_view level, Dialect dialect);

}  // namespace oncecheck::sql

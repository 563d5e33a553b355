// What is outside the SQL subset, in the words of SQL: names of refused constructs, spellings of other databases.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

// Names and places for the fields of parse tree nodes that our own tree has no room for.
struct FieldRefusal {
  std::string_view node;    // type of the node, e.g. "SelectStmt"
  std::string_view field;   // e.g. "intoClause"
  std::string_view phrase;  // "SELECT INTO"
  std::string_view word;    // lower-case word of the text at the place, "" when the value of the field has a place
  std::string_view advice;  // what to do instead, or ""
  bool before = false;      // the word stands before the first place that the node knows
};

// nullptr when there is no own phrase for it.
const FieldRefusal* find_field_refusal(std::string_view node, std::string_view field);

// The SQL name of a node type, "MergeStmt" -> "MERGE": from a table, else from the words of the type's name.
std::string construct_name(std::string_view node);

// "X is outside the SQL subset", with the advice after a colon.
std::string refusal_text(std::string_view construct, std::string_view advice = "");

struct ForeignSpelling {
  std::string message;
  std::size_t at;  // into the text
};

// Backticks, which PostgreSQL would take for an operator.
std::optional<ForeignSpelling> foreign_quote(std::string_view text, const std::vector<Token>& tokens);
// What explains a syntax error: the first spelling of MySQL, if any.
std::optional<ForeignSpelling> foreign_spelling(std::string_view text, const std::vector<Token>& tokens);

}  // namespace oncecheck::sql

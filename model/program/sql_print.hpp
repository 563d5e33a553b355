// The syntax tree back to SQL, in one canonical spelling: parsing what is printed gives the same tree again, but for
// the places. Used for error texts, and to tell whether two expressions are the same.
#pragma once

#include <string>

#include "model/program/sql_ast.hpp"

namespace oncecheck::sql {

std::string to_string(const Expr& e);
std::string to_string(const Select& select);
std::string to_string(const Statement& statement);

// A name, in quotes when it needs them.
std::string name_text(const std::string& name);
// Text in single quotes.
std::string literal_text(const std::string& text);

}  // namespace oncecheck::sql

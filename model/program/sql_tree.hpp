// The parse tree of libpg_query, as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/program/sql_params.hpp"

namespace oncecheck::sql {

using Json = nlohmann::json;

// The raw statements of the text: objects with "stmt", and "stmt_location" unless it is 0. Locations in the tree are
// byte offsets into sql.text(); a location of 0 is left out, -1 means unknown. Beware: integers that are 0 or negative
// are left out of this tree (see integer_at), and SET (a, b) = x holds a copy of x for each column, so the text is
// refused when that would explode. Throws SqlError, with a place in the original text, for a syntax error.
std::vector<Json> parse_tree(const RewrittenSql& sql);

// The value of the integer constant at `location`, which the tree left out because it is not above 0.
std::int64_t integer_at(const RewrittenSql& sql, int location);

}  // namespace oncecheck::sql

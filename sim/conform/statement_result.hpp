// What a statement gave, as vectors show it.
#pragma once

#include <string>

#include "model/world/context.hpp"
#include "sim/conform/vector.hpp"

namespace oncecheck {

// Rows, a number of affected rows, "OK" or "ROLLBACK". `failed`: the transaction had failed before the statement ran.
Json result_of(const Plan& plan, Engine engine, const SqlStatement& statement, const Observation& seen, bool failed);

// Whether the order of its rows counts.
bool is_ordered(const Plan& plan, const SqlStatement& statement);

// Why the model could not follow.
std::string limit_words(LimitKind kind);

}  // namespace oncecheck

// What the model gave, in the words of a vector.
#pragma once

#include <string>

#include "model/world/context.hpp"
#include "sim/conform/outcome.hpp"

namespace oncecheck {

// `failed`: the statement found its transaction failed.
Json result_of(const Plan& plan, Engine engine, const SqlStatement& s, const Observation& seen, bool failed);

// Whether the order of its rows means something.
bool is_ordered(const Plan& plan, const SqlStatement& s);

// Why the model could not go on.
std::string bound_words(LimitKind kind);

}  // namespace oncecheck

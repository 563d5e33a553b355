// + - * / % and unary minus on numbers and intervals. NULL in gives NULL out. What the server answers with an error
// (division by zero, a number out of range) is raised in `ctx`. Semantics: PostgreSQL manual 9.3 and 9.9; MySQL manual,
// "Arithmetic Operators" and "Precision Math".
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// op: Add, Sub, Mul, Div, Mod, Quotient, RoundedQuotient. range: NumberRange, of what the server computes with.
Val arithmetic(Context& ctx, Op op, const Val& a, const Val& b, std::uint8_t range);
Val negative(Context& ctx, const Val& v);

// -1, 0 or 1 for two values of which each is an Int or a Decimal.
int compare_numbers(const Val& a, const Val& b);

}  // namespace oncecheck

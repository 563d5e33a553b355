// The subset of Lua that scripts of EVAL may use: locals, assignments, if, return, redis.call, redis.pcall, KEYS[n], ARGV[n],
// comparisons, and, or, not, +, -, tonumber, tostring; a table only as an answer. What lies outside is refused by its name.
#pragma once

#include <stdexcept>
#include <string>

#include "model/program/compile_state.hpp"

namespace oncecheck {

struct LuaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws LuaError.
LuaScript parse_lua(CompileState& state, const std::string& text);

}  // namespace oncecheck

// Redis commands as text ("SET lock:{:key} :token NX PX 10000") to what exec_redis runs.
#pragma once

#include <string>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Errors go to state.errors. The command has no `into` cells yet.
RedisCommand compile_redis(CompileState& state, const Text& text, LocalNames& names, int redis, bool on_replica);

// Fields of a Redis result: "" (the answer), "count" (1 when it took effect or found something, else 0; the number that it
// answers), "answer1" ... (the items of an answer that is a list).
const std::vector<std::string>& redis_fields();

}  // namespace oncecheck

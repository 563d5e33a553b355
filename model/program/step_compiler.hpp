// Steps of handlers, start-up programs and jobs to instructions.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// All bodies of all services into Program::code, with their call sites, replies, queues and steps. Needs the tables.
void compile_bodies(CompileState& state);

}  // namespace oncecheck

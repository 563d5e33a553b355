// The finite domain of a scenario: which texts and numbers its cells can ever hold.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Makes Plan::domain and renumbers the text constants of all nodes to it.
void build_domain(CompileState& state);

}  // namespace oncecheck

// Clients, providers and faults of a scenario to their compiled form.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// Names, requests, senders (without cell values), faults. Reports unknown names.
void compile_actors(CompileState& state);

// The texts and numbers that actors bring along, for the domain.
void intern_actor_values(CompileState& state, std::vector<std::int64_t>& ints);

// Once the domain is there: cells of request fields, keys, names.
void encode_actors(CompileState& state);

}  // namespace oncecheck

// Partitions between named groups: makes NetworkPlan from the faults that name groups.
#pragma once

#include "model/program/compile_state.hpp"

namespace oncecheck {

// REQUIRES: the reader has accepted the groups. Adds a cut, and its budget to Program::faults. Reports a cut too many.
void compile_partition(CompileState& state, const Fault& fault);

// When all cuts are known and services, clients and providers are compiled: who is in which zone.
void compile_zones(CompileState& state);

}  // namespace oncecheck

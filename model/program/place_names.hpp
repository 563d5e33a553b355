// How reports, "must_reach" and "unreached" call steps, branches and faults.
#pragma once

#include <string>

#include "model/program/program.hpp"

namespace oncecheck {

std::string full_place(const StepInfo& step);      // "checkout on_request/1/then/0"
std::string full_place(const BranchInfo& branch);
std::string fault_words(const Program& program, const FaultBudget& fault);  // "crash (service checkout)"

// Whether `place` is `whole` or a part of it, as "a/1/then/0" is of "a/1/then".
bool lies_in(const std::string& place, const std::string& whole);

}  // namespace oncecheck

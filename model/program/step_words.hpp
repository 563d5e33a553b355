// What the words of a step stand for: statuses, error classes, provider operations.
#pragma once

#include <optional>
#include <string>

#include "model/program/compile_state.hpp"

namespace oncecheck {

// The text of a step on one line, for people.
std::string one_line(const std::string& text);

// What a reply tells the client: by "means", else by its status (DESIGN 4: ok, failed or unknown; 202 is accepted).
Outcome outcome_of(const Step& step);

// "unique_violation" and so on; nullopt for a class that the model never gives.
std::optional<ErrorClass> error_class(const std::string& name);

// "PROVIDER.OPERATION" of a call into site.provider and site.operation; false after a reported error.
bool find_operation(CompileState& state, const Step& step, CallSite& site);

}  // namespace oncecheck

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

// What a call names: an operation of a provider, or an endpoint of a service. nullopt after a reported error.
struct CallTarget {
  int provider = -1, operation = 0;  // operation: or kLookup
  int service = -1, endpoint = 0;
};
std::optional<CallTarget> find_call_target(CompileState& state, const Step& step);

}  // namespace oncecheck

// The named promises (DESIGN 4, CASES.md): each as SQL over the recorded facts, with its words. An identity is one client
// operation; an effect is a change at the provider or in a table declared under "effects", never the service's own rows.
#pragma once

#include <vector>

#include "model/program/program.hpp"

namespace oncecheck {

const std::vector<Promise>& promise_library();

// The promise of that name or alias, or null.
const Promise* find_promise(const std::string& name);

}  // namespace oncecheck

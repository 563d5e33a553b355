// Whether an event is one of the things that "must_reach" can ask for by name (occurrence_words says what each is).
//
// A handler of which it is not known on what it works (handler_work.hpp) counts for the request whose key it still has, else for
// none: an occurrence is seen only where it is certain.
#pragma once

#include "model/step/relation.hpp"

namespace oncecheck {

// REQUIRES: `enabled` gave the event for this world. Overwrites workspace.world.
bool occurs(const Program& program, Occurrence what, const std::uint8_t* world, const Event& event, Workspace& workspace);

}  // namespace oncecheck

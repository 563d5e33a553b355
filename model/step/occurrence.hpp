// Whether an event is one of the things that "must_reach" can ask for by name (occurrence_words says what each is).
//
// A handler works on the operation of the client that waits for it. When that client has given up, on the only operation that
// can come to its endpoint; with several, or when the caller is no client, on the one whose key it still has in a local. A
// handler of which this is no longer known counts for no operation: an occurrence is seen only where it is certain.
#pragma once

#include "model/step/relation.hpp"

namespace oncecheck {

// REQUIRES: `enabled` gave the event for this world. Overwrites workspace.world.
bool occurs(const Program& program, Occurrence what, const std::uint8_t* world, const Event& event, Workspace& workspace);

}  // namespace oncecheck

// When InnoDB's purge takes deleted rows away (EventKind::Purge).
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/event.hpp"

namespace oncecheck {

// Adds the purges that can happen now. A purge changes nothing but the records and locks of its table, so it may wait until
// somebody is about to lock or change something there: only then its order counts. It is also offered when no request, job or
// start-up program runs, since nothing is left to do in a world at rest. Without reductions it is offered at once.
void list_purges(const Program& program, const std::uint8_t* world, std::vector<Event>& out);

}  // namespace oncecheck

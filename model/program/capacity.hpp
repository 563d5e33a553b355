// How many requests can be there at once: the sizes of bags of messages and of pools of handlers.
#pragma once

#include <optional>

#include "model/program/program.hpp"

namespace oncecheck {

// Requests to services that can be in flight; of webhooks, queues and calls between services nobody knows how many: bounds.messages.
int most_messages(const Program& program, const Bounds& bounds);

// Of a service that only clients ask: so many requests can be there at once, no more. nullopt for any other.
std::optional<int> most_requests(const Program& program, int service);

// As many handlers as are likely to run at once, at most 6. When more are needed, the check is inconclusive.
int default_handlers(const Program& program, int service);

}  // namespace oncecheck

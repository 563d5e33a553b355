// What a handler works on: which code, which operation of a client, under which key. For rules that ask whether a request is a
// copy of one that somebody works on already (occurrence.hpp, check/window_monitor.hpp).
#pragma once

#include <cstdint>

#include "model/program/program.hpp"

namespace oncecheck {

// The code that a task runs. REQUIRES: the task is not free.
const Body& body_of(const Program& program, const std::uint8_t* world, int task);

// Whether this body, of either version, handles the requests of a route.
bool comes_to(const Program& program, const RouteInfo& route, const Body& body);

// The operation that a client asks for, by one of its senders.
int operation_of_sender(const Program& program, int sender);

// The operation that a handler works on: that of the client that waits for it; when that client has given up, the only one
// that can come to its endpoint. -1 when it is not known: several can come, or the caller is no client.
int operation_of_task(const Program& program, const std::uint8_t* world, int task);

// The key with which the handler was asked, if it was by this route; NULL when it had none, or does not need it any more.
// REQUIRES: the route comes to the body of the task.
CellId kept_key(const Program& program, const std::uint8_t* world, int task, const RouteInfo& route);

}  // namespace oncecheck

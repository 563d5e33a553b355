// What a driver of recorded cases asks of the model of a database server, beside running statements.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program/program.hpp"
#include "model/world/context.hpp"
#include "model/world/statement.hpp"

namespace oncecheck {

// The waiting statement of ctx.session ends with this error: a time-out, a cancel, a deadlock.
// GET_LOCK answers a time-out with 0, so the result can be Done.
ExecResult fail_waiting(Context& ctx, const SqlStatement& statement, std::uint8_t* locals, ErrorClass error);

// Sessions that wait for each other in a circle, ascending; empty when nobody does.
std::vector<int> deadlocked(const Plan& plan, const std::uint8_t* world);

inline bool waits(const Plan& plan, const std::uint8_t* world, int session) {
  return world[plan.layout.sessions[static_cast<std::size_t>(session)].offset + kWaits] != 0;
}

}  // namespace oncecheck

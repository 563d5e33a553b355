// What a driver of recorded cases asks of the model of a database server, beside running statements.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program/program.hpp"
#include "model/world/context.hpp"
#include "model/world/statement.hpp"

namespace oncecheck {

// Several things that the server may do when this session runs (or goes on with) this statement: Context::choice counts
// below it.
int statement_choices(const Plan& plan, const std::uint8_t* world, int session, const SqlStatement& statement);

// The waiting statement of ctx.session ends with this error: a time-out, a cancel, a deadlock.
// GET_LOCK answers a time-out with 0, so the result can be Done.
ExecResult fail_waiting(Context& ctx, const SqlStatement& statement, std::uint8_t* locals, ErrorClass error);

// The server ends the session.
void close_session(const Plan& plan, std::uint8_t* world, int session);

// Sessions that wait for each other in a circle, ascending; empty when nobody does.
std::vector<int> deadlocked(const Plan& plan, const std::uint8_t* world);

// InnoDB: whom it makes fail to break a circle. `waiters`: who waits, in the order in which they began to.
int usual_victim(const Plan& plan, const std::uint8_t* world, const std::vector<int>& waiters);

inline bool waits(const Plan& plan, const std::uint8_t* world, int session) {
  return world[plan.layout.sessions[static_cast<std::size_t>(session)].offset + kWaits] != 0;
}

}  // namespace oncecheck

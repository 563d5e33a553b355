#include "sim/conform/server_model.hpp"

#include "model/world/transaction.hpp"

namespace oncecheck {

int statement_choices(const Plan&, const std::uint8_t*, int, const SqlStatement&) { return 1; }

ExecResult fail_waiting(Context& ctx, const SqlStatement&, ErrorClass error) {
  const std::uint8_t tx = ctx.w[ctx.plan.layout.sessions[static_cast<std::size_t>(ctx.session)].offset + kTx];
  rollback_transaction(ctx.plan, ctx.w, ctx.session, tx == kImplicitTx ? kNoTx : kFailedTx);
  return {ExecResult::Status::Error, error, -1};
}

void close_session(const Plan& plan, std::uint8_t* world, int session) {
  const std::uint8_t tx = world[plan.layout.sessions[static_cast<std::size_t>(session)].offset + kTx];
  if (tx != kNoTx) rollback_transaction(plan, world, session, kNoTx);
}

std::vector<int> deadlocked(const Plan& plan, const std::uint8_t* world) {
  std::vector<int> out;
  for (std::size_t s = 0; s < plan.layout.sessions.size(); ++s) {
    if (in_deadlock(plan, world, static_cast<int>(s))) out.push_back(static_cast<int>(s));
  }
  return out;
}

}  // namespace oncecheck

#include "sim/conform/server_model.hpp"

#include "model/world/wait_graph.hpp"

namespace oncecheck {

ExecResult fail_waiting(Context& ctx, const SqlStatement& statement, std::uint8_t* locals, ErrorClass error) {
  if (wait_gives_result(ctx.plan, ctx.w, ctx.session, error)) return exec_sql(ctx, statement, locals);
  return {ExecResult::Status::Error, fail_waiting_statement(ctx.plan, ctx.w, ctx.session, error), -1};
}

std::vector<int> deadlocked(const Plan& plan, const std::uint8_t* world) {
  std::vector<int> out;
  for (std::size_t s = 0; s < plan.layout.sessions.size(); ++s) {
    if (in_deadlock(plan, world, static_cast<int>(s))) out.push_back(static_cast<int>(s));
  }
  return out;
}

}  // namespace oncecheck

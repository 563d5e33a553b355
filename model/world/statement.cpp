#include "model/world/statement.hpp"

#include "model/world/innodb_statement.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/postgres_statement.hpp"
#include "model/world/replica_read.hpp"
#include "model/world/sequence.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

ExecResult exec_sql(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  if (statement.refused != ErrorClass::None) {
    // The server sees it before it begins: nothing to undo on InnoDB, where alone the compiler makes such statements.
    if (ctx.seen != nullptr) ctx.seen->error = statement.refused;
    return {ExecResult::Status::Error, statement.refused, -1};
  }
  const std::size_t mark = ctx.scratch.mark();
  const Engine engine = ctx.plan.layout.databases[static_cast<std::size_t>(statement.db)].engine;
  const ExecResult result =
      statement.on_replica ? run_on_replica(ctx, statement, locals)
      : is_innodb(engine)  ? run_innodb(ctx, statement, locals) : run_postgres(ctx, statement, locals);
  if (result.status != ExecResult::Status::Blocked) forget_number(ctx.plan, ctx.w, ctx.session);
  ctx.scratch.release(mark);
  return result;
}

ErrorClass fail_waiting_statement(const Plan& plan, std::uint8_t* w, int session, ErrorClass error) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  if (is_innodb(plan.layout.databases[static_cast<std::size_t>(s.db)].engine)) {
    return innodb_fail_waiting(plan, w, session, error);
  }
  if (w[s.offset + kTx] == kImplicitTx) {
    rollback_transaction(plan, w, session, kNoTx);
  } else {
    fail_transaction(plan, w, session);
  }
  return error;
}

bool wait_gives_result(const Plan& plan, std::uint8_t* w, int session, ErrorClass error) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  const Engine engine = plan.layout.databases[static_cast<std::size_t>(s.db)].engine;
  const bool cancelled = error == ErrorClass::StatementTimeout && engine == Engine::MariaDb;
  if (!is_innodb(engine) || w[s.offset + kWaitKind] != kWaitAdvisory) return false;
  if (error != ErrorClass::LockTimeout && !cancelled) return false;
  innodb_give_up_name(plan, w, session, cancelled);
  return true;
}

}  // namespace oncecheck

#include "sim/conform/server_model.hpp"

#include "model/world/ssi.hpp"
#include "model/world/transaction.hpp"
#include "model/world/wait_graph.hpp"

namespace oncecheck {

namespace {

const SessionLayout& session_of(const Plan& plan, int session) {
  return plan.layout.sessions[static_cast<std::size_t>(session)];
}

bool reads_rows(const SqlStatement& s) {
  switch (s.kind) {
    case SqlKind::Select:
    case SqlKind::SelectLock:
    case SqlKind::Insert:
    case SqlKind::Update:
    case SqlKind::Delete: return true;
    default: return false;
  }
}

}  // namespace

int statement_choices(const Plan& plan, const std::uint8_t* world, int session, const SqlStatement& statement) {
  const SessionLayout& layout = session_of(plan, session);
  const DatabaseLayout& db = plan.layout.databases[static_cast<std::size_t>(layout.db)];
  if (db.engine != Engine::Postgres || db.ssi.offset < 0 || !reads_rows(statement)) return 1;
  const std::uint8_t* s = world + layout.offset;
  const Isolation level = s[kTx] == kNoTx ? layout.isolation : static_cast<Isolation>(s[kIsolation]);
  return level == Isolation::Serializable ? kSsiGrains : 1;
}

ExecResult fail_waiting(Context& ctx, const SqlStatement& statement, std::uint8_t* locals, ErrorClass error) {
  if (wait_gives_result(ctx.plan, ctx.w, ctx.session, error)) return exec_sql(ctx, statement, locals);
  fail_waiting_statement(ctx.plan, ctx.w, ctx.session, error);
  return {ExecResult::Status::Error, error, -1};
}

void close_session(const Plan& plan, std::uint8_t* world, int session) { end_session(plan, world, session); }

std::vector<int> deadlocked(const Plan& plan, const std::uint8_t* world) {
  std::vector<int> out;
  for (std::size_t s = 0; s < plan.layout.sessions.size(); ++s) {
    if (in_deadlock(plan, world, static_cast<int>(s))) out.push_back(static_cast<int>(s));
  }
  return out;
}

int usual_victim(const Plan& plan, const std::uint8_t* world, const std::vector<int>& waiters) {
  std::vector<std::uint8_t> copy(world, world + plan.layout.bytes);
  for (auto closer = waiters.rbegin(); closer != waiters.rend(); ++closer) {
    const int victim = expected_victim(plan, copy.data(), *closer);
    if (victim >= 0) return victim;
  }
  return -1;
}

}  // namespace oncecheck

#include "model/world/statement.hpp"

#include <algorithm>

#include "model/world/code_walk.hpp"
#include "model/world/innodb_statement.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/postgres_statement.hpp"
#include "model/world/replica_read.hpp"
#include "model/world/sequence.hpp"
#include "model/world/session_settings.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

// An error that an expression raised ends the statement as any other: the work of the statement (InnoDB) or of the
// transaction (PostgreSQL) is undone.
ExecResult end_with_raised_error(Context& ctx, const SqlStatement& statement) {
  const auto error = static_cast<ErrorClass>(ctx.limit.arg);
  ctx.limit = {};
  if (!statement.on_replica) fail_waiting_statement(ctx.plan, ctx.w, ctx.session, error);
  if (ctx.seen != nullptr) {
    *ctx.seen = {};
    ctx.seen->error = error;
  }
  return {ExecResult::Status::Error, error, -1};
}

// The server sees it before it begins. Nothing is to undo on InnoDB; on PostgreSQL it fails a transaction all the same.
ExecResult refuse(Context& ctx, const SqlStatement& statement) {
  ErrorClass error = statement.refused;
  if (ctx.plan.layout.databases[static_cast<std::size_t>(statement.db)].engine == Engine::Postgres) {
    const std::uint8_t tx = ctx.w[ctx.plan.layout.sessions[static_cast<std::size_t>(ctx.session)].offset + kTx];
    if (tx == kFailedTx) error = ErrorClass::InFailedTransaction;
    if (tx == kOpenTx) fail_transaction(ctx.plan, ctx.w, ctx.session);
  }
  if (ctx.seen != nullptr) ctx.seen->error = error;
  return {ExecResult::Status::Error, error, -1};
}

bool uses_tables(SqlKind k) {
  return k == SqlKind::Select || k == SqlKind::SelectLock || k == SqlKind::Insert || k == SqlKind::Update || k == SqlKind::Delete;
}

bool writes(const SqlStatement& s) {
  if (s.kind == SqlKind::Insert || s.kind == SqlKind::Update || s.kind == SqlKind::Delete) return true;
  return std::any_of(s.parts.begin(), s.parts.end(), [](const SqlStatement& part) { return writes(part); });
}

bool takes_number(const Code& code, const SqlStatement& s) {
  bool takes = false;
  const auto look = [&](const Node& n) { takes = takes || n.op == Op::NextVal; };
  each_expr(s, [&](ExprId e) { walk_expr(code, e, look, [](const Query&) {}); });
  each_query(s, [&](QueryId q) { walk_query(code, q, look, [](const Query&) {}); });
  return takes;
}

// SET autocommit and SET SESSION ... ISOLATION LEVEL.
ExecResult set_session(Context& ctx, const SqlStatement& s, std::uint8_t* session) {
  std::uint8_t& flags = session[kSessionFlags];
  if (s.kind == SqlKind::SetSessionIsolation) {
    const int level = (1 + static_cast<int>(*s.isolation)) << kSessionLevelShift;
    change_setting(ctx.plan.layout, ctx.w, ctx.session, kSessionLevelBits, static_cast<std::uint8_t>(level), false);
    return {};
  }
  // Switching it on commits.
  if (s.switch_on && (flags & kAutocommitOff) && session[kTx] != kNoTx) innodb_commit(ctx.plan, ctx.w, ctx.session);
  flags = static_cast<std::uint8_t>(s.switch_on ? flags & ~kAutocommitOff : flags | kAutocommitOff);
  return {};
}

// What the settings of the session make of a statement that begins outside of a transaction.
void begin_by_settings(const SqlStatement& s, Engine engine, std::uint8_t* session) {
  const std::uint8_t flags = session[kSessionFlags];
  const int level = session_level(session);
  if (session[kTx] != kNoTx || flags == 0) return;
  if (is_innodb(engine)) {
    if (level > 0 && session[kIsolation] == 0 && s.kind != SqlKind::SetIsolation) session[kIsolation] = static_cast<std::uint8_t>(level);
    if ((flags & kAutocommitOff) && (uses_tables(s.kind) || s.kind == SqlKind::Savepoint)) session[kTx] = kOpenTx;
  } else if (level > 0 && s.kind != SqlKind::Begin) {
    session[kTx] = kImplicitTx;
    session[kIsolation] = static_cast<std::uint8_t>(level - 1);
  }
}

void keep_session_level(Engine engine, std::uint8_t* session) {
  const int level = session_level(session);
  if (level == 0 || (is_innodb(engine) && session[kIsolation] != 0)) return;
  session[kIsolation] = static_cast<std::uint8_t>(is_innodb(engine) ? level : level - 1);
}

// MySQL: x / 0 is an error only where a value is to be stored, under the default sql_mode.
bool gives_null_for_zero(Engine engine, const SqlStatement& s) {
  return is_innodb(engine) && (s.ignore || (s.kind != SqlKind::Insert && s.kind != SqlKind::Update));
}

}  // namespace

ExecResult exec_sql(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  if (statement.refused != ErrorClass::None) {
    return refuse(ctx, statement);
  }
  std::uint8_t* session = ctx.w + ctx.plan.layout.sessions[static_cast<std::size_t>(ctx.session)].offset;
  const bool sets = statement.kind == SqlKind::SetSessionIsolation || statement.kind == SqlKind::SetAutocommit;
  if (sets && session[kTx] != kFailedTx) return set_session(ctx, statement, session);
  const std::size_t mark = ctx.scratch.mark();
  const Engine engine = ctx.plan.layout.databases[static_cast<std::size_t>(statement.db)].engine;
  // A BEGIN inside of a transaction begins one for MySQL only.
  const bool begins = statement.kind == SqlKind::Begin && (session[kTx] == kNoTx || is_innodb(engine));
  if (!statement.on_replica) begin_by_settings(statement, engine, session);
  ctx.null_for_zero = gives_null_for_zero(engine, statement);
  ExecResult result =
      statement.on_replica ? run_on_replica(ctx, statement, locals)
      : is_innodb(engine)  ? run_innodb(ctx, statement, locals) : run_postgres(ctx, statement, locals);
  if (begins && !statement.isolation) keep_session_level(engine, session);
  if (ctx.limit.kind == LimitKind::ExpressionError) result = end_with_raised_error(ctx, statement);
  if (result.status != ExecResult::Status::Blocked) forget_number(ctx.plan, ctx.w, ctx.session);
  ctx.scratch.release(mark);
  return result;
}

bool may_last(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& s) {
  if (s.refused != ErrorClass::None || s.on_replica) return false;
  const SessionLayout& layout = plan.layout.sessions[static_cast<std::size_t>(session)];
  const std::uint8_t* me = w + layout.offset;
  const bool innodb = is_innodb(plan.layout.databases[static_cast<std::size_t>(layout.db)].engine);
  switch (s.kind) {
    case SqlKind::Commit: return true;
    case SqlKind::Begin: return innodb && me[kTx] == kOpenTx;
    case SqlKind::SetAutocommit: return s.switch_on && me[kTx] == kOpenTx;
    default: break;
  }
  if (me[kTx] != kFailedTx && takes_number(plan.code, s)) return true;
  const bool autocommit = me[kTx] == kImplicitTx || (me[kTx] == kNoTx && (me[kSessionFlags] & kAutocommitOff) == 0);
  return autocommit && (s.kind == SqlKind::LockFunction || writes(s));
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

void set_timeout(const Plan& plan, std::uint8_t* w, int session, const SqlStatement& statement) {
  const std::uint8_t flag = statement.timeout_error == ErrorClass::StatementTimeout ? kStatementTimeoutOn : kLockTimeoutOn;
  change_setting(plan.layout, w, session, flag, statement.switch_on ? flag : std::uint8_t{0}, statement.local);
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

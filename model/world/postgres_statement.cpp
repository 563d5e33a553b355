#include "model/world/postgres_statement.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/advisory.hpp"
#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/postgres_run.hpp"
#include "model/world/savepoint.hpp"
#include "model/world/ssi.hpp"
#include "model/world/ssi_subqueries.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

bool ends_block(SqlKind k) { return k == SqlKind::Commit || k == SqlKind::Rollback || k == SqlKind::RollbackTo; }

bool takes_no_snapshot(SqlKind k) {
  return k == SqlKind::Savepoint || k == SqlKind::Release || k == SqlKind::SetLockTimeout || k == SqlKind::SetIsolation ||
         k == SqlKind::Nothing || k == SqlKind::Begin;
}

}  // namespace

ExecResult PostgresRun::run() {
  if (me_[kTx] == kFailedTx && !ends_block(s_.kind)) return observe_error(ErrorClass::InFailedTransaction);
  if (me_[kTx] == kNoTx && s_.kind != SqlKind::Begin) {
    me_[kTx] = kImplicitTx;
    me_[kIsolation] = static_cast<std::uint8_t>(layout_.sessions[static_cast<std::size_t>(session_)].isolation);
  }
  if (me_[kPosition] == kCommitPending) {
    const ExecResult ended = commit_now();
    if (ctx_.seen != nullptr && ended.status == Status::Done) ctx_.seen->note = "committed";
    return ended;
  }
  switch (s_.kind) {
    case SqlKind::Begin: return begin();
    case SqlKind::Commit: return commit();
    case SqlKind::Rollback:
      rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
      return {};
    case SqlKind::Savepoint:
    case SqlKind::RollbackTo:
    case SqlKind::Release: return savepoint();
    case SqlKind::SetIsolation: return set_isolation();
    default: break;
  }
  if (!takes_no_snapshot(s_.kind)) open_snapshot();
  ctx_.snapshot = me_[kSnapshot];
  ctx_.serialization_failure = false;
  ssi_ = ssi_tracked(ctx_.plan, ctx_.w, session_);
  reported_ = me_[kPart] > s_.parts.size();  // it waited in a foreign key
  reads_ahead_ = ssi_ && ssi_take_choice(ctx_, s_) && !has_waited(me_);
  body();
  if (ctx_.serialization_failure && !ctx_.limit) return fail(ErrorClass::SerializationFailure);
  return finish();
}

// READ COMMITTED reads the newest committed state within one event; a snapshot is registered only when the statement blocks.
void PostgresRun::open_snapshot() {
  if (!fixed_snapshot() || me_[kSnapshot] != 0) return;
  if (isolation() == Isolation::RepeatableRead && me_[kTx] == kImplicitTx) return;
  take_snapshot(layout_, ctx_.w, session_);
  if (isolation() == Isolation::Serializable && db_.ssi.offset >= 0) {
    ssi_begin(ctx_.plan, ctx_.w, session_, (me_[kSessionFlags] & kTxReadOnly) != 0);
  }
}

void PostgresRun::body() {
  const bool writes = s_.kind == SqlKind::Insert || s_.kind == SqlKind::Update || s_.kind == SqlKind::Delete;
  if ((me_[kSessionFlags] & kTxReadOnly) && (writes || s_.kind == SqlKind::SelectLock)) {
    error(ErrorClass::ReadOnlyTransaction);
    return;
  }
  const Rows* outer = ctx_.parts;
  Rows parts[kMaxParts];
  if (!s_.parts.empty()) {
    ctx_.parts = parts;
    for (std::size_t i = 0; i < s_.parts.size() && !stopped(); ++i) {
      PostgresRun part(ctx_, s_.parts[i], locals_);
      part.ssi_ = ssi_;
      part.reads_ahead_ = reads_ahead_;
      part.part_ = true;
      part.reported_ = static_cast<int>(i) < me_[kPart];
      part.body();
      result_ = part.result_;
      parts[i] = part.out_;
      if (!stopped() && !part.reported_) {
        me_[kPart] = static_cast<std::uint8_t>(i + 1);
        me_[kPosition] = 0;
      }
    }
  }
  if (reads_ahead_ && !stopped()) read_subqueries(ctx_, s_);
  out_.base = ctx_.scratch.top();
  if (!stopped()) {
    switch (s_.kind) {
      case SqlKind::Select: select(); break;
      case SqlKind::SelectLock: select_lock(); break;
      case SqlKind::Insert: insert(); break;
      case SqlKind::Update:
      case SqlKind::Delete: change_rows(); break;
      case SqlKind::LockFunction: lock_function(); break;
      case SqlKind::SetLockTimeout:
        set_timeout(ctx_.plan, ctx_.w, session_, s_);
        break;
      default: break;
    }
    const bool wrote = writes || !s_.parts.empty();
    if (wrote && !part_ && !stopped() && !ctx_.serialization_failure) check_foreign_keys();
  }
  ctx_.parts = outer;
}

ExecResult PostgresRun::begin() {
  // A BEGIN inside a transaction is a warning and changes nothing (PostgreSQL manual, BEGIN).
  if (me_[kTx] != kNoTx) return {};
  me_[kTx] = kOpenTx;
  me_[kIsolation] = static_cast<std::uint8_t>(s_.isolation.value_or(layout_.sessions[static_cast<std::size_t>(session_)].isolation));
  if (s_.read_only) me_[kSessionFlags] = static_cast<std::uint8_t>(me_[kSessionFlags] | kTxReadOnly);
  return {};
}

// SET TRANSACTION: before the first query only (25001 otherwise).
ExecResult PostgresRun::set_isolation() {
  if (me_[kTx] == kImplicitTx) {  // a warning outside of a transaction block
    rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
    return {};
  }
  if (me_[kSnapshot] != 0) return fail(ErrorClass::Other);
  if (s_.isolation) me_[kIsolation] = static_cast<std::uint8_t>(*s_.isolation);
  return {};
}

ExecResult PostgresRun::commit() {
  if (me_[kTx] == kFailedTx) {
    // COMMIT of a failed transaction succeeds with the tag ROLLBACK.
    if (ctx_.seen != nullptr) ctx_.seen->note = "ROLLBACK: the transaction had failed";
    rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
    return {};
  }
  return commit_now();
}

// Commits, or fails and rolls back where SSI wants that: the transaction is over either way.
ExecResult PostgresRun::commit_now() {
  if (ssi_tracked(ctx_.plan, ctx_.w, session_) && !ssi_may_commit(ctx_.plan, ctx_.w, session_)) {
    rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
    return observe_error(ErrorClass::SerializationFailure);
  }
  commit_transaction(ctx_.plan, ctx_.w, session_, &ctx_.limit);
  return {};
}

ExecResult PostgresRun::savepoint() {
  if (me_[kTx] == kImplicitTx) return fail(ErrorClass::NoActiveTransaction);
  if (s_.kind == SqlKind::Savepoint) {
    if (!push_savepoint(layout_, ctx_.w, session_, s_.savepoint)) ctx_.fail(LimitKind::Savepoints);
    return {};
  }
  const int depth = find_savepoint(layout_, ctx_.w, session_, s_.savepoint);
  if (depth == 0) {
    if (me_[kTx] == kFailedTx) return observe_error(ErrorClass::NoSuchSavepoint);
    return fail(ErrorClass::NoSuchSavepoint);
  }
  if (s_.kind == SqlKind::Release) {
    merge_levels(ctx_.plan, ctx_.w, session_, depth - 1);
    set_savepoint_depth(layout_, ctx_.w, session_, depth - 1);
    return {};
  }
  undo_to_level(ctx_.plan, ctx_.w, session_, depth);
  set_savepoint_depth(layout_, ctx_.w, session_, depth);
  me_[kTx] = kOpenTx;
  return {};
}

ExecResult PostgresRun::fail(ErrorClass e) {
  if (me_[kTx] == kImplicitTx) {
    rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
  } else {
    fail_transaction(ctx_.plan, ctx_.w, session_);
  }
  return observe_error(e);
}

ExecResult PostgresRun::finish() {
  if (ctx_.limit) return {};
  if (result_.status == Status::Blocked) {
    if (me_[kSnapshot] == 0) take_snapshot(layout_, ctx_.w, session_);
    wait_for(ctx_.plan, ctx_.w, session_, result_.blocked_by);
    if (ctx_.seen != nullptr) ctx_.seen->blocked_by = result_.blocked_by;
    return result_;
  }
  if (result_.status == Status::Error) return fail(result_.error);
  store_result();
  end_statement(ctx_.plan, ctx_.w, session_);
  if (me_[kTx] != kImplicitTx) return {};
  if (s_.reads_first) {
    me_[kPosition] = kCommitPending;
    return {Status::Blocked, ErrorClass::None, -1};  // by nobody: the next event goes on
  }
  return commit_now();
}

void PostgresRun::lock_function() {
  const auto key = eval_cell(ctx_, s_.lock_key);
  const int level = savepoint_depth(layout_, ctx_.w, session_);
  const bool tries = s_.call == LockCall::TryLock || s_.call == LockCall::TryXactLock;
  Val value;
  switch (s_.call) {
    case LockCall::Lock:
    case LockCall::XactLock:
    case LockCall::TryLock:
    case LockCall::TryXactLock: {
      const bool xact = s_.call == LockCall::XactLock || s_.call == LockCall::TryXactLock;
      const AdvisoryResult got = take_advisory(ctx_, key, xact ? kTransactionLock : kSessionLock, level, !tries);
      if (!got.granted && !tries) {
        block(got.blocked_by);
        me_[kWaitKind] = kWaitAdvisory;
        return;
      }
      value = tries ? bool_val(got.granted) : null_val();
      break;
    }
    case LockCall::Unlock: value = bool_val(release_advisory(ctx_.plan, ctx_.w, session_, key)); break;
    case LockCall::UnlockAll: release_session_locks(ctx_.plan, ctx_.w, session_); break;
    default: CHECK_THAT(!"a lock function of PostgreSQL");
  }
  emit_value(value);
}

ExecResult run_postgres(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  return PostgresRun(ctx, statement, locals).run();
}

}  // namespace oncecheck

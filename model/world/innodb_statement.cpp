#include "model/world/innodb_statement.hpp"

#include <algorithm>

#include "model/world/advisory.hpp"
#include "model/world/innodb_run.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/savepoint.hpp"

namespace oncecheck {

InnodbRun::InnodbRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals, int part)
    : StatementRun(ctx, s, locals), rows_(ctx.plan, ctx.w, s.db, ctx.session), part_(part) {}

ExecResult InnodbRun::run() {
  if (me_[kPosition] == kCommitPending) {
    if (ctx_.seen != nullptr) ctx_.seen->note = "committed";
    innodb_commit(ctx_.plan, ctx_.w, session_);
    return {};
  }
  switch (s_.kind) {
    case SqlKind::Begin: return begin();
    case SqlKind::Commit: innodb_commit(ctx_.plan, ctx_.w, session_); return {};
    case SqlKind::Rollback: innodb_rollback(ctx_.plan, ctx_.w, session_); return {};
    case SqlKind::Savepoint:
    case SqlKind::RollbackTo:
    case SqlKind::Release: return savepoint();
    case SqlKind::SetIsolation: return set_isolation();
    case SqlKind::SetLockTimeout:
      set_timeout(ctx_.plan, ctx_.w, session_, s_);
      return {};
    default: break;
  }
  if (me_[kTx] == kNoTx) me_[kTx] = kImplicitTx;
  std::uint8_t& flags = bytes()[0];
  if (flags & kStatementRuns) {
    rows_.locks().resume(session_);
  } else if (mariadb() && s_.conflict_update) {
    flags = static_cast<std::uint8_t>(flags | kKeepsGaps);
  }
  ctx_.snapshot = me_[kSnapshot];
  ctx_.reader = this;
  run_parts();
  if (!stopped()) execute();
  ctx_.reader = nullptr;
  return finish();
}

// The statement itself, its parts being done.
void InnodbRun::execute() {
  if (me_[kPart] == part_ && (bytes()[0] & kStatementRuns)) {
    count_ = bytes()[1];
    if (bytes()[2] == s_.table + 1 && bytes()[3] != 0) position_ = bytes()[3] - 1;
  }
  const bool writes = s_.kind == SqlKind::Insert || s_.kind == SqlKind::Update || s_.kind == SqlKind::Delete;
  if (writes && (me_[kSessionFlags] & kTxReadOnly)) {
    error(ErrorClass::ReadOnlyTransaction);
    return;
  }
  if (writes && !(bytes()[0] & kStatementRuns)) rows_.make_room(s_.table);
  switch (s_.kind) {
    case SqlKind::Select:
      out_ = run_query(ctx_, s_.query);
      count_ = out_.count;
      break;
    case SqlKind::SelectLock:
      count_ = 0;
      select_lock();
      break;
    case SqlKind::Insert: insert(); break;
    case SqlKind::Update:
    case SqlKind::Delete: change_rows(); break;
    case SqlKind::LockFunction: lock_function(); break;
    default: break;
  }
}

void InnodbRun::run_parts() {
  if (s_.parts.empty()) return;
  for (std::size_t i = 0; i < s_.parts.size() && !stopped(); ++i) {
    InnodbRun part(ctx_, s_.parts[i], locals_, static_cast<int>(i) + 1);
    ctx_.reader = &part;
    part.execute();
    ctx_.reader = this;
    result_ = part.result_;
    part_rows_[i] = part.out_;
    if (result_.status == Status::Blocked) {
      me_[kPart] = static_cast<std::uint8_t>(i + 1);
      part.note_position();
    }
  }
  out_.base = ctx_.scratch.top();
  ctx_.parts = part_rows_;
}

void InnodbRun::use_innodb() {
  std::uint8_t& flags = bytes()[0];
  if (flags & kRegistered) return;
  const int at = layout_.sessions[static_cast<std::size_t>(session_)].savepoints;
  flags = static_cast<std::uint8_t>(flags | kRegistered | (at < 0 ? 0 : ctx_.w[at]) << kDepthShift);
}

ExecResult InnodbRun::begin() {
  // A BEGIN inside a transaction commits it.
  if (me_[kTx] != kNoTx) innodb_commit(ctx_.plan, ctx_.w, session_);
  me_[kTx] = kOpenTx;
  if (s_.isolation) me_[kIsolation] = static_cast<std::uint8_t>(1 + static_cast<int>(*s_.isolation));
  if (s_.read_only) me_[kSessionFlags] = static_cast<std::uint8_t>(me_[kSessionFlags] | kTxReadOnly);
  if (s_.snapshot_now) {
    use_innodb();
    // At other levels the server warns that it has no effect.
    if (isolation() == Isolation::RepeatableRead) take_snapshot(layout_, ctx_.w, session_);
  }
  return {};
}

ExecResult InnodbRun::savepoint() {
  const int found = find_savepoint(layout_, ctx_.w, session_, s_.savepoint);
  const int depth = savepoint_depth(layout_, ctx_.w, session_);
  if (s_.kind == SqlKind::Savepoint) {
    if (me_[kTx] != kOpenTx) return {};  // in autocommit it ends with its statement
    if (found > 0) {
      // The name is taken from the older savepoint.
      std::uint8_t* names = ctx_.w + layout_.sessions[static_cast<std::size_t>(session_)].savepoints;
      innodb_merge_level(ctx_.plan, ctx_.w, session_, found);
      std::copy(names + found + 1, names + depth + 1, names + found);
      set_savepoint_depth(layout_, ctx_.w, session_, depth - 1);
    }
    if (!push_savepoint(layout_, ctx_.w, session_, s_.savepoint)) ctx_.fail(LimitKind::Savepoints);
    return {};
  }
  if (found == 0) return observe_error(ErrorClass::NoSuchSavepoint);
  if (s_.kind == SqlKind::RollbackTo) {
    innodb_rollback_to(ctx_.plan, ctx_.w, session_, found);
    set_savepoint_depth(layout_, ctx_.w, session_, found);
  } else {
    for (int d = depth; d >= found; --d) innodb_merge_level(ctx_.plan, ctx_.w, session_, d);
    set_savepoint_depth(layout_, ctx_.w, session_, found - 1);
  }
  return {};
}

ExecResult InnodbRun::set_isolation() {
  // Inside a transaction SET TRANSACTION is an error (1568).
  if (me_[kTx] == kOpenTx) return observe_error(ErrorClass::Other);
  if (s_.isolation) me_[kIsolation] = static_cast<std::uint8_t>(1 + static_cast<int>(*s_.isolation));
  return {};
}

void InnodbRun::lock_function() {
  const CellId key = eval_cell(ctx_, s_.lock_key);
  if (s_.call == LockCall::ReleaseLock) {
    const bool released = release_advisory(ctx_.plan, ctx_.w, session_, key);
    const bool held = released || advisory_held(ctx_.plan, ctx_.w, s_.db, key);
    emit_value(held ? int_val(released ? 1 : 0) : null_val());
    return;
  }
  count_ = 0;
  const std::uint8_t gave_up = bytes()[1];
  if (gave_up == kNameTimedOut || gave_up == kNameCancelled) {
    emit_value(gave_up == kNameTimedOut ? int_val(0) : null_val());
    return;
  }
  const Val seconds = s_.lock_wait == kNoExpr ? int_val(1) : eval(ctx_, s_.lock_wait);
  // MariaDB refuses a time below 0 with a warning (1411); for MySQL it is no limit ("Locking Functions").
  if (db_.engine == Engine::MariaDb && (seconds.is_null() || seconds.n < 0)) {
    emit_value(null_val());
    return;
  }
  const bool waits = !seconds.is_null() && seconds.n != 0;
  const AdvisoryResult got = take_advisory(ctx_, key, kSessionLock, 0, waits);
  if (!got.granted && waits) {
    block(got.blocked_by);
    me_[kWaits] = static_cast<std::uint8_t>(got.blocked_by + 1);
    me_[kWaitKind] = kWaitAdvisory;
    return;
  }
  emit_value(int_val(got.granted ? 1 : 0));
}

// Where a scan of this statement, or of its part, goes on after the wait.
void InnodbRun::note_position() {
  bytes()[1] = static_cast<std::uint8_t>(count_);
  if (entry_ >= 0) {
    bytes()[2] = static_cast<std::uint8_t>(s_.table + 1);
    bytes()[3] = static_cast<std::uint8_t>(entry_ + 1);
  }
}

ExecResult InnodbRun::finish() {
  if (rows_.locks().full()) ctx_.fail(LimitKind::Locks, s_.db);
  if (ctx_.limit) return {};
  if (result_.status == Status::Blocked) {
    std::uint8_t* b = bytes();
    b[0] = static_cast<std::uint8_t>(b[0] | kStatementRuns);
    if (me_[kPart] == 0) note_position();
    // What an INSERT ... SELECT reads stays what it was when it began.
    if (s_.query >= 0 && !gaps()) take_snapshot(layout_, ctx_.w, session_);
    if (ctx_.seen != nullptr) ctx_.seen->blocked_by = result_.blocked_by;
    return result_;
  }
  if (result_.status == Status::Error) {
    const bool whole = result_.error == ErrorClass::SerializationFailure || result_.error == ErrorClass::Deadlock ||
                       (result_.error == ErrorClass::LockTimeout && db_.rollback_on_timeout);
    if (whole) {
      innodb_rollback(ctx_.plan, ctx_.w, session_);
    } else {
      innodb_fail_statement(ctx_.plan, ctx_.w, session_);
    }
    return observe_error(result_.error);
  }
  store_result();
  innodb_end_statement(ctx_.plan, ctx_.w, session_);
  if (me_[kTx] == kImplicitTx && s_.reads_first && !gaps()) {
    me_[kPosition] = kCommitPending;
    return {Status::Blocked, ErrorClass::None, -1};  // by nobody: the next event goes on
  }
  if (me_[kTx] == kImplicitTx) innodb_commit(ctx_.plan, ctx_.w, session_);
  if (rows_.locks().full()) ctx_.fail(LimitKind::Locks, s_.db);
  return {};
}

ExecResult run_innodb(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  return InnodbRun(ctx, statement, locals).run();
}

}  // namespace oncecheck

#include "model/world/postgres_statement.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/mvcc.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/statement_run.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

class PostgresRun : StatementRun {
 public:
  PostgresRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals) : StatementRun(ctx, s, locals) {}

  ExecResult run() {
    const bool resumed = me_[kSnapshot] != 0 || me_[kTx] == kImplicitTx;
    if (me_[kTx] == kFailedTx && s_.kind != SqlKind::Commit && s_.kind != SqlKind::Rollback) {
      return observe_error(ErrorClass::InFailedTransaction);
    }
    if (!resumed && me_[kTx] == kNoTx && s_.kind != SqlKind::Begin) me_[kTx] = kImplicitTx;
    ctx_.snapshot = me_[kSnapshot];
    if (me_[kPosition] == kCommitPending) {
      if (ctx_.seen != nullptr) ctx_.seen->note = "committed";
      commit_transaction(ctx_.plan, ctx_.w, session_);
      return {};
    }
    switch (s_.kind) {
      case SqlKind::Begin: return begin();
      case SqlKind::Commit: return commit();
      case SqlKind::Rollback:
        rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
        return {};
      case SqlKind::Savepoint:
      case SqlKind::RollbackTo:
      case SqlKind::Release:
      case SqlKind::SetLockTimeout:
      case SqlKind::SetIsolation:
      case SqlKind::LockFunction:
      case SqlKind::Nothing: break;
      case SqlKind::Select: select(); break;
      case SqlKind::SelectLock: select_lock(); break;
      case SqlKind::Insert: insert(); break;
      case SqlKind::Update:
      case SqlKind::Delete: change_rows(); break;
    }
    return finish();
  }

 private:
  ExecResult begin() {
    // A BEGIN inside a transaction is a warning and changes nothing (PostgreSQL manual, BEGIN).
    if (me_[kTx] == kNoTx) me_[kTx] = kOpenTx;
    return {};
  }

  ExecResult commit() {
    if (me_[kTx] == kFailedTx) {
      // COMMIT of a failed transaction succeeds with the tag ROLLBACK.
      if (ctx_.seen != nullptr) ctx_.seen->note = "ROLLBACK: the transaction had failed";
      rollback_transaction(ctx_.plan, ctx_.w, session_, kNoTx);
    } else {
      commit_transaction(ctx_.plan, ctx_.w, session_);
    }
    return {};
  }

  ExecResult finish() {
    if (ctx_.limit) return {};
    if (result_.status == Status::Blocked) {
      if (me_[kSnapshot] == 0) take_snapshot(layout_, ctx_.w, session_);
      wait_for(ctx_.plan, ctx_.w, session_, result_.blocked_by);
      if (ctx_.seen != nullptr) ctx_.seen->blocked_by = result_.blocked_by;
      return result_;
    }
    if (result_.status == Status::Error) {
      rollback_transaction(ctx_.plan, ctx_.w, session_, me_[kTx] == kImplicitTx ? kNoTx : kFailedTx);
      return observe_error(result_.error);
    }
    store_result();
    end_statement(ctx_.plan, ctx_.w, session_);
    if (me_[kTx] == kImplicitTx && s_.reads_first) {
      me_[kPosition] = kCommitPending;
      return {Status::Blocked, ErrorClass::None, -1};  // by nobody: the next event goes on
    }
    if (me_[kTx] == kImplicitTx) commit_transaction(ctx_.plan, ctx_.w, session_);
    return {};
  }

  void select() {
    out_ = run_query(ctx_, s_.query);
    count_ = out_.count;
  }

  int holder_against(const std::uint8_t* v, RowLock want) const { return lock_holder(layout_, *table_, v, number_, want); }

  enum class Reach { Row, Gone, Handled, Wait, Skip };

  // From a version of our snapshot to the newest version of the row, waiting where someone else is changing or locking it
  // (EvalPlanQual). `slot` becomes the newest version's.
  Reach reach_newest(int& slot, RowLock want) {
    bool moved = false;
    for (;;) {
      const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
      const std::uint8_t xmax = v[kXmax];
      if (xmax == mark_of(session_)) return (v[kFlags] & kEndedByCommand) ? Reach::Handled : Reach::Gone;
      if (xmax == 0 || (in_progress(xmax) && want == RowLock::KeyShare && !(v[kFlags] & kEndedKey))) {
        const int holder = holder_against(v, want);
        if (holder >= 0) return wait_or_skip(holder);
        if (moved) {
          set_row(0, v);
          if (s_.where != kNoExpr && !is_true(eval(ctx_, s_.where))) return Reach::Gone;
        }
        return Reach::Row;
      }
      if (in_progress(xmax)) return wait_or_skip(owner_of(xmax));
      if (v[kNext] == 0) return Reach::Gone;
      slot = v[kNext] - 1;
      moved = true;
    }
  }

  Reach wait_or_skip(int holder) {
    if (s_.policy == LockPolicy::SkipLocked) return Reach::Skip;
    if (s_.policy == LockPolicy::NoWait) {
      error(ErrorClass::LockNotAvailable);
      return Reach::Wait;
    }
    block(holder);
    return Reach::Wait;
  }

  bool candidate(const std::uint8_t* v) {
    if (!version_visible(v, session_, ctx_.snapshot)) return false;
    set_row(0, v);
    return s_.where == kNoExpr || is_true(eval(ctx_, s_.where));
  }

  void change_rows() {
    const bool deletes = s_.kind == SqlKind::Delete;
    const RowLock want = deletes || s_.changes_key ? RowLock::Update : RowLock::NoKeyUpdate;
    for (int i = 0; i < table_->slots && !stopped(); ++i) {
      if (!candidate(slot_of(*table_, ctx_.w, i))) continue;
      int slot = i;
      switch (reach_newest(slot, want)) {
        case Reach::Row:
          if (deletes) {
            end_version(slot, 0, true);
            emit(slot_of(*table_, ctx_.w, slot));
          } else {
            update_version(slot, s_.set);
          }
          break;
        case Reach::Handled: {
          // Done before a wait; told again in the result.
          const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
          emit(v[kNext] != 0 ? slot_of(*table_, ctx_.w, v[kNext] - 1) : v);
          break;
        }
        default: break;
      }
    }
  }

  void end_version(int slot, int next, bool key) {
    std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
    v[kXmax] = mark_of(session_);
    v[kNext] = static_cast<std::uint8_t>(next);
    v[kFlags] = static_cast<std::uint8_t>(v[kFlags] | kEndedByCommand | (key ? kEndedKey : 0));
  }

  void update_version(int slot, const std::vector<std::pair<int, ExprId>>& set) {
    set_row(0, slot_of(*table_, ctx_.w, slot));
    CellId cells[kMaxRowColumns];
    const int columns = static_cast<int>(table_->columns.size());
    for (int c = 0; c < columns; ++c) cells[c] = column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), c);
    assign(set, cells);
    bool key = false, changed = false;
    for (int c = 0; c < columns; ++c) {
      const bool differs = cells[c] != column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), c);
      changed = changed || differs;
      key = key || (differs && in_unique_index(c));
    }
    if (!constraints_hold(cells) || stopped()) return;
    // Any column can move a row into a partial index.
    const bool check = key || (changed && has_partial_index());
    if (check && !unique_holds(cells, slot, nullptr)) return;
    const int fresh = place_row(cells);
    if (fresh < 0) return;
    // Row locks of others are on the row, so they are on its new version too.
    if (table_->locks >= 0) {
      std::memcpy(slot_of(*table_, ctx_.w, fresh) + table_->locks, slot_of(*table_, ctx_.w, slot) + table_->locks,
                  static_cast<std::size_t>(table_->lock_sessions));
    }
    end_version(slot, fresh + 1, key);
    emit(slot_of(*table_, ctx_.w, fresh));
  }

  int place_row(const CellId* cells) {
    const int slot = free_version(*table_, ctx_.w);
    if (slot < 0) {
      ctx_.fail(LimitKind::Rows, s_.table);
      return -1;
    }
    std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
    v[kXmin] = mark_of(session_);
    v[kFlags] = kMadeByCommand;
    for (std::size_t c = 0; c < table_->columns.size(); ++c) {
      store_cell(layout_, v + table_->cells + static_cast<int>(c) * layout_.cell, cells[c]);
    }
    return slot;
  }

  // Checks the unique indexes for a row about to be placed. `replaced`: the version that it replaces, -1 for none. Waits for
  // an uncommitted transaction that touches the key; a live duplicate is an error, or goes to `conflict` when an index that
  // ON CONFLICT shields finds it. False when the caller must stop or look at *conflict.
  bool unique_holds(const CellId* cells, int replaced, int* conflict) {
    const std::size_t count = table_->indexes.size();
    const RowSource pending = has_partial_index() ? pending_row(cells) : RowSource{};  // only their WHERE looks at it
    // What ON CONFLICT shields is looked at first.
    for (std::size_t n = 0; n < 2 * count; ++n) {
      const std::size_t x = n % count;
      const Index& index = table_->indexes[x];
      if (!index.unique || (conflict != nullptr && shields(static_cast<int>(x))) != (n < count) || !covers(index, pending)) continue;
      for (int i = 0; i < table_->slots; ++i) {
        const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
        if (v[kXmin] == 0 || i == replaced || !key_equals(index, cells, v) || !covers(index, {v + table_->cells, nullptr})) continue;
        const std::uint8_t mine = mark_of(session_);
        if (in_progress(v[kXmin]) && v[kXmin] != mine) {
          block(owner_of(v[kXmin]));
          return false;
        }
        if (in_progress(v[kXmax]) && v[kXmax] != mine) {
          block(owner_of(v[kXmax]));
          return false;
        }
        if (v[kXmax] != 0) continue;  // dead: we ended it, or it was committed
        if (conflict != nullptr && shields(static_cast<int>(x))) {
          *conflict = i;
        } else {
          error(ErrorClass::UniqueViolation);
        }
        return false;
      }
    }
    return true;
  }

  void insert() {
    if (me_[kPosition] > 0) report_placed_rows();
    if (s_.query >= 0) {
      insert_from_query();
    } else {
      for (std::size_t r = me_[kPosition]; r < s_.rows.size() && !stopped(); ++r) {
        CellId cells[kMaxRowColumns];
        values_row(r, cells);
        insert_row(cells);
        if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
      }
    }
  }

  // After a wait: the rows that were placed before it belong to the result too.
  void report_placed_rows() {
    for (int i = 0; i < table_->slots; ++i) {
      const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
      if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) emit(v);
    }
  }

  void insert_from_query() {
    const Rows rows = run_query(ctx_, s_.query);
    for (int r = me_[kPosition]; r < rows.count && !stopped(); ++r) {
      CellId cells[kMaxRowColumns];
      selected_row(rows.row(r), cells);
      insert_row(cells);
      if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
    }
  }

  void insert_row(const CellId* cells) {
    if (stopped() || !constraints_hold(cells)) return;
    int conflict = -1;
    if (unique_holds(cells, -1, s_.on_conflict ? &conflict : nullptr)) {
      const int slot = place_row(cells);
      if (slot >= 0) emit(slot_of(*table_, ctx_.w, slot));
    } else if (conflict >= 0 && s_.conflict_update) {
      update_conflicting(conflict, cells);
    }
  }

  void update_conflicting(int slot, const CellId* cells) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) {
      error(ErrorClass::Other);  // 21000: ON CONFLICT DO UPDATE command cannot affect row a second time
      return;
    }
    const int holder = holder_against(v, RowLock::NoKeyUpdate);
    if (holder >= 0) {
      block(holder);
      return;
    }
    Val excluded[kMaxRowColumns];
    for (std::size_t c = 0; c < table_->columns.size(); ++c) excluded[c] = ctx_.plan.domain.decode(cells[c]);
    set_row(0, v);
    ctx_.sources[1] = {nullptr, excluded};
    if (s_.conflict_where != kNoExpr && !is_true(eval(ctx_, s_.conflict_where))) {
      if (table_->locks >= 0 && me_[kTx] == kOpenTx) {
        lock_version(slot, RowLock::Update);  // WHERE says no: the row stays locked all the same
      }
      return;
    }
    update_version(slot, s_.conflict_set);
    ctx_.sources[1] = {};
  }

  void lock_version(int slot, RowLock lock) {
    std::uint8_t& held = slot_of(*table_, ctx_.w, slot)[table_->locks + number_];
    held = std::max(held, static_cast<std::uint8_t>(lock));
  }

  void select_lock() {
    int slots[64];
    int n = 0;
    for (int i = 0; i < table_->slots; ++i) {
      if (candidate(slot_of(*table_, ctx_.w, i))) slots[n++] = i;
    }
    sort_slots(slots, n);
    const std::int64_t most = most_rows(n);
    for (int i = 0; i < n && count_ < most && !stopped(); ++i) {
      int slot = slots[i];
      if (reach_newest(slot, s_.lock) != Reach::Row) continue;
      lock_version(slot, s_.lock);
      emit(slot_of(*table_, ctx_.w, slot));
    }
  }
};

}  // namespace

ExecResult run_postgres(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  return PostgresRun(ctx, statement, locals).run();
}

}  // namespace oncecheck

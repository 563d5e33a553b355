#include "model/world/statement.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/cells.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

using Status = ExecResult::Status;

constexpr std::uint8_t kCommitPending = 255;  // in place of the next row

class StatementRun {
 public:
  StatementRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals)
      : ctx_(ctx), s_(s), layout_(ctx.plan.layout), locals_(locals) {
    session_ = ctx.session;
    me_ = ctx.w + layout_.sessions[static_cast<std::size_t>(session_)].offset;
    number_ = layout_.sessions[static_cast<std::size_t>(session_)].number;
    if (s.table >= 0) table_ = &layout_.tables[static_cast<std::size_t>(s.table)];
    out_.base = ctx.scratch.top();
    out_.width = static_cast<int>(s.targets.size());
  }

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

  ExecResult observe_error(ErrorClass e) {
    if (ctx_.seen != nullptr) ctx_.seen->error = e;
    return {Status::Error, e, -1};
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

  void store_result() {
    if (s_.into.count >= 0) store(s_.into.count, int_val(count_));
    for (const auto& [column, cell] : s_.into.columns) {
      store(cell, out_.count > 0 ? out_.row(0)[column] : null_val());
    }
    if (s_.into.queue >= 0) store_queue();
    if (ctx_.seen != nullptr) {
      ctx_.seen->columns = s_.columns;
      ctx_.seen->count = count_;
      for (int i = 0; i < out_.count; ++i) ctx_.seen->rows.emplace_back(out_.row(i), out_.row(i) + out_.width);
    }
  }

  void store_queue() {
    const IntoMap& into = s_.into;
    if (out_.count > into.queue_rows) {
      ctx_.fail(LimitKind::Rows, s_.table);
      return;
    }
    store(into.queue_count, int_val(out_.count));
    const int width = static_cast<int>(into.queue_columns.size());
    for (int r = 0; r < into.queue_rows; ++r) {
      for (int c = 0; c < width; ++c) {
        store(into.queue + r * width + c,
              r < out_.count ? out_.row(r)[into.queue_columns[static_cast<std::size_t>(c)]] : null_val());
      }
    }
  }

  void store(int cell, Val v) {
    store_cell(layout_, locals_ + cell * layout_.cell, storable(ctx_, v));
  }

  bool stopped() const { return result_.status != Status::Done || static_cast<bool>(ctx_.limit); }
  void block(int holder) { result_ = {Status::Blocked, ErrorClass::None, holder}; }
  void error(ErrorClass e) { result_ = {Status::Error, e, -1}; }

  void set_row(int source, const std::uint8_t* version) {
    ctx_.sources[source] = {version == nullptr ? nullptr : version + table_->cells, nullptr};
  }

  void emit(const std::uint8_t* version) {
    ++count_;
    if (s_.targets.empty()) return;
    set_row(0, version);
    Val row[40];
    int n = 0;
    for (ExprId t : s_.targets) row[n++] = eval(ctx_, t);
    Val* out = ctx_.scratch.take(n);
    if (out == nullptr) {
      ctx_.fail(LimitKind::Scratch);
      return;
    }
    std::copy(row, row + n, out);
    if (out_.count == 0) out_.base = out;
    ++out_.count;
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
    CellId cells[64];
    const int columns = static_cast<int>(table_->columns.size());
    for (int c = 0; c < columns; ++c) cells[c] = column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), c);
    bool key = false, changed = false;
    for (const auto& [column, expr] : set) {
      const CellId value = eval_cell(ctx_, expr);
      changed = changed || value != cells[column];
      key = key || (value != cells[column] && in_unique_index(column));
      cells[column] = value;
    }
    if (!not_null_holds(cells) || stopped()) return;
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

  bool in_unique_index(int column) const {
    for (const UniqueIndex& index : table_->indexes) {
      if (std::find(index.columns.begin(), index.columns.end(), column) != index.columns.end()) return true;
    }
    return false;
  }

  bool has_partial_index() const {
    return std::any_of(table_->indexes.begin(), table_->indexes.end(), [](const UniqueIndex& i) { return i.where != kNoExpr; });
  }

  bool not_null_holds(const CellId* cells) {
    for (std::size_t c = 0; c < table_->columns.size(); ++c) {
      if (table_->not_null[c] && cells[c] == kNullCell) {
        error(ErrorClass::NotNullViolation);
        return false;
      }
    }
    return true;
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

  bool key_equals(const UniqueIndex& index, const CellId* cells, const std::uint8_t* v) {
    for (int c : index.columns) {
      const CellId there = column_of(layout_, *table_, v, c);
      if (cells[c] == kNullCell || there == kNullCell || cells[c] != there) return false;  // NULLs are distinct
    }
    return true;
  }

  // A partial index has only the rows for which its WHERE is true.
  bool covers(const UniqueIndex& index, RowSource row) {
    if (index.where == kNoExpr) return true;
    std::swap(ctx_.sources[0], row);
    const bool covered = is_true(eval(ctx_, index.where));
    ctx_.sources[0] = row;
    return covered;
  }

  // Checks the unique indexes for a row about to be placed. `replaced`: the version that it replaces, -1 for none. Waits for
  // an uncommitted transaction that touches the key; a live duplicate is an error, or goes to `conflict` when an index that
  // ON CONFLICT shields finds it. False when the caller must stop or look at *conflict.
  bool unique_holds(const CellId* cells, int replaced, int* conflict) {
    const std::size_t count = table_->indexes.size();
    Val row[64];
    if (has_partial_index()) {  // only their WHERE looks at it
      for (std::size_t c = 0; c < table_->columns.size(); ++c) row[c] = ctx_.plan.domain.decode(cells[c]);
    }
    // What ON CONFLICT shields is looked at first.
    for (std::size_t n = 0; n < 2 * count; ++n) {
      const std::size_t x = n % count;
      const UniqueIndex& index = table_->indexes[x];
      if ((conflict != nullptr && shields(static_cast<int>(x))) != (n < count) || !covers(index, {nullptr, row})) continue;
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

  bool shields(int index) const {
    return s_.on_conflict &&
           (s_.arbiters.empty() || std::find(s_.arbiters.begin(), s_.arbiters.end(), index) != s_.arbiters.end());
  }

  void insert() {
    if (me_[kPosition] > 0) report_placed_rows();
    if (s_.query >= 0) {
      insert_from_query();
    } else {
      for (std::size_t r = me_[kPosition]; r < s_.rows.size() && !stopped(); ++r) {
        CellId cells[64];
        for (std::size_t c = 0; c < s_.rows[r].size(); ++c) cells[c] = eval_cell(ctx_, s_.rows[r][c]);
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
      CellId cells[64] = {};
      for (std::size_t c = 0; c < table_->columns.size(); ++c) {
        if (s_.defaults[c] != kNoExpr) cells[c] = eval_cell(ctx_, s_.defaults[c]);
      }
      for (const auto& [column, from] : s_.select_columns) cells[column] = storable(ctx_, rows.row(r)[from]);
      insert_row(cells);
      if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
    }
  }

  void insert_row(const CellId* cells) {
    if (stopped() || !not_null_holds(cells)) return;
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
    Val excluded[64];
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
    sort_candidates(slots, n);
    const std::int64_t most = s_.limit == kNoExpr ? n : eval(ctx_, s_.limit).n;
    for (int i = 0; i < n && count_ < most && !stopped(); ++i) {
      int slot = slots[i];
      if (reach_newest(slot, s_.lock) != Reach::Row) continue;
      lock_version(slot, s_.lock);
      emit(slot_of(*table_, ctx_.w, slot));
    }
  }

  void sort_candidates(int* slots, int n) {
    auto before = [&](int a, int b) {
      for (const Order& order : s_.order) {
        set_row(0, slot_of(*table_, ctx_.w, a));
        const Val x = eval(ctx_, order.expr);
        set_row(0, slot_of(*table_, ctx_.w, b));
        const Val y = eval(ctx_, order.expr);
        if (x.is_null() != y.is_null()) return x.is_null() == order.nulls_first;
        const int c = x.is_null() ? 0 : compare(ctx_, x, y);
        if (c != 0) return order.descending ? c > 0 : c < 0;
      }
      return false;
    };
    // Insertion sort: stable and without allocation; a table has a handful of rows.
    for (int i = 1; i < n; ++i) {
      for (int j = i; j > 0 && before(slots[j], slots[j - 1]); --j) std::swap(slots[j], slots[j - 1]);
    }
  }

  Context& ctx_;
  const SqlStatement& s_;
  const Layout& layout_;
  std::uint8_t* locals_;
  const TableLayout* table_ = nullptr;
  std::uint8_t* me_ = nullptr;
  int session_ = -1;
  int number_ = 0;
  ExecResult result_;
  Rows out_;
  std::int64_t count_ = 0;
};

}  // namespace

ExecResult exec_sql(Context& ctx, const SqlStatement& statement, std::uint8_t* locals) {
  const std::size_t mark = ctx.scratch.mark();
  ExecResult result = StatementRun(ctx, statement, locals).run();
  ctx.scratch.release(mark);
  return result;
}

}  // namespace oncecheck

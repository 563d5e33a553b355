// INSERT on PostgreSQL: unique indexes (README of nbtree, _bt_check_unique) and ON CONFLICT (manual, INSERT).
#include <algorithm>

#include "model/world/mvcc.hpp"
#include "model/world/postgres_run.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/ssi.hpp"

namespace oncecheck {

// Checks the unique indexes for a row about to be placed. `replaced`: the version that it replaces, -1 for none. Waits for
// an uncommitted transaction that touches the key; a live duplicate is an error, or goes to `conflict` when an index that
// ON CONFLICT shields finds it. False when the caller must stop or look at *conflict.
bool PostgresRun::unique_holds(const CellId* cells, int replaced, int* conflict) {
  const std::size_t count = table_->indexes.size();
  const RowSource pending = has_partial_index() ? pending_row(cells) : RowSource{};  // only their WHERE looks at it
  // What ON CONFLICT shields is looked at first.
  for (std::size_t n = 0; n < 2 * count; ++n) {
    const std::size_t x = n % count;
    const Index& index = table_->indexes[x];
    const bool shielded = conflict != nullptr && shields(static_cast<int>(x));
    if (!index.unique || shielded != (n < count) || !covers(index, pending)) continue;
    for (int i = 0; i < table_->slots; ++i) {
      const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
      if (v[kXmin] == 0 || i == replaced || !key_equals(index, cells, v) || !covers(index, {v + table_->cells, nullptr})) continue;
      const std::uint8_t mine = mark_of(session_);
      for (const std::uint8_t x_by : {v[kXmin], v[kXmax]}) {
        if (!in_progress(x_by) || x_by == mine) continue;
        me_[kWaitKind] = kWaitTransaction;
        block(owner_of(x_by));
        return false;
      }
      if (v[kXmax] != 0) continue;  // dead: we ended it, or it was committed
      if (shielded) {
        *conflict = i;
      } else {
        if (ssi_) ssi_duplicate(ctx_, s_.table, static_cast<int>(x), cells);
        error(ErrorClass::UniqueViolation);
      }
      return false;
    }
  }
  return true;
}

void PostgresRun::insert() {
  if (me_[kPosition] > 0 || reported_) report_placed_rows();
  if (reported_) return;
  if (s_.query >= 0) {
    insert_from_query();
    return;
  }
  for (std::size_t r = me_[kPosition]; r < s_.rows.size() && !stopped(); ++r) {
    CellId cells[kMaxRowColumns];
    values_row(r, cells);
    insert_row(cells);
    if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
  }
}

// After a wait: the rows that were placed before it belong to the result too.
void PostgresRun::report_placed_rows() {
  for (int i = 0; i < table_->slots; ++i) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) emit(v);
  }
}

void PostgresRun::insert_from_query() {
  const Rows rows = run_query(ctx_, s_.query);
  for (int r = me_[kPosition]; r < rows.count && !stopped(); ++r) {
    CellId cells[kMaxRowColumns];
    selected_row(rows.row(r), cells);
    insert_row(cells);
    if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
  }
}

void PostgresRun::insert_row(const CellId* cells) {
  if (stopped() || !constraints_hold(cells)) return;
  int conflict = -1;
  if (unique_holds(cells, -1, s_.on_conflict ? &conflict : nullptr)) {
    const int slot = place_row(cells, true);
    if (slot >= 0) emit(slot_of(*table_, ctx_.w, slot));
    return;
  }
  if (conflict < 0) return;
  if (s_.conflict_update) {
    update_conflicting(conflict, cells);
    return;
  }
  // DO NOTHING may rest only on a row that the snapshot has (ExecCheckTIDVisible).
  const std::uint8_t* v = slot_of(*table_, ctx_.w, conflict);
  const bool made_now = v[kXmin] == mark_of(session_);
  if (fixed_snapshot() && !made_now && !version_visible(v, session_, ctx_.snapshot)) error(ErrorClass::SerializationFailure);
}

void PostgresRun::update_conflicting(int slot, const CellId* cells) {
  const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) {
    error(ErrorClass::CardinalityViolation);  // 21000: ON CONFLICT DO UPDATE command cannot affect row a second time
    return;
  }
  const RowLock want = s_.changes_key ? RowLock::Update : RowLock::NoKeyUpdate;
  const int holder = holder_against(v, want);
  if (holder >= 0) {
    wait_for_row(holder, slot, want);
    return;
  }
  if (fixed_snapshot() && v[kXmin] != mark_of(session_) && !version_visible(v, session_, ctx_.snapshot)) {
    error(ErrorClass::SerializationFailure);
    return;
  }
  Val excluded[kMaxRowColumns];
  for (std::size_t c = 0; c < table_->columns.size(); ++c) excluded[c] = ctx_.plan.domain.decode(cells[c]);
  set_row(0, v);
  ctx_.sources[1] = {nullptr, excluded};
  if (s_.conflict_where != kNoExpr && !is_true(eval(ctx_, s_.conflict_where))) {
    if (table_->locks >= 0 && me_[kTx] == kOpenTx) {
      lock_version(*table_, slot, want);  // WHERE says no: the row stays locked all the same
    }
    return;
  }
  update_version(slot, s_.conflict_set);
  ctx_.sources[1] = {};
}

}  // namespace oncecheck

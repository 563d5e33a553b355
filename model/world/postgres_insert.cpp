// INSERT on PostgreSQL: unique indexes (README of nbtree, _bt_check_unique) and ON CONFLICT (manual, INSERT).
#include <algorithm>

#include "model/world/mvcc.hpp"
#include "model/world/postgres_run.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/ssi.hpp"

namespace oncecheck {

// ON CONFLICT looks before it inserts: the live row that conflicts in an index that it shields, -1 for none. Waits for an
// uncommitted transaction that touches the key.
int PostgresRun::find_conflict(const CellId* cells) {
  const RowSource pending = has_partial_index() ? pending_row(cells) : RowSource{};  // only their WHERE looks at it
  for (std::size_t x = 0; x < table_->indexes.size(); ++x) {
    const Index& index = table_->indexes[x];
    if (!index.unique || !shields(static_cast<int>(x)) || !covers(index, pending)) continue;
    for (int i = 0; i < table_->slots; ++i) {
      const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
      if (v[kXmin] == 0 || !key_equals(index, cells, v) || !in_index(v, x) || !covers(index, {v + table_->cells, nullptr})) continue;
      if (waits_for_owner(v)) return -1;
      if (v[kXmax] == 0) return i;  // else dead: we ended it, or it was committed
    }
  }
  return -1;
}

bool PostgresRun::waits_for_owner(const std::uint8_t* v) {
  for (const std::uint8_t x : {v[kXmin], v[kXmax]}) {
    if (!in_progress(x) || x == mark_of(session_)) continue;
    wait_for_transaction(owner_of(x));
    return true;
  }
  return false;
}

bool PostgresRun::in_index(const std::uint8_t* v, std::size_t index) {
  const int entered = v[kFlags] >> kIndexesShift;
  return entered == 0 || static_cast<int>(index) < entered - 1;
}

// Puts a stored row into the indexes, one after the other, from where it was held up. A live duplicate is an error; an
// uncommitted one makes it wait with the indexes before entered. False when the statement must stop.
bool PostgresRun::enter_indexes(int slot) {
  CellId cells[kMaxRowColumns];
  for (std::size_t c = 0; c < table_->columns.size(); ++c) {
    cells[c] = column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), static_cast<int>(c));
  }
  std::uint8_t* row = slot_of(*table_, ctx_.w, slot);
  for (int x = (row[kFlags] >> kIndexesShift) - 1; x < static_cast<int>(table_->indexes.size()); ++x) {
    const Index& index = table_->indexes[static_cast<std::size_t>(x)];
    row[kFlags] = static_cast<std::uint8_t>((row[kFlags] & 15) | (x + 1) << kIndexesShift);
    if (!covers(index, {row + table_->cells, nullptr})) continue;
    for (int i = 0; index.unique && i < table_->slots; ++i) {
      const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
      if (v[kXmin] == 0 || i == slot || !key_equals(index, cells, v) || !in_index(v, static_cast<std::size_t>(x)) ||
          !covers(index, {v + table_->cells, nullptr})) {
        continue;
      }
      if (waits_for_owner(v)) return false;
      if (v[kXmax] != 0) continue;  // dead: we ended it, or it was committed
      if (!ssi_ || ssi_enter_index(ctx_, table_number(), x, row)) error(ErrorClass::UniqueViolation);
      return false;
    }
    if (ssi_ && !ssi_enter_index(ctx_, table_number(), x, row)) return false;
  }
  row[kFlags] = static_cast<std::uint8_t>(row[kFlags] & 15);
  return true;
}

// The row that the statement stored before it had to wait at one of the indexes, -1 for none.
int PostgresRun::unfinished_row() const {
  for (int i = 0; i < table_->slots; ++i) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand) && v[kFlags] >> kIndexesShift != 0) return i;
  }
  return -1;
}

// Goes on with such a row. True when there was one.
bool PostgresRun::finish_row() {
  const int slot = unfinished_row();
  if (slot < 0) return false;
  if (enter_indexes(slot)) emit(slot_of(*table_, ctx_.w, slot));
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
    if (!finish_row()) {
      CellId cells[kMaxRowColumns];
      values_row(r, cells);
      insert_row(cells);
    }
    if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
  }
}

// After a wait: the rows that were placed before it belong to the result too.
void PostgresRun::report_placed_rows() {
  for (int i = 0; i < table_->slots; ++i) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand) && v[kFlags] >> kIndexesShift == 0) emit(v);
  }
}

void PostgresRun::insert_from_query() {
  const Rows rows = run_query(ctx_, s_.query);
  for (int r = me_[kPosition]; r < rows.count && !stopped(); ++r) {
    if (!finish_row()) {
      CellId cells[kMaxRowColumns];
      selected_row(rows.row(r), cells);
      insert_row(cells);
    }
    if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
  }
}

void PostgresRun::insert_row(const CellId* cells) {
  if (stopped() || !constraints_hold(cells) || !conflicting_row_stands()) return;
  const int conflict = s_.on_conflict ? find_conflict(cells) : -1;
  if (stopped()) return;
  if (conflict < 0) {
    const int slot = place_row(cells, true);
    if (slot >= 0 && enter_indexes(slot)) emit(slot_of(*table_, ctx_.w, slot));
    return;
  }
  if (s_.conflict_update) {
    update_conflicting(conflict, cells);
    return;
  }
  // DO NOTHING may rest only on a row that the snapshot has (ExecCheckTIDVisible).
  const std::uint8_t* v = slot_of(*table_, ctx_.w, conflict);
  const bool made_now = v[kXmin] == mark_of(session_);
  if (fixed_snapshot() && !made_now && !version_visible(v, session_, ctx_.snapshot)) error(ErrorClass::SerializationFailure);
}

// After a wait for the lock on the conflicting row: above READ COMMITTED a change of it that committed meanwhile is an error,
// it is not looked for anew (ExecOnConflictUpdate, TM_Updated and TM_Deleted).
bool PostgresRun::conflicting_row_stands() {
  if (!fixed_snapshot() || me_[kWaitTable] != table_number() + 1) return true;
  const std::uint8_t* v = slot_of(*table_, ctx_.w, me_[kWaitSlot]);
  if (v[kXmax] == mark_of(session_)) return true;  // an earlier row of the statement waited for it, and changed it
  if (in_progress(v[kXmax])) {
    wait_for_row(owner_of(v[kXmax]), me_[kWaitSlot], waited_lock(me_));
  } else if (v[kXmax] != 0 || !version_visible(v, session_, ctx_.snapshot)) {
    error(ErrorClass::SerializationFailure);
  }
  return !stopped();
}

void PostgresRun::update_conflicting(int slot, const CellId* cells) {
  const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) {
    error(ErrorClass::CardinalityViolation);  // 21000: ON CONFLICT DO UPDATE command cannot affect row a second time
    return;
  }
  Val excluded[kMaxRowColumns];
  for (std::size_t c = 0; c < table_->columns.size(); ++c) excluded[c] = ctx_.plan.domain.decode(cells[c]);
  ctx_.sources[1] = {nullptr, excluded};
  const RowLock want = wanted_lock(v);
  const int holder = holder_against(v, want);
  if (holder >= 0) {
    wait_for_row(holder, slot, want);
    return;
  }
  if (fixed_snapshot() && v[kXmin] != mark_of(session_) && !version_visible(v, session_, ctx_.snapshot)) {
    error(ErrorClass::SerializationFailure);
    return;
  }
  set_row(0, v);
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

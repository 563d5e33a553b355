// Finding, locking and changing rows on PostgreSQL: the snapshot's version, then the newest one (EvalPlanQual at READ
// COMMITTED, a serialization failure above; manual 13.2.1, 13.2.2), behind those who wait already (heap_acquire_tuplock).
//
// Rows are visited by the place of their versions, as a scan of the table does. Left out: through an index PostgreSQL goes by the
// place of the first version of a row whose keys have stayed (HOT), which the world no longer has once nobody sees that version.
#include <algorithm>
#include <cstring>

#include "model/world/mvcc.hpp"
#include "model/world/postgres_run.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/savepoint.hpp"
#include "model/world/ssi.hpp"
#include "model/world/ssi_subqueries.hpp"

namespace oncecheck {

void PostgresRun::select() {
  out_ = run_query(ctx_, s_.query);
  count_ = out_.count;
}

bool PostgresRun::scan_target() {
  if (!ssi_) return true;
  if (!gates_open(ctx_, s_.where, 0, 1)) return false;
  ssi_scan(ctx_, s_.table, s_.access, me_[kWaitTable] == table_number() + 1 ? me_[kWaitSlot] : -1);
  return true;
}

int PostgresRun::holder_against(const std::uint8_t* v, RowLock want) const {
  return lock_holder(layout_, *table_, v, number_, want);
}

// From a version of our snapshot to the newest version of the row, waiting where someone else is changing or locking it.
// `slot` becomes the newest version's.
PostgresRun::Reach PostgresRun::reach_newest(int& slot) {
  bool moved = false;
  for (;;) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
    const std::uint8_t xmax = v[kXmax];
    const RowLock want = moved ? lock_to_test_again() : wanted_lock(v);
    if (xmax == mark_of(session_)) return (v[kFlags] & kEndedByCommand) ? Reach::Handled : Reach::Gone;
    // KEY SHARE does with a version that was replaced with the key untouched, committed or not; the lock goes to the newer
    // ones too (heap_lock_tuple, heap_lock_updated_tuple).
    int holder = -1;
    const bool passes_by = xmax != 0 && want == RowLock::KeyShare && !(v[kFlags] & kEndedKey);
    const Reach newer = passes_by ? newer_versions(*table_, slot, want, holder) : Reach::Row;
    if ((xmax == 0 || passes_by) && newer != Reach::Gone) {
      const int direct = holder_against(v, want);
      if (direct >= 0) return wait_or_skip(direct, slot, want);
      if (newer == Reach::Wait) return wait_for_newer(holder, slot, want);
      if (moved) {
        // It is locked before the WHERE is tested again, and stays so when that says no.
        if (table_->locks >= 0) lock_version(*table_, slot, want);
        set_row(0, v);
        if (s_.where != kNoExpr && !is_true(eval(ctx_, s_.where))) return Reach::Gone;
      }
      return Reach::Row;
    }
    if (in_progress(xmax)) return wait_or_skip(owner_of(xmax), slot, want);
    if (fixed_snapshot()) {
      // A locking SELECT that waited for the change looks for newer ones before it fails, and waits for them too.
      if (s_.kind == SqlKind::SelectLock && waited_for_change(slot) &&
          newer_versions(*table_, slot, want, holder) == Reach::Wait) {
        return wait_for_newer(holder, slot, want);
      }
      error(ErrorClass::SerializationFailure);
      return Reach::Wait;
    }
    if (v[kNext] == 0) return Reach::Gone;
    slot = v[kNext] - 1;
    moved = true;
  }
}

// The versions that replaced this one, as heap_lock_updated_tuple tests them. Row: all can be locked. Wait: `holder` holds one
// against it. Gone: one was deleted, or changed in a way that excludes the lock, and that is committed.
PostgresRun::Reach PostgresRun::newer_versions(const TableLayout& table, int slot, RowLock want, int& holder) {
  for (int at = slot_of(table, ctx_.w, slot)[kNext] - 1; at >= 0; at = slot_of(table, ctx_.w, at)[kNext] - 1) {
    const std::uint8_t* v = slot_of(table, ctx_.w, at);
    const RowLock taken = (v[kFlags] & kEndedKey) ? RowLock::Update : RowLock::NoKeyUpdate;
    holder = lock_holder(layout_, table, v, number_, want);
    if (holder >= 0) return Reach::Wait;
    if (v[kXmax] == 0 || v[kXmax] == mark_of(session_) || !conflicts(taken, want)) continue;
    if (!in_progress(v[kXmax])) return Reach::Gone;
    holder = owner_of(v[kXmax]);
    return Reach::Wait;
  }
  return Reach::Row;
}

// There NOWAIT and SKIP LOCKED have no say.
PostgresRun::Reach PostgresRun::wait_for_newer(int holder, int slot, RowLock want) {
  wait_for_row(holder, slot, want);
  return Reach::Wait;
}

bool PostgresRun::waited_for_change(int slot) const {
  return me_[kWaitTable] == table_number() + 1 && me_[kWaitSlot] == slot && (me_[kWaitKind] & kWaitForChange) != 0;
}

// An UPDATE takes the stronger lock only when it really changes a key (HeapDetermineColumnsInfo).
RowLock PostgresRun::wanted_lock(const std::uint8_t* v) {
  if (s_.kind == SqlKind::SelectLock) return s_.lock;
  if (s_.kind == SqlKind::Delete) return RowLock::Update;
  if (!s_.changes_key) return RowLock::NoKeyUpdate;
  const RowSource before = ctx_.sources[0];
  set_row(0, v);
  bool changes = false;
  for (const auto& [column, expr] : s_.kind == SqlKind::Insert ? s_.conflict_set : s_.set) {
    if (!in_unique_index(column)) continue;
    changes = changes || eval(ctx_, expr) != ctx_.plan.domain.decode(column_of(layout_, *table_, v, column));
  }
  ctx_.sources[0] = before;
  return changes ? RowLock::Update : RowLock::NoKeyUpdate;
}

// EvalPlanQual: of an UPDATE by the columns that it names (ExecUpdateLockMode).
RowLock PostgresRun::lock_to_test_again() const {
  if (s_.kind == SqlKind::SelectLock) return s_.lock;
  return s_.kind == SqlKind::Delete || s_.changes_key ? RowLock::Update : RowLock::NoKeyUpdate;
}

PostgresRun::Reach PostgresRun::wait_or_skip(int holder, int slot, RowLock want) {
  if (s_.policy == LockPolicy::SkipLocked) return Reach::Skip;
  if (s_.policy == LockPolicy::NoWait) {
    error(ErrorClass::LockNotAvailable);
    return Reach::Wait;
  }
  wait_for_row(holder, slot, want);
  return Reach::Wait;
}

// Who wants a row that others already wait for waits behind them, unless the wishes are compatible.
void PostgresRun::wait_for_row(int holder, int slot, RowLock want) {
  const auto table = static_cast<std::uint8_t>(table_number() + 1);
  auto queued = [&](int session) {
    const std::uint8_t* o = ctx_.w + layout_.sessions[static_cast<std::size_t>(session)].offset;
    return session != session_ && o[kWaits] != 0 && o[kWaitTable] == table && o[kWaitSlot] == slot &&
           conflicts(waited_lock(o), want);
  };
  // Those who queued after us are behind us.
  const bool in_queue = me_[kWaitTable] == table && me_[kWaitSlot] == slot;
  int last = -1;
  for (int s : db_.sessions) {
    if (in_queue || !queued(s)) continue;
    bool awaited = false;
    for (int o : db_.sessions) {
      const std::uint8_t* other = ctx_.w + layout_.sessions[static_cast<std::size_t>(o)].offset;
      awaited = awaited || (o != s && queued(o) && other[kWaits] == s + 1 && waits_behind(other));
    }
    if (!awaited) last = s;
  }
  me_[kWaitTable] = table;
  me_[kWaitSlot] = static_cast<std::uint8_t>(slot);
  const bool change = slot_of(*table_, ctx_.w, slot)[kXmax] != 0;
  me_[kWaitKind] = static_cast<std::uint8_t>((last >= 0 ? kWaitTuple : kWaitTransaction) | (change ? kWaitForChange : 0) |
                                             kHasWaited | static_cast<int>(want) << 4);
  block(last >= 0 ? last : holder);
}

bool PostgresRun::candidate(const std::uint8_t* v) {
  if (!version_visible(v, session_, ctx_.snapshot)) return false;
  set_row(0, v);
  return ssi_ ? row_passes(ctx_, s_.where) : s_.where == kNoExpr || is_true(eval(ctx_, s_.where));
}

void PostgresRun::change_rows() {
  const bool deletes = s_.kind == SqlKind::Delete;
  if (!scan_target()) return;
  for (int i = 0; i < table_->slots && !stopped(); ++i) {
    if (!candidate(slot_of(*table_, ctx_.w, i))) continue;
    int slot = i;
    if (reported_ && slot_of(*table_, ctx_.w, i)[kXmax] != mark_of(session_)) continue;
    switch (reach_newest(slot)) {
      case Reach::Row:
        if (deletes) {
          end_version(*table_, s_.table, slot, 0, true);
          emit(slot_of(*table_, ctx_.w, slot));
        } else {
          update_version(slot, s_.set);
        }
        break;
      case Reach::Handled: {
        // Done before a wait; told again in the result.
        const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
        const int now = v[kNext] != 0 ? v[kNext] - 1 : slot;
        const bool held_up = slot_of(*table_, ctx_.w, now)[kFlags] >> kIndexesShift != 0;
        if (!held_up || enter_indexes(now)) emit(slot_of(*table_, ctx_.w, now));
        break;
      }
      default: break;
    }
  }
}

void PostgresRun::end_version(const TableLayout& table, int table_number, int slot, int next, bool key) {
  std::uint8_t* v = slot_of(table, ctx_.w, slot);
  v[kXmax] = mark_of(session_);
  v[kNext] = static_cast<std::uint8_t>(next);
  v[kFlags] = static_cast<std::uint8_t>(v[kFlags] | kEndedByCommand | (key ? kEndedKey : 0));
  if (table.subs >= 0) v[table.subs + 1] = static_cast<std::uint8_t>(savepoint_depth(layout_, ctx_.w, session_));
  if (ssi_) ssi_end_version(ctx_, table_number, v);
}

void PostgresRun::update_version(int slot, const std::vector<std::pair<int, ExprId>>& set) {
  set_row(0, slot_of(*table_, ctx_.w, slot));
  CellId cells[kMaxRowColumns];
  const int columns = static_cast<int>(table_->columns.size());
  for (int c = 0; c < columns; ++c) cells[c] = column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), c);
  assign(set, cells);
  bool key = false, indexed = false;
  for (int c = 0; c < columns; ++c) {
    if (cells[c] == column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), c)) continue;
    key = key || in_unique_index(c);
    indexed = indexed || is_indexed(c);
  }
  if (!constraints_hold(cells) || stopped()) return;
  const int fresh = replace_version(slot, cells, key, indexed);
  if (fresh < 0 || (indexed && !enter_indexes(fresh))) return;
  emit(slot_of(*table_, ctx_.w, fresh));
}

// The slot of the version with these values that comes in place of this one, -1 without room. `key`: a key column changes.
int PostgresRun::replace_version(int slot, const CellId* cells, bool key, bool new_keys) {
  const int fresh = place_row(cells, new_keys);
  if (fresh < 0) return -1;
  // Row locks of others are on the row, so they are on its new version too.
  if (table_->locks >= 0) {
    std::memcpy(slot_of(*table_, ctx_.w, fresh) + table_->locks, slot_of(*table_, ctx_.w, slot) + table_->locks,
                static_cast<std::size_t>(table_->lock_sessions));
  }
  // FOR UPDATE and then a change by one transaction leave the mark of the stronger (compute_new_xmax_infomask; across
  // savepoints GetMultiXactIdHintBits).
  const bool locked = table_->locks >= 0 && held_lock(slot_of(*table_, ctx_.w, slot)[table_->locks + number_]) == RowLock::Update;
  end_version(*table_, table_number(), slot, fresh + 1, key || locked);
  return fresh;
}

// `new_keys`: enter_indexes is still to come. An update that changes no indexed column stays out of the indexes (HOT).
int PostgresRun::place_row(const CellId* cells, bool new_keys) {
  const int slot = free_version(*table_, ctx_.w);
  if (slot < 0) {
    ctx_.fail(LimitKind::Rows, table_number());
    return -1;
  }
  std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  v[kXmin] = mark_of(session_);
  v[kFlags] = static_cast<std::uint8_t>(kMadeByCommand | (new_keys ? 1 << kIndexesShift : 0));
  if (table_->subs >= 0) v[table_->subs] = static_cast<std::uint8_t>(savepoint_depth(layout_, ctx_.w, session_));
  for (std::size_t c = 0; c < table_->columns.size(); ++c) {
    store_cell(layout_, v + table_->cells + static_cast<int>(c) * layout_.cell, cells[c]);
  }
  if (ssi_) ssi_new_version(ctx_, table_number(), v);
  return slot;
}

// The lock is on the row, so on the versions that replace this one too: KEY SHARE passes a change that is not committed yet
// (heap_lock_updated_tuple).
void PostgresRun::lock_version(const TableLayout& table, int slot, RowLock lock) {
  for (int at = slot; at >= 0; at = slot_of(table, ctx_.w, at)[kNext] - 1) {
    add_row_lock(slot_of(table, ctx_.w, at)[table.locks + number_], lock, savepoint_depth(layout_, ctx_.w, session_));
  }
}

void PostgresRun::select_lock() {
  int slots[256];
  int n = 0;
  if (!scan_target()) return;
  for (int i = 0; i < table_->slots; ++i) {
    if (candidate(slot_of(*table_, ctx_.w, i))) slots[n++] = i;
  }
  sort_slots(slots, n);
  const std::int64_t most = most_rows(n);
  for (int i = 0; i < n && count_ < most && !stopped(); ++i) {
    int slot = slots[i];
    if (reach_newest(slot) != Reach::Row) continue;
    lock_version(*table_, slot, s_.lock);
    emit(slot_of(*table_, ctx_.w, slot));
  }
}

}  // namespace oncecheck

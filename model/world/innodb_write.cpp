#include <algorithm>
#include <limits>

#include "model/world/access_path.hpp"
#include "model/world/innodb_run.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/sequence.hpp"

namespace oncecheck {

// Takes a lock on an index record or waits for it. `check`: for a constraint, which at READ COMMITTED guards gaps too.
bool InnodbRun::take(int table, int x, int slot, std::uint8_t mode, bool keep, bool check) {
  if (check && !mariadb()) bytes()[0] = static_cast<std::uint8_t>(bytes()[0] | kKeepsGaps);
  if (rows_.locks().ask(session_, {table, x, slot}, mode, true, keep) != LockTable::Got::Wait) return true;
  block(me_[kWaits] - 1);
  return false;
}

bool InnodbRun::row_matches(int slot) {
  const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  // Dealt with before a wait. A row that DELETE has dealt with is gone; one that it has changed is a child of such a row.
  const bool made = v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand);
  if (made && s_.kind != SqlKind::Delete) return false;
  set_row(0, v);
  return s_.where == kNoExpr || is_true(eval(ctx_, s_.where));
}

bool InnodbRun::unique_search() const {
  if (!one_row_at_most(*table_, s_.access)) return false;
  const std::vector<ExprId>& equal = s_.access.ranges[0].equal;  // NULL is in a unique index as often as one likes
  return std::find(equal.begin(), equal.end(), kIsNull) == equal.end();
}

void InnodbRun::select_lock() {
  use_innodb();
  const Style style = s_.lock == RowLock::Update || s_.lock == RowLock::NoKeyUpdate ? Style::Exclusive : Style::Share;
  if (!can_match(s_.where) || stopped()) return;
  if (!plan_from_subquery(scan_)) plan_scan(scan_, s_.table, s_.access);
  if (stopped()) return;
  const auto covered = [&](const Order& o) { return reads_only(scan_, o.expr, 0); };
  scan_.covering = covers_all(scan_, s_.targets, 0) && reads_only(scan_, s_.where, 0) &&
                   std::all_of(s_.order.begin(), s_.order.end(), covered);
  // A row found by its whole key is read before the rest of the WHERE is looked at, and stays locked.
  keeps_misses_ = unique_search();
  const bool in_order = s_.order.empty() || s_.access.in_order;
  const std::int64_t most = most_rows(std::numeric_limits<int>::max());
  int slots[kMaxIndexRecords];
  int n = 0, slot = -1;
  while ((!in_order || n < most) && next_row(scan_, style, slot)) {
    const bool matches = row_matches(slot);
    if (stopped()) return;
    if (matches) {
      slots[n++] = slot;
    } else if (!keeps_misses_ && !missed_by_join(slot)) {
      unlock_step();
    }
  }
  if (stopped()) return;
  if (!in_order) sort_slots(slots, n);
  for (int i = 0; i < n && count_ < most; ++i) emit(slot_of(*table_, ctx_.w, slots[i]));
}

void InnodbRun::change_rows() {
  use_innodb();
  if (!can_match(s_.where) || stopped()) return;
  const AccessPath& access = chosen_access();
  if (!plan_from_subquery(scan_)) plan_scan(scan_, s_.table, access);
  if (stopped()) return;
  const Index* index = rows_.view(s_.table).index(scan_.index);
  const bool moves = index != nullptr && std::any_of(s_.set.begin(), s_.set.end(), [&](const auto& set) {
    return std::find(index->columns.begin(), index->columns.end(), set.first) != index->columns.end();
  });
  // The order of an index that is being changed is of no use: all rows are read and sorted.
  const bool in_order = s_.order.empty() || (access.in_order && !moves);
  sorts_ = !in_order;
  two_phases_ = sorts_ || moves;
  std::int64_t most = most_rows(std::numeric_limits<int>::max());
  int slots[kMaxIndexRecords];
  int n = 0, slot = -1;
  while ((!in_order || n < most) && next_row(scan_, Style::Exclusive, slot)) {
    const bool matches = row_matches(slot);
    if (stopped()) return;
    if (!matches) {
      if (!missed_by_join(slot)) unlock_step();
      continue;
    }
    slots[n++] = slot;
    if (!two_phases_) change_matched(slot);
  }
  if (stopped() || !two_phases_) return;
  if (!in_order) sort_slots(slots, n);
  entry_ = kSupremum;
  for (int i = 0; i < n && i < most && !stopped(); ++i) change_matched(slots[i]);
}

void InnodbRun::change_matched(int slot) {
  const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  if (s_.kind == SqlKind::Delete) {
    delete_row(s_.table, slot);
    if (!stopped()) emit(v);
    return;
  }
  CellId cells[kMaxRowColumns], before[kMaxRowColumns];
  rows_.view(s_.table).load(slot, before);
  std::copy(before, before + table_->columns.size(), cells);
  set_row(0, v);
  assign(s_.set, cells);
  if (stopped()) return;
  if (std::equal(before, before + table_->columns.size(), cells)) {
    count_ += db_.found_rows ? 1 : 0;
    return;
  }
  if (!constraints_hold(cells)) return;
  change_row(s_.table, slot, cells);
  if (stopped()) return;
  move_sequences(s_.set, cells);
  ++count_;
}

// A higher value of an AUTO_INCREMENT column moves the counter on (ha_innobase::update_row).
void InnodbRun::move_sequences(const std::vector<std::pair<int, ExprId>>& set, const CellId* cells) {
  for (const auto& [column, value] : set) {
    const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(value)];
    if (n.op == Op::NextVal && n.src == kAssigned) move_sequence(ctx_, n.a, ctx_.plan.domain.decode(cells[column]));
  }
}

// All locks first, then the change: it must be done in one go, since a statement that waits begins again.
void InnodbRun::change_row(int table, int slot, const CellId* cells) {
  const IndexView view = rows_.view(table);
  if (!children_follow(table, slot, cells)) return;
  if (view.clustered() < view.index_count() && !view.same_key(view.clustered(), cells, slot)) {
    move_row(table, slot, cells);
    return;
  }
  for (int x = 0; x < view.index_count(); ++x) {
    if (x == view.clustered() || view.same_key(x, cells, slot)) continue;
    if (!take(table, x, slot, kLockX | kLockRecord, false)) return;
    if (!parents_hold(table, x, cells) || !take_new_key(table, x, cells, slot)) return;
  }
  if (!parents_hold(table, -1, cells)) return;
  if (!rows_.change(table, slot, cells)) ctx_.fail(LimitKind::Rows, table);
}

// A new primary key: the old row is marked as deleted, a new one inserted (row_upd_clust_rec_by_insert).
void InnodbRun::move_row(int table, int slot, const CellId* cells) {
  const IndexView view = rows_.view(table);
  const int c = view.clustered();
  int there = -1;
  for (int i = 0; i < view.table().slots; ++i) {
    if (view.present(c, i) && view.same_key(c, cells, i)) there = i;
  }
  if (!parents_hold(table, c, cells)) return;
  if (there >= 0) {
    if (!take(table, c, there, kLockRecord, true, true)) return;
    if (view.alive(c, there)) {
      error(ErrorClass::UniqueViolation);
      return;
    }
    if (!take(table, c, there, kLockX | kLockRecord, false)) return;
  } else if (!take(table, c, view.place_for(c, cells, -1), kLockX | kLockGap | kLockInsert, false)) {
    return;
  }
  for (int x = 0; x < view.index_count(); ++x) {
    if (x == c) continue;
    if (!take(table, x, slot, kLockX | kLockRecord, false)) return;
    if (!parents_hold(table, x, cells)) return;
    if (view.unique(x) && !view.has_null(x, cells)) {
      int duplicate = -1;
      if (scan_duplicates(table, x, cells, slot, false, duplicate) != Put::Done) {
        if (!stopped()) error(ErrorClass::UniqueViolation);
        return;
      }
    }
    if (!take(table, x, view.place_for(x, cells, -1), kLockX | kLockGap | kLockInsert, false)) return;
  }
  if (!parents_hold(table, -1, cells)) return;
  rows_.mark_deleted(table, slot);
  int placed = there;
  if (there < 0) placed = rows_.place(table, cells);
  if (placed < 0 || (there >= 0 && !rows_.revive(table, there, cells))) {
    ctx_.fail(LimitKind::Rows, table);
    return;
  }
  while (rows_.next_index(table, placed) >= 0) rows_.enter(table, placed);
}

void InnodbRun::delete_row(int table, int slot) {
  const IndexView view = rows_.view(table);
  if (!children_follow(table, slot, nullptr)) return;
  for (int x = 0; x < view.index_count(); ++x) {
    if (x != view.clustered() && !take(table, x, slot, kLockX | kLockRecord, false)) return;
  }
  rows_.mark_deleted(table, slot);
}

// Before a row's new key goes into a secondary index. `record`: the row, if it has a slot already.
bool InnodbRun::take_new_key(int table, int x, const CellId* cells, int record) {
  const IndexView view = rows_.view(table);
  if (view.unique(x) && !view.has_null(x, cells)) {
    int duplicate = -1;
    if (scan_duplicates(table, x, cells, record, false, duplicate) != Put::Done) {
      if (!stopped()) error(ErrorClass::UniqueViolation);
      return false;
    }
  }
  const int there = view.record_with_key(x, record, cells);
  if (there >= 0) return take(table, x, there, kLockX | kLockRecord, false);
  return take(table, x, view.place_for(x, cells, -1), kLockX | kLockGap | kLockInsert, false);
}

// row_ins_scan_sec_index_for_duplicate: next-key locks on every record of the key and on the one behind, at every
// level.
InnodbRun::Put InnodbRun::scan_duplicates(int table, int x, const CellId* cells, int self, bool exclusive,
                                          int& duplicate) {
  const IndexView view = rows_.view(table);
  int records[kMaxIndexRecords];
  const int n = view.records(x, records);
  int i = 0;
  while (i < n && view.order_key(x, cells, records[i]) > 0) ++i;
  if (i == n || view.order_key(x, cells, records[i]) != 0) return Put::Done;
  const auto lock = static_cast<std::uint8_t>(exclusive ? kLockX : 0);
  for (; i < n; ++i) {
    if (!take(table, x, records[i], lock, true, true)) return Put::Stop;
    if (view.order_key(x, cells, records[i]) != 0) return Put::Done;
    if (view.alive(x, records[i]) && records[i] != self) {
      duplicate = records[i];
      return Put::Duplicate;
    }
  }
  return take(table, x, kSupremum, lock, true, true) ? Put::Done : Put::Stop;
}

}  // namespace oncecheck

#include <algorithm>

#include "model/world/innodb_run.hpp"
#include "model/world/mvcc.hpp"

namespace oncecheck {

void InnodbRun::insert() {
  use_innodb();
  if (me_[kPosition] > 0) report_rows();
  if (s_.query >= 0) {
    const oncecheck::Rows rows = run_query(ctx_, s_.query);
    for (int r = me_[kPosition]; r < rows.count && !stopped(); ++r) {
      if (!lock_numbers(true)) return;
      CellId cells[kMaxRowColumns];
      selected_row(rows.row(r), cells);
      insert_row(cells);
      if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
    }
    return;
  }
  for (std::size_t r = me_[kPosition]; r < s_.rows.size() && !stopped(); ++r) {
    if (!lock_numbers(false)) return;
    CellId cells[kMaxRowColumns];
    values_row(r, cells);
    if (stopped()) return;
    insert_row(cells);
    if (!stopped()) me_[kPosition] = static_cast<std::uint8_t>(r + 1);
  }
}

bool InnodbRun::takes_number(ExprId value) const {
  return value != kNoExpr && ctx_.plan.code.nodes[static_cast<std::size_t>(value)].op == Op::NextVal;
}

// The AUTO-INC lock, up to the end of the statement: an INSERT ... SELECT takes it, since nobody knows how many numbers it
// will want. Others take it only when somebody else has it or waits for it (innodb_autoinc_lock_mode = 1, MariaDB's default;
// MySQL's is 2, without such locks).
bool InnodbRun::lock_numbers(bool bulk) {
  if (!mariadb()) return true;
  auto takes = [&](ExprId e) { return takes_number(e); };
  auto any = [&](const std::vector<ExprId>& exprs) { return std::any_of(exprs.begin(), exprs.end(), takes); };
  const bool numbers = bulk ? any(s_.defaults) || any(ctx_.plan.code.queries[static_cast<std::size_t>(s_.query)].targets)
                            : any(s_.rows.front());
  const LockName on{s_.table, kNumbersOfTable, 0};
  if (!numbers || (!bulk && !rows_.locks().taken(on))) return true;
  return take(s_.table, kNumbersOfTable, 0, kLockX | kLockRecord, true);
}

// After a wait: the rows that were placed before it belong to the result too.
void InnodbRun::report_rows() {
  if (s_.targets.empty()) return;
  const std::int64_t count = count_;
  for (int i = 0; i < table_->slots; ++i) {
    const std::uint8_t* v = slot_of(*table_, ctx_.w, i);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand) && !(v[kFlags] >> kPendingShift)) emit(v);
  }
  count_ = count;
}

void InnodbRun::insert_row(const CellId* cells) {
  if (stopped() || !constraints_hold(cells)) return;
  int index = -1, duplicate = -1, placed = -1;
  if (s_.conflict_update && position_ >= 0) {
    // It has found its duplicate before the wait, and goes on with that.
    duplicate = position_;
    position_ = -1;
    number_unused_ = true;
    std::fill_n(bytes() + 2, 2, std::uint8_t{0});
    update_duplicate(rows_.view(s_.table).clustered(), duplicate, cells);
    return;
  }
  const Put put = put_row(cells, index, duplicate, placed);
  if (put == Put::Done) {
    emit(slot_of(*table_, ctx_.w, placed));
    return;
  }
  if (put == Put::Stop) {
    // IGNORE skips a row without a parent as well.
    if (result_.status != Status::Error || result_.error != ErrorClass::ForeignKeyViolation || !s_.ignore) return;
    result_ = {};
    if (placed >= 0) rows_.undo_row(s_.table, placed);
    return;
  }
  if (placed >= 0) rows_.undo_row(s_.table, placed);  // it was in the clustered index already
  number_unused_ = true;
  if (s_.conflict_update) {
    update_duplicate(index, duplicate, cells);
  } else if (!s_.on_conflict) {
    error(ErrorClass::UniqueViolation);
  }
}

// row_ins: the clustered index, then each secondary one. A row that has to wait for a secondary index is in the
// clustered one.
InnodbRun::Put InnodbRun::put_row(const CellId* cells, int& index, int& duplicate, int& placed) {
  const IndexView view = rows_.view(s_.table);
  const int c = view.clustered();
  const auto lock = static_cast<std::uint8_t>(s_.conflict_update ? kLockX : 0);
  for (int i = 0; i < table_->slots; ++i) {
    const std::uint8_t* v = view.version(i);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] >> kPendingShift) != 0) placed = i;
  }
  if (placed < 0) {
    if (!parents_hold(s_.table, -1, cells) || !parents_hold(s_.table, c, cells)) return Put::Stop;
    int there = -1;
    for (int i = 0; i < table_->slots; ++i) {
      if (c < view.index_count() && view.present(c, i) && view.same_key(c, cells, i)) there = i;
    }
    if (there >= 0) {
      if (!take(s_.table, c, there, static_cast<std::uint8_t>(lock | kLockRecord), true, true)) return Put::Stop;
      if (view.alive(c, there)) {
        index = c;
        duplicate = there;
        return Put::Duplicate;
      }
      if (!take(s_.table, c, there, kLockX | kLockRecord, false)) return Put::Stop;
      placed = rows_.revive(s_.table, there, cells) ? there : -1;
    } else {
      if (!take(s_.table, c, view.place_for(c, cells, -1), kLockX | kLockGap | kLockInsert, false)) return Put::Stop;
      placed = rows_.place(s_.table, cells);
    }
    if (placed < 0) {
      ctx_.fail(LimitKind::Rows, s_.table);
      return Put::Stop;
    }
  }
  for (int x = rows_.next_index(s_.table, placed); x >= 0; x = rows_.next_index(s_.table, placed)) {
    if (!parents_hold(s_.table, x, cells)) return Put::Stop;
    if (view.unique(x) && !view.has_null(x, cells)) {
      const Put put = scan_duplicates(s_.table, x, cells, placed, s_.conflict_update, duplicate);
      index = x;
      if (put != Put::Done) return put;
    }
    const int there = view.record_with_key(x, placed, cells);
    const int on = there >= 0 ? there : view.place_for(x, cells, -1);
    const std::uint8_t mode = there >= 0 ? kLockX | kLockRecord : kLockX | kLockGap | kLockInsert;
    const bool taken = take(s_.table, x, on, mode, false);
    if (!taken) return Put::Stop;
    rows_.enter(s_.table, placed);
  }
  return Put::Done;
}

// ON DUPLICATE KEY UPDATE: the server reads the row that is there with an X lock and updates it.
void InnodbRun::update_duplicate(int index, int duplicate, const CellId* cells) {
  const IndexView view = rows_.view(s_.table);
  entry_ = duplicate;
  if (index != view.clustered() && !take(s_.table, index, duplicate, kLockX | kLockRecord, true)) return;
  if (!take(s_.table, view.clustered(), duplicate, kLockX | kLockRecord, true)) return;
  Val values[kMaxRowColumns];
  CellId before[kMaxRowColumns], now[kMaxRowColumns];
  const std::size_t columns = table_->columns.size();
  for (std::size_t c = 0; c < columns; ++c) values[c] = ctx_.plan.domain.decode(cells[c]);
  view.load(duplicate, before);
  std::copy(before, before + columns, now);
  set_row(0, view.version(duplicate));
  ctx_.sources[1] = {nullptr, values};
  assign(s_.conflict_set, now);
  ctx_.sources[1] = {};
  if (stopped()) return;
  if (std::equal(before, before + columns, now)) {
    if (!s_.targets.empty()) emit(view.version(duplicate));
    if (!s_.targets.empty()) --count_;
    count_ += db_.found_rows ? 1 : 0;
    entry_ = -1;
    return;
  }
  if (!constraints_hold(now)) return;
  change_row(s_.table, duplicate, now);
  if (stopped()) return;
  move_sequences(s_.conflict_set, now);
  entry_ = -1;
  if (!s_.targets.empty()) {
    emit(view.version(duplicate));
    --count_;
  }
  count_ += 2;
}

}  // namespace oncecheck

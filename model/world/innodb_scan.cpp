#include <algorithm>

#include "model/world/innodb_run.hpp"
#include "model/world/innodb_steps.hpp"
#include "model/world/mvcc.hpp"

namespace oncecheck {

// How a query inside this statement reads a table (ha_innobase::store_lock). A plain SELECT reads by a snapshot, except
// inside a SERIALIZABLE transaction, and so does a subquery of a locking SELECT. What a write reads it locks, except
// that at READ COMMITTED INSERT ... SELECT and the subquery of an UPDATE read by a snapshot. (MariaDB makes a
// multi-table UPDATE of one that reads its own table, and that one locks.)
InnodbRun::Style InnodbRun::style_of(int table) const {
  if (s_.kind == SqlKind::Select || s_.kind == SqlKind::SelectLock) {
    return isolation() == Isolation::Serializable && me_[kTx] == kOpenTx ? Style::Share : Style::Plain;
  }
  if (gaps()) return Style::Share;
  if (s_.kind == SqlKind::Insert && s_.query >= 0) return Style::Plain;
  return s_.kind == SqlKind::Update && table != s_.table ? Style::Plain : Style::Share;
}

void InnodbRun::open(const Source& source, RowCursor& cursor) {
  use_innodb();
  cursor.count = cursor.at = 0;
  if (stopped()) return;
  if (style_of(source.index) == Style::Plain) {
    // The read view is made by the first plain SELECT that needs one. In autocommit nobody could tell.
    if (isolation() >= Isolation::RepeatableRead && me_[kTx] == kOpenTx) {
      ctx_.snapshot = take_snapshot(layout_, ctx_.w, session_);
    }
    plan_versions(cursor, source.index, source.access);
  } else {
    plan_scan(cursor, source.index, source.access);
    cursor.covering = covers_source(cursor, source);
  }
}

const std::uint8_t* InnodbRun::next(RowCursor& cursor) {
  if (stopped()) return nullptr;
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(cursor.table)];
  if (style_of(cursor.table) == Style::Plain) {
    return cursor.at < cursor.count ? slot_of(t, ctx_.w, cursor.steps[cursor.at++].slot) : nullptr;
  }
  int slot = -1;
  while (next_row(cursor, Style::Share, slot)) {
    const std::uint8_t* v = slot_of(t, ctx_.w, slot);
    if (v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand)) continue;
    if (cursor.first_only) cursor.at = cursor.count;
    return v;
  }
  return nullptr;
}

bool InnodbRun::too_new(const std::uint8_t* v) const {
  const int snapshot = me_[kSnapshot];
  if (!db_.snapshot_isolation || snapshot == 0 || !gaps()) return false;
  auto after = [&](std::uint8_t x) { return x != 0 && !in_progress(x) && snapshot <= x - 1; };
  return after(v[kXmin]) || after(v[kXmax]);
}

// Whether the row matched when it was last committed (semi-consistent read). No row then: no match.
bool InnodbRun::committed_matches(int slot) {
  const IndexView view = rows_.view(s_.table);
  const std::uint8_t* v = view.version(slot);
  while (in_progress(v[kXmin]) && owner_of(v[kXmin]) != session_) {
    const int before = view.version_before(slot);
    if (before < 0) return false;
    slot = before;
    v = view.version(slot);
  }
  if ((v[kFlags] & kEndedKey) && !in_progress(v[kXmax])) return false;
  set_row(0, v);
  return s_.where == kNoExpr || is_true(eval(ctx_, s_.where));
}

// Takes the lock, or passes over the record (false); on a wait or an error stopped() is set.
bool InnodbRun::take_or_pass(RowCursor& cursor, LockName on, std::uint8_t mode, bool semi) {
  LockTable& locks = rows_.locks();
  const bool waits = s_.policy == LockPolicy::Block || &cursor != &scan_;  // NOWAIT is not for subqueries
  LockTable::Got got = locks.ask(session_, on, mode, waits && !semi);
  if (got == LockTable::Got::Wait && semi) {
    if (!committed_matches(on.slot) || stopped()) return false;
    got = locks.ask(session_, on, mode, true);
  }
  if (got == LockTable::Got::Wait) {
    if (waits) {
      block(me_[kWaits] - 1);
      if (&cursor == &scan_) entry_ = cursor.steps[cursor.at - 1].slot;
    } else if (s_.policy == LockPolicy::NoWait) {
      error(mariadb() ? ErrorClass::LockTimeout : ErrorClass::LockNotAvailable);
    }
    return false;
  }
  if (got == LockTable::Got::New && new_count_ < 2) {
    new_locks_[new_count_] = on;
    new_modes_[new_count_++] = mode;
  }
  return true;
}

void InnodbRun::unlock_step() {
  if (gaps()) return;
  while (new_count_ > 0) {
    --new_count_;
    rows_.locks().unlock(session_, new_locks_[new_count_], new_modes_[new_count_]);
  }
}

// Locks what the step names. True: its row is there and ours.
bool InnodbRun::lock_step(RowCursor& cursor, const RowCursor::Step& step, Style style) {
  const IndexView view = rows_.view(cursor.table);
  const int x = cursor.index;
  const auto lock = static_cast<std::uint8_t>(style == Style::Exclusive ? kLockX : 0);
  const LockName on{cursor.table, x, step.slot};
  new_count_ = 0;
  if (step.kind == kStepGap) {
    rows_.locks().ask(session_, on, static_cast<std::uint8_t>(lock | kLockGap), false);
    return false;
  }
  const bool alive = view.alive(x, step.slot);
  std::uint8_t mode = step.mode;
  // The only record of a whole key is locked without the gap; on MariaDB, one of a secondary index with it (measured).
  const bool alone = alive && (x == view.clustered() || !mariadb());
  if (step.kind == kStepPoint) mode = alone || !gaps() ? kLockRecord : 0;
  // An UPDATE at READ COMMITTED judges a locked row by its committed version and passes over it when that does not
  // match (not when it sorts the rows first; not when it reads its own table, which MariaDB runs as an UPDATE of a join).
  const bool semi = s_.kind == SqlKind::Update && !gaps() && !sorts_ && !s_.reads_target && x == view.clustered() &&
                    step.kind != kStepPoint && &cursor == &scan_;
  if (step.kind == kStepBeyond) {
    // What lies behind the range matches by no version.
    if (semi) {
      if (rows_.locks().ask(session_, on, static_cast<std::uint8_t>(lock | mode), false) == LockTable::Got::New) {
        rows_.locks().unlock(session_, on, static_cast<std::uint8_t>(lock | mode));
      }
    } else if (take_or_pass(cursor, on, static_cast<std::uint8_t>(lock | mode), false)) {
      unlock_step();
    }
    return false;
  }
  if (!take_or_pass(cursor, on, static_cast<std::uint8_t>(lock | mode), semi)) {
    if (semi && step.kind == kStepBefore) cursor.finished = step.range;
    return false;
  }
  if (!alive) {
    unlock_step();
    if (step.kind == kStepPoint && x == view.clustered()) cursor.finished = step.range;
    return false;
  }
  if (step.kind == kStepPoint) cursor.finished = step.range;
  if (x != view.clustered() && (style == Style::Exclusive || !cursor.covering)) {
    const LockName row{cursor.table, view.clustered(), step.slot};
    if (!take_or_pass(cursor, row, static_cast<std::uint8_t>(lock | kLockRecord), false)) return false;
  }
  if (step.kind == kStepBefore) {
    cursor.finished = step.range;
    return false;
  }
  if (too_new(view.version(step.slot))) {
    error(ErrorClass::SerializationFailure);
    return false;
  }
  return true;
}

// The next row of a locking scan; its slot is the current version.
bool InnodbRun::next_row(RowCursor& cursor, Style style, int& slot) {
  const IndexView view = rows_.view(cursor.table);
  while (cursor.at < cursor.count && !stopped()) {
    const RowCursor::Step step = cursor.steps[cursor.at++];
    if (step.range == cursor.finished) continue;
    if (&cursor == &scan_ && position_ >= 0) {
      if (step.slot == position_ && step.kind != kStepGap) {
        position_ = -1;
      } else {
        // Before the place where the scan waited. A write has dealt with it; a search finds again what it locked.
        const bool row_step = step.kind == kStepRow || step.kind == kStepPoint;
        if (!row_step || !view.alive(cursor.index, step.slot)) continue;
        const auto row = static_cast<std::uint8_t>(kLockRecord | (style == Style::Exclusive ? kLockX : 0));
        const bool write = s_.kind != SqlKind::SelectLock && !two_phases_;
        const bool row_locked = cursor.index == view.clustered() || style == Style::Exclusive || !cursor.covering;
        const int locked = row_locked ? view.clustered() : cursor.index;
        if (write || !rows_.locks().holds(session_, {cursor.table, locked, step.slot}, row)) continue;
        if (step.kind == kStepPoint) cursor.finished = step.range;
        new_count_ = 0;
        slot = step.slot;
        return true;
      }
    }
    if (!lock_step(cursor, step, style)) continue;
    if (&cursor == &scan_) entry_ = step.slot;
    slot = step.slot;
    return true;
  }
  return false;
}

}  // namespace oncecheck

#include "model/world/innodb_rows.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/savepoint.hpp"

namespace oncecheck {

namespace {

bool indexed(const TableLayout& t, int column) {
  return std::any_of(t.indexes.begin(), t.indexes.end(), [&](const Index& i) {
    return std::find(i.columns.begin(), i.columns.end(), column) != i.columns.end();
  });
}

}  // namespace

InnodbRows::InnodbRows(const Plan& plan, std::uint8_t* w, int db, int session)
    : plan_(plan),
      layout_(plan.layout),
      w_(w),
      db_(plan.layout.databases[static_cast<std::size_t>(db)]),
      session_(session),
      mine_(mark_of(session)),
      locks_(plan, w, db) {}

std::uint8_t InnodbRows::level() const { return static_cast<std::uint8_t>(savepoint_depth(layout_, w_, session_)); }

int InnodbRows::free_slot(int table, bool record) const {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  int first = 0;
  if (record && view(table).clustered() == view(table).index_count()) {
    // Row numbers grow: a new row comes after all.
    for (int i = 0; i < t.slots; ++i) {
      if (view(table).is_record(i)) first = i + 1;
    }
  }
  for (int n = 0; n < t.slots; ++n) {
    // Old versions from the end, so that they leave room for row numbers.
    const int i = record ? (first + n) % t.slots : t.slots - 1 - n;
    if (slot(table, i)[kXmin] == 0) return i;
  }
  return -1;
}

void InnodbRows::write(int table, int i, const CellId* cells) {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  std::uint8_t* v = slot(table, i);
  v[kXmin] = mine_;
  v[kXmax] = 0;
  v[kNext] = 0;
  if (t.subs >= 0) {
    v[t.subs] = level();
    v[t.subs + 1] = 0;
  }
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    store_cell(layout_, v + t.cells + static_cast<int>(c) * layout_.cell, cells[c]);
  }
}

int InnodbRows::place(int table, const CellId* cells) {
  const int i = free_slot(table, true);
  if (i < 0) return -1;
  const IndexView v = view(table);
  const int secondary = v.index_count() - (v.clustered() < v.index_count() ? 1 : 0);
  slot(table, i)[kFlags] = static_cast<std::uint8_t>(kMadeByCommand | secondary << kPendingShift);
  write(table, i, cells);
  locks_.split_gap({table, v.clustered(), i}, v.after(v.clustered(), i));
  return i;
}

void InnodbRows::relink(int table, int from, int to) {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  for (int i = 0; i < t.slots; ++i) {
    std::uint8_t* v = slot(table, i);
    if (v[kXmin] != 0 && v[kNext] == from + 1) v[kNext] = static_cast<std::uint8_t>(to + 1);
  }
}

// The current version goes into a slot of its own; its row is then written over.
int InnodbRows::save_version(int table, int i) {
  const int h = free_slot(table, false);
  if (h < 0) return -1;
  relink(table, i, h);
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  std::memcpy(slot(table, h), slot(table, i), static_cast<std::size_t>(t.stride));
  slot(table, h)[kNext] = static_cast<std::uint8_t>(i + 1);
  return h;
}

bool InnodbRows::revive(int table, int i, const CellId* cells) {
  const IndexView v = view(table);
  const int h = save_version(table, i);
  if (h < 0) return false;
  const int secondary = v.index_count() - (v.clustered() < v.index_count() ? 1 : 0);
  for (int x = 0; x < v.index_count(); ++x) {
    if (x != v.clustered()) locks_.rename(table, x, i, h);
  }
  slot(table, i)[kFlags] = static_cast<std::uint8_t>(kMadeByCommand | secondary << kPendingShift);
  write(table, i, cells);
  return true;
}

int InnodbRows::next_index(int table, int i) const {
  const IndexView v = view(table);
  int pending = slot(table, i)[kFlags] >> kPendingShift;
  if (pending == 0) return -1;
  for (int x = v.index_count() - 1;; --x) {
    if (x != v.clustered() && --pending == 0) return x;
  }
}

void InnodbRows::enter(int table, int i) {
  const int x = next_index(table, i);
  const IndexView v = view(table);
  CellId cells[kMaxIndexRecords];
  v.load(i, cells);
  const int there = v.record_with_key(x, i, cells);
  slot(table, i)[kFlags] = static_cast<std::uint8_t>(slot(table, i)[kFlags] - (1 << kPendingShift));
  if (there >= 0) {
    locks_.rename(table, x, there, i);
  } else {
    locks_.split_gap({table, x, i}, v.after(x, i));
  }
}

bool InnodbRows::change(int table, int i, const CellId* cells) {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  const IndexView v = view(table);
  std::uint8_t* now = slot(table, i);
  const bool again = now[kXmin] == mine_ && (now[kFlags] & kMadeByCommand) && (t.subs < 0 || now[t.subs] == level());
  int h = -1;
  if (!again) {
    h = save_version(table, i);
    if (h < 0) return false;
    std::uint8_t* old = slot(table, h);
    old[kXmax] = mine_;
    old[kFlags] = static_cast<std::uint8_t>((old[kFlags] & kMadeByCommand) | kEndedByCommand);
    if (t.subs >= 0) old[t.subs + 1] = level();
  }
  bool moved[kMaxIndexRecords] = {};
  for (int x = 0; x < v.index_count(); ++x) {
    if (x == v.clustered() || v.same_key(x, cells, i)) continue;
    moved[x] = true;
    if (again) {
      leave_name(v, x, i);
    } else {
      locks_.rename(table, x, i, h);
    }
  }
  now[kFlags] = kMadeByCommand;
  write(table, i, cells);
  for (int x = 0; x < v.index_count(); ++x) {
    if (!moved[x]) continue;
    int there = -1;  // the newest older version with the new key
    for (int at = v.version_before(i); at >= 0 && there < 0; at = v.version_before(at)) {
      if (v.same_key(x, at, i)) there = at;
    }
    if (there >= 0) {
      locks_.rename(table, x, there, i);
    } else {
      locks_.split_gap({table, x, i}, v.after(x, i));
    }
  }
  return true;
}

void InnodbRows::mark_deleted(int table, int i) {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  std::uint8_t* v = slot(table, i);
  v[kXmax] = mine_;
  v[kFlags] = static_cast<std::uint8_t>(v[kFlags] | kEndedByCommand | kEndedKey);
  if (t.subs >= 0) v[t.subs + 1] = level();
}

// The version in this slot stops naming a record: an older one with the same key does, or the record goes.
void InnodbRows::leave_name(const IndexView& v, int x, int i) {
  const int table = static_cast<int>(&v.table() - layout_.tables.data());
  if (!v.present(x, i)) return;
  if (x != v.clustered()) {
    for (int at = v.version_before(i); at >= 0; at = v.version_before(at)) {
      if (!v.same_key(x, at, i)) continue;
      locks_.rename(table, x, i, at);
      return;
    }
  }
  locks_.vanish({table, x, i}, v.after(x, i));
}

void InnodbRows::forget_record(int table, int i) {
  const IndexView v = view(table);
  for (int x = 0; x <= v.index_count(); ++x) {
    if (x < v.index_count() || x == v.clustered()) leave_name(v, x, i);
  }
  std::memset(slot(table, i), 0, static_cast<std::size_t>(v.table().stride));
}

void InnodbRows::forget_version(int table, int i) {
  const IndexView v = view(table);
  for (int x = 0; x < v.index_count(); ++x) {
    if (x != v.clustered()) leave_name(v, x, i);
  }
  const int next = slot(table, i)[kNext] - 1;
  relink(table, i, next);
  std::memset(slot(table, i), 0, static_cast<std::size_t>(v.table().stride));
}

void InnodbRows::restore(int table, int i, int before) {
  const IndexView v = view(table);
  for (int x = 0; x < v.index_count(); ++x) {
    if (x == v.clustered()) continue;
    if (!v.same_key(x, i, before)) leave_name(v, x, i);
    // What the older version names, the row itself names again.
    if (v.present(x, before)) locks_.rename(table, x, before, i);
  }
  std::uint8_t* now = slot(table, i);
  std::memcpy(now, slot(table, before), static_cast<std::size_t>(v.table().stride));
  now[kNext] = 0;
  if (!(now[kFlags] & kEndedKey)) {
    now[kXmax] = 0;
    now[kFlags] = static_cast<std::uint8_t>(now[kFlags] & kMadeByCommand);
    if (v.table().subs >= 0) now[v.table().subs + 1] = 0;
  }
  std::memset(slot(table, before), 0, static_cast<std::size_t>(v.table().stride));
  relink(table, before, i);
}

bool InnodbRows::in_scope(Scope scope, int level, const TableLayout& t, const std::uint8_t* v, bool end) const {
  if (v[end ? kXmax : kXmin] != mine_) return false;
  switch (scope) {
    case Scope::Statement: return (v[kFlags] & (end ? kEndedByCommand : kMadeByCommand)) != 0;
    case Scope::Level: return v[t.subs + (end ? 1 : 0)] >= level;
    case Scope::All: return true;
  }
  return true;
}

// row_convert_impl_to_expl_if_needed, which MariaDB lacks.
void InnodbRows::keep_locks(int table, int i) {
  if (db_.engine != Engine::MySql || innodb_isolation(layout_, w_, session_) < Isolation::RepeatableRead) return;
  const IndexView v = view(table);
  for (int x = 0; x <= v.index_count(); ++x) {
    for (int at = i; at >= 0; at = v.version_before(at)) {
      if ((x < v.index_count() || x == v.clustered()) && v.present(x, at)) locks_.make_explicit({table, x, at});
    }
  }
}

void InnodbRows::undo(Scope scope, int level, int table, int i) {
  const IndexView v = view(table);
  for (;;) {
    std::uint8_t* now = slot(table, i);
    const bool marked = in_scope(scope, level, v.table(), now, true);
    if (!marked && !in_scope(scope, level, v.table(), now, false)) return;
    if (scope != Scope::All) keep_locks(table, i);
    if (marked) {
      now[kXmax] = 0;
      now[kFlags] = static_cast<std::uint8_t>(now[kFlags] & ~(kEndedByCommand | kEndedKey));
      if (v.table().subs >= 0) now[v.table().subs + 1] = 0;
      continue;
    }
    const int before = v.version_before(i);
    if (before < 0) {
      forget_record(table, i);
      return;
    }
    restore(table, i, before);
  }
}

void InnodbRows::undo(Scope scope, int level) {
  for (int table : db_.tables) {
    for (int i = 0; i < layout_.tables[static_cast<std::size_t>(table)].slots; ++i) {
      if (view(table).is_record(i)) undo(scope, level, table, i);
    }
  }
}

void InnodbRows::undo_statement() { undo(Scope::Statement, 0); }
void InnodbRows::undo_level(int level) { undo(Scope::Level, level); }
void InnodbRows::undo_all() { undo(Scope::All, 0); }
void InnodbRows::undo_row(int table, int i) { undo(Scope::Statement, 0, table, i); }

// Whether the version stands for a record of a secondary index. That stays, marked as deleted and locked by its owner, until
// the transaction has ended and purge takes it.
bool InnodbRows::names_record(int table, int i) const {
  const IndexView v = view(table);
  for (int x = 0; x < v.index_count(); ++x) {
    if (x != v.clustered() && v.present(x, i)) return true;
  }
  return false;
}

void InnodbRows::end_statement() {
  for (int table : db_.tables) {
    const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
    for (int i = 0; i < t.slots; ++i) {
      std::uint8_t* v = slot(table, i);
      if (v[kXmin] == 0) continue;
      if (v[kXmin] == mine_) v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & ~kMadeByCommand);
      if (v[kXmax] == mine_) v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & ~kEndedByCommand);
    }
    for (int i = 0; i < t.slots; ++i) {
      const std::uint8_t* v = slot(table, i);
      if (v[kXmin] != mine_ || v[kXmax] != mine_ || v[kNext] == 0) continue;
      const std::uint8_t* next = slot(table, v[kNext] - 1);
      // A ROLLBACK TO comes back to it only when a savepoint lies on one side.
      const bool kept = t.subs >= 0 && (v[t.subs] != v[t.subs + 1] || next[t.subs] != v[t.subs + 1]);
      if (!kept && !names_record(table, i)) forget_version(table, i);
    }
  }
}

void InnodbRows::release_snapshot() { oncecheck::release_snapshot(layout_, w_, session_); }

void InnodbRows::commit() {
  const auto committed = static_cast<std::uint8_t>(
      1 + live_snapshots(layout_, w_, layout_.sessions[static_cast<std::size_t>(session_)].db));
  for (int table : db_.tables) {
    const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
    for (int i = 0; i < t.slots; ++i) {
      std::uint8_t* v = slot(table, i);
      if (v[kXmin] == 0 || (v[kXmin] != mine_ && v[kXmax] != mine_)) continue;
      // A version that came and went with the transaction was never seen by anybody.
      const bool unseen = v[kXmin] == mine_ && v[kXmax] == mine_;
      if (v[kXmin] == mine_) v[kXmin] = committed;
      if (v[kXmax] == mine_) v[kXmax] = unseen ? 1 : committed;
      v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & kEndedKey);
      if (t.subs >= 0) v[t.subs] = v[t.subs + 1] = 0;
    }
  }
}

// What nobody could tell from its absence goes at once: a version that stands for no index record. Of what stays only the
// index records count: columns outside of all indexes are cleared, so that equal situations have equal bytes.
void InnodbRows::purge() {
  for (int table : db_.tables) {
    const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
    for (int i = 0; i < t.slots; ++i) {
      std::uint8_t* v = slot(table, i);
      if (v[kXmin] == 0 || v[kXmax] != 1) continue;
      if (v[kNext] != 0 && !names_record(table, i)) {
        forget_version(table, i);
        continue;
      }
      v[kXmin] = 1;
      for (std::size_t c = 0; c < t.columns.size(); ++c) {
        if (!indexed(t, static_cast<int>(c))) store_cell(layout_, v + t.cells + static_cast<int>(c) * layout_.cell, kNullCell);
      }
    }
  }
}

bool InnodbRows::purgeable(int table, int i) const {
  const std::uint8_t* v = slot(table, i);
  if (v[kXmin] == 0 || v[kXmax] != 1 || locks_.awaited(table, i)) return false;
  return v[kNext] != 0 || view(table).version_before(i) < 0;
}

void InnodbRows::purge_row(int table, int i) {
  if (slot(table, i)[kNext] != 0) {
    forget_version(table, i);
  } else {
    forget_record(table, i);
  }
}

void InnodbRows::make_room(int table) {
  const int slots = layout_.tables[static_cast<std::size_t>(table)].slots;
  int free = 0;
  for (int i = 0; i < slots; ++i) free += slot(table, i)[kXmin] == 0 ? 1 : 0;
  for (int i = 0; i < slots && free < 2; ++i) {
    if (!purgeable(table, i)) continue;
    purge_row(table, i);
    ++free;
  }
}

void InnodbRows::purge_all() {
  for (int table : db_.tables) {
    const int slots = layout_.tables[static_cast<std::size_t>(table)].slots;
    // A row that goes needs its older versions to have gone.
    for (bool rows : {false, true}) {
      for (int i = 0; i < slots; ++i) {
        if ((slot(table, i)[kNext] == 0) == rows && purgeable(table, i)) purge_row(table, i);
      }
    }
  }
}

int InnodbRows::changed_rows() const {
  int count = 0;
  for (int table : db_.tables) {
    for (int i = 0; i < layout_.tables[static_cast<std::size_t>(table)].slots; ++i) {
      const std::uint8_t* v = slot(table, i);
      count += (v[kXmin] == mine_ ? 1 : 0) + (v[kXmin] != 0 && v[kXmax] == mine_ && (v[kFlags] & kEndedKey) ? 1 : 0);
    }
  }
  return count;
}

}  // namespace oncecheck

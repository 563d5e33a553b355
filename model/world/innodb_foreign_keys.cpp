// Foreign keys on InnoDB (row_ins_check_foreign_constraint): a check is a shared lock on the parent, or on the
// children, of the newest version, and so waits for whoever inserts or deletes it.
#include <algorithm>

#include "model/world/innodb_run.hpp"

namespace oncecheck {

namespace {

bool begins_with(const Index& index, const std::vector<int>& columns) {
  return index.columns.size() >= columns.size() && std::equal(columns.begin(), columns.end(), index.columns.begin());
}

}  // namespace

// The index that a foreign key works with; -1: none begins with its columns.
int InnodbRun::index_on(int table, const std::vector<int>& columns) const {
  const TableLayout& t = layout_.tables[static_cast<std::size_t>(table)];
  for (std::size_t x = 0; x < t.indexes.size(); ++x) {
    if (begins_with(t.indexes[x], columns)) return static_cast<int>(x);
  }
  return -1;
}

bool InnodbRun::parents_hold(int table, int x, const CellId* cells) {
  if (!checks_parents_) return true;
  for (const ForeignKey& key : layout_.tables[static_cast<std::size_t>(table)].foreign_keys) {
    if (index_on(table, key.columns) == x && !parent_holds(key, cells)) return false;
  }
  return true;
}

bool InnodbRun::parent_holds(const ForeignKey& key, const CellId* cells) {
  for (int c : key.columns) {
    if (cells[c] == kNullCell) return true;
  }
  const IndexView parent = rows_.view(key.parent);
  const int x = index_on(key.parent, key.parent_columns);
  if (x < 0) return true;  // the compiler refuses a foreign key without an index of the parent
  auto order = [&](int slot) {
    CellId wanted[kMaxRowColumns];
    parent.load(slot, wanted);
    for (std::size_t i = 0; i < key.columns.size(); ++i) wanted[key.parent_columns[i]] = cells[key.columns[i]];
    return parent.order_key(x, wanted, slot);
  };
  int records[kMaxIndexRecords];
  const int n = parent.records(x, records);
  int i = 0;
  while (i < n && order(records[i]) > 0) ++i;
  for (; i < n && order(records[i]) == 0; ++i) {
    const bool alive = parent.alive(x, records[i]);
    if (!take(key.parent, x, records[i], alive || !gaps() ? kLockRecord : 0, true, true)) return false;
    if (alive) return true;
  }
  if (gaps()) take(key.parent, x, i < n ? records[i] : kSupremum, kLockGap, true, true);
  error(ErrorClass::ForeignKeyViolation);
  return false;
}

// Before a row goes or changes a key that children refer to.
bool InnodbRun::children_follow(int table, int slot, const CellId* now) {
  CellId values[kMaxRowColumns];
  rows_.view(table).load(slot, values);
  for (int child : db_.tables) {
    for (const ForeignKey& key : layout_.tables[static_cast<std::size_t>(child)].foreign_keys) {
      if (key.parent != table) continue;
      const auto same = [&](int c) { return now != nullptr && now[c] == values[c]; };
      const auto null = [&](int c) { return values[c] == kNullCell; };
      const auto& columns = key.parent_columns;
      if (std::all_of(columns.begin(), columns.end(), same)) continue;
      if (std::any_of(columns.begin(), columns.end(), null)) continue;
      if (!children_of(child, key, values, now)) return false;
    }
  }
  return true;
}

bool InnodbRun::children_of(int child, const ForeignKey& key, const CellId* values, const CellId* now) {
  const IndexView view = rows_.view(child);
  const int index = index_on(child, key.columns);
  const int x = index < 0 ? view.clustered() : index;
  auto order = [&](int slot) {
    CellId wanted[kMaxRowColumns];
    view.load(slot, wanted);
    bool match = true;
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      match = match && wanted[key.columns[i]] == values[key.parent_columns[i]];
      wanted[key.columns[i]] = values[key.parent_columns[i]];
    }
    if (index < 0) return match ? 0 : 1;  // without an index of its own every child is looked at
    return view.order_key(x, wanted, slot);
  };
  int records[kMaxIndexRecords];
  const int n = view.records(x, records);
  int behind = kSupremum;
  for (int i = 0; i < n; ++i) {
    const int side = order(records[i]);
    if (side > 0) continue;
    if (side < 0) {
      behind = records[i];
      break;
    }
    if (!take(child, x, records[i], gaps() ? 0 : kLockRecord, true, true)) return false;
    if (!view.alive(x, records[i])) continue;
    const bool deletes = now == nullptr;
    switch (deletes ? key.on_delete : key.on_update) {
      case OnParentChange::Refuse: error(ErrorClass::ForeignKeyViolation); return false;
      case OnParentChange::Cascade:
        if (!child_follows(child, key, records[i], now, deletes)) return false;
        break;
      case OnParentChange::SetNull:
        if (!child_follows(child, key, records[i], nullptr, false)) return false;
        break;
    }
  }
  if (gaps()) take(child, x, behind, kLockGap, true, true);
  return true;
}

// `values`: the parent's new key, null for SET NULL.
bool InnodbRun::child_follows(int child, const ForeignKey& key, int slot, const CellId* values, bool deletes) {
  const IndexView view = rows_.view(child);
  if (!take(child, view.clustered(), slot, kLockX | kLockRecord, true)) return false;
  if (deletes) {
    delete_row(child, slot);
    return !stopped();
  }
  CellId cells[kMaxRowColumns];
  view.load(slot, cells);
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    cells[key.columns[i]] = values == nullptr ? kNullCell : values[key.parent_columns[i]];
  }
  // The new parent is the row that is about to be: it is not looked for.
  checks_parents_ = false;
  change_row(child, slot, cells);
  checks_parents_ = true;
  return !stopped();
}

}  // namespace oncecheck

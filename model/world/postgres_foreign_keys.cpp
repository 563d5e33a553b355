// Foreign keys on PostgreSQL, checked when the statement's own work is done, that of its WITH queries included (ri_triggers.c).
// The check of a child takes KEY SHARE on the parent and sees only what the snapshot sees: an uncommitted parent is none. That of
// a parent sees the newest committed children. Each check is a query of its own that locks or changes the rows it meets, and
// waits for them as UPDATE and SELECT FOR KEY SHARE do.
//
// Left out: above READ COMMITTED, when CASCADE or SET NULL waits for one child, another one that someone else changes in that
// time is a serialization failure on the server; here it is passed over, as only the row that is waited for is remembered.
#include <algorithm>

#include "model/world/mvcc.hpp"
#include "model/world/postgres_run.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/ssi.hpp"

namespace oncecheck {

namespace {

bool any_null(const Layout& layout, const TableLayout& table, const std::vector<int>& columns, const std::uint8_t* v) {
  return std::any_of(columns.begin(), columns.end(), [&](int c) { return column_of(layout, table, v, c) == kNullCell; });
}

bool same_columns(const Layout& layout, const TableLayout& a, const std::vector<int>& ac, const std::uint8_t* av,
                  const TableLayout& b, const std::vector<int>& bc, const std::uint8_t* bv) {
  for (std::size_t i = 0; i < ac.size(); ++i) {
    if (column_of(layout, a, av, ac[i]) != column_of(layout, b, bv, bc[i])) return false;
  }
  return true;
}

}  // namespace

// The run works on another table than the statement's own.
class PostgresRun::OnTable {
 public:
  OnTable(PostgresRun& run, int table) : run_(run), table_(run.table_), override_(run.table_override_) {
    run.table_ = &run.layout_.tables[static_cast<std::size_t>(table)];
    run.table_override_ = table;
  }
  ~OnTable() {
    run_.table_ = table_;
    run_.table_override_ = override_;
  }
  OnTable(const OnTable&) = delete;
  OnTable& operator=(const OnTable&) = delete;

 private:
  PostgresRun& run_;
  const TableLayout* table_;
  int override_;
};

void PostgresRun::check_foreign_keys() {
  if (!db_.foreign_keys) return;
  for (int t : db_.tables) {
    const TableLayout& table = layout_.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots && !stopped(); ++i) {
      const std::uint8_t* v = slot_of(table, ctx_.w, i);
      if (v[kXmin] == 0) continue;
      const bool made = v[kXmin] == mark_of(session_) && (v[kFlags] & kMadeByCommand) && v[kXmax] == 0;
      const bool ended = v[kXmax] == mark_of(session_) && (v[kFlags] & kEndedByCommand);
      for (const ForeignKey& key : table.foreign_keys) {
        if (made && !stopped() && !any_null(layout_, table, key.columns, v)) parent_exists(table, key, v);
      }
      if (ended && !stopped()) children_of(t, v);
    }
  }
}

bool PostgresRun::parent_exists(const TableLayout& child, const ForeignKey& key, const std::uint8_t* version) {
  const TableLayout& parent = layout_.tables[static_cast<std::size_t>(key.parent)];
  // An update that leaves the key alone needs no check, unless of a row that this transaction made (RI_FKey_fk_upd_check_required).
  for (int i = 0; i < child.slots; ++i) {
    const std::uint8_t* old = slot_of(child, ctx_.w, i);
    if (old[kXmin] != 0 && old[kXmin] != mark_of(session_) && old[kNext] != 0 && slot_of(child, ctx_.w, old[kNext] - 1) == version &&
        same_columns(layout_, child, key.columns, old, child, key.columns, version)) {
      return true;
    }
  }
  look_up(child, version, key.columns, key.parent, key.parent_columns, ctx_.snapshot);
  if (parent_went(child, key, version)) {
    error(ErrorClass::ForeignKeyViolation);
    return false;
  }
  OnTable on(*this, key.parent);
  for (int i = 0; i < parent.slots; ++i) {
    std::uint8_t* p = slot_of(parent, ctx_.w, i);
    if (p[kXmin] == 0 || !same_columns(layout_, child, key.columns, version, parent, key.parent_columns, p)) continue;
    const bool own = p[kXmin] == mark_of(session_);
    // The check is a query of its own: at READ COMMITTED by a snapshot of now.
    const int snapshot = fixed_snapshot() ? ctx_.snapshot : 0;
    if (!own && (in_progress(p[kXmin]) || !version_visible(p, -1, snapshot))) continue;
    const std::uint8_t xmax = p[kXmax];
    if (xmax == mark_of(session_)) continue;
    if (in_progress(xmax) && (p[kFlags] & kEndedKey)) {
      wait_for_key(owner_of(xmax), i, RowLock::KeyShare);
      return false;
    }
    // Changed since: the version of the snapshot still serves, if the key was not touched.
    int holder = -1;
    const Reach newer = newer_versions(parent, i, RowLock::KeyShare, holder);
    if ((xmax != 0 && (p[kFlags] & kEndedKey)) || newer == Reach::Gone) {
      error(ErrorClass::SerializationFailure);
      return false;
    }
    if (holder < 0) holder = lock_holder(layout_, parent, p, number_, RowLock::KeyShare);
    if (holder >= 0) {
      wait_for_key(holder, i, RowLock::KeyShare);
      return false;
    }
    lock_version(parent, i, RowLock::KeyShare);
    return true;
  }
  error(ErrorClass::ForeignKeyViolation);
  return false;
}

// At READ COMMITTED the check goes on after a wait with the newest version of the row that it waited for (EvalPlanQual); its
// snapshot is from before, so it finds no new row with the key. Whether that row is gone, or has another key now.
bool PostgresRun::parent_went(const TableLayout& child, const ForeignKey& key, const std::uint8_t* version) const {
  const TableLayout& parent = layout_.tables[static_cast<std::size_t>(key.parent)];
  auto fits = [&](int slot) {
    return same_columns(layout_, child, key.columns, version, parent, key.parent_columns, slot_of(parent, ctx_.w, slot));
  };
  if (fixed_snapshot() || !waited_for_key(key.parent, me_[kWaitSlot]) || !fits(me_[kWaitSlot])) return false;
  const int slot = newest_awaited(parent);
  return slot < 0 || !fits(slot);
}

// What became of the row that we waited for: the slot of its newest version, committed or ended by who is not; -1 when it is gone.
int PostgresRun::newest_awaited(const TableLayout& table) const {
  for (int slot = me_[kWaitSlot];; slot = slot_of(table, ctx_.w, slot)[kNext] - 1) {
    const std::uint8_t* v = slot_of(table, ctx_.w, slot);
    if (v[kXmax] == 0 || in_progress(v[kXmax])) return slot;
    if (v[kNext] == 0) return -1;
  }
}

// The query goes on with the newest version of the child that it waited for: locks it before it looks whether it still refers
// to the parent, and leaves it locked when not. False: it waits again.
bool PostgresRun::lock_awaited_child(RowLock want) {
  if (!waited_for_key(table_number(), me_[kWaitSlot])) return true;
  const int slot = newest_awaited(*table_);
  if (slot < 0 || slot_of(*table_, ctx_.w, slot)[kXmax] == mark_of(session_)) return true;
  if (!reach_child(slot, want)) return false;
  lock_version(*table_, slot, want);
  return true;
}

bool PostgresRun::waited_for_key(int table, int slot) const {
  return (me_[kWaitKind] & kWaitForKey) != 0 && me_[kWaitTable] == table + 1 && me_[kWaitSlot] == slot;
}

// A query of a foreign key waits for the row of the table that it works on. What it does when it goes on hangs on that.
void PostgresRun::wait_for_key(int holder, int slot, RowLock want) {
  wait_for_row(holder, slot, want);
  me_[kWaitKind] = static_cast<std::uint8_t>(me_[kWaitKind] | kWaitForKey);
  me_[kPart] = static_cast<std::uint8_t>(s_.parts.size() + 1);
}

// What SSI makes of a query for the rows of `table` whose columns have the values that `from` has in these columns of `version`.
void PostgresRun::look_up(const TableLayout& from, const std::uint8_t* version, const std::vector<int>& values, int table,
                          const std::vector<int>& columns, int snapshot) {
  if (!ssi_) return;
  CellId cells[kMaxRowColumns];
  for (std::size_t i = 0; i < values.size(); ++i) cells[i] = column_of(layout_, from, version, values[i]);
  ssi_look_up(ctx_, table, columns, cells, snapshot);
}

// The row was deleted, or its key changed: what of the rows that refer to it?
void PostgresRun::children_of(int table, const std::uint8_t* version) {
  const TableLayout& parent = layout_.tables[static_cast<std::size_t>(table)];
  const std::uint8_t* now = version[kNext] != 0 ? slot_of(parent, ctx_.w, version[kNext] - 1) : nullptr;
  for (int t : db_.tables) {
    const TableLayout& child = layout_.tables[static_cast<std::size_t>(t)];
    for (const ForeignKey& key : child.foreign_keys) {
      if (key.parent != table || stopped()) continue;
      if (now != nullptr && same_columns(layout_, parent, key.parent_columns, version, parent, key.parent_columns, now)) continue;
      changed_children(t, key, version, now);
    }
  }
}

void PostgresRun::changed_children(int child_number, const ForeignKey& key, const std::uint8_t* version, const std::uint8_t* now) {
  const TableLayout& child = layout_.tables[static_cast<std::size_t>(child_number)];
  const TableLayout& parent = layout_.tables[static_cast<std::size_t>(key.parent)];
  const OnParentChange action = now == nullptr ? key.on_delete : key.on_update;
  // These queries see the newest committed rows. NO ACTION first looks for another parent (ri_Check_Pk_Match).
  if (action == OnParentChange::Refuse) look_up(parent, version, key.parent_columns, key.parent, key.parent_columns, 0);
  look_up(parent, version, key.parent_columns, child_number, key.columns, 0);
  OnTable on(*this, child_number);
  const bool deletes = action == OnParentChange::Cascade && now == nullptr;
  const bool key_column = std::any_of(key.columns.begin(), key.columns.end(), [&](int c) { return in_unique_index(c); });
  const RowLock want = action == OnParentChange::Refuse ? RowLock::KeyShare
                       : deletes || key_column          ? RowLock::Update
                                                        : RowLock::NoKeyUpdate;
  if (!fixed_snapshot() && !lock_awaited_child(want)) return;
  for (int i = 0; i < child.slots && !stopped(); ++i) {
    const std::uint8_t* v = slot_of(child, ctx_.w, i);
    if (v[kXmin] == 0 || !same_columns(layout_, child, key.columns, v, parent, key.parent_columns, version)) continue;
    if (in_progress(v[kXmin]) && v[kXmin] != mark_of(session_)) continue;  // its own check will find the parent gone
    if (v[kXmax] == mark_of(session_)) continue;
    if (v[kXmax] != 0 && !in_progress(v[kXmax])) {
      // The query saw it before it waited for this change. (READ COMMITTED goes on with the newest version.)
      if (fixed_snapshot() && waited_for_key(child_number, i)) error(ErrorClass::SerializationFailure);
      continue;
    }
    if (!reach_child(i, want)) return;
    if (action == OnParentChange::Refuse) {
      error(ErrorClass::ForeignKeyViolation);
      return;
    }
    // The action runs by the newest rows; one that the fixed snapshot lacks is a serialization failure (crosscheck).
    if (fixed_snapshot() && !version_visible(v, session_, ctx_.snapshot) && v[kXmin] != mark_of(session_)) {
      error(ErrorClass::SerializationFailure);
      return;
    }
    if (deletes) {
      end_version(child, child_number, i, 0, true);
    } else {
      CellId cells[kMaxRowColumns];
      for (std::size_t c = 0; c < child.columns.size(); ++c) cells[c] = column_of(layout_, child, v, static_cast<int>(c));
      for (std::size_t k = 0; k < key.columns.size(); ++k) {
        cells[key.columns[k]] =
            action == OnParentChange::SetNull ? kNullCell : column_of(layout_, parent, now, key.parent_columns[k]);
      }
      replace_child(i, cells, key_column);
    }
    if (!stopped()) children_of(child_number, slot_of(child, ctx_.w, i));
  }
}

// False: it waits for another session that changes or locks the row. KEY SHARE does with a row that is replaced with the key
// untouched.
bool PostgresRun::reach_child(int slot, RowLock want) {
  const std::uint8_t* v = slot_of(*table_, ctx_.w, slot);
  int holder = lock_holder(layout_, *table_, v, number_, want);
  if (holder < 0 && in_progress(v[kXmax])) {
    if (want == RowLock::KeyShare && !(v[kFlags] & kEndedKey)) {
      newer_versions(*table_, slot, want, holder);
    } else {
      holder = owner_of(v[kXmax]);
    }
  }
  if (holder >= 0) wait_for_key(holder, slot, want);
  return holder < 0;
}

// As an UPDATE of the child would. No unique index can refuse the row: no other child has a key that is new to the parent.
void PostgresRun::replace_child(int slot, const CellId* cells, bool key) {
  if (!constraints_hold(cells)) return;
  bool indexed = false;
  for (std::size_t c = 0; c < table_->columns.size(); ++c) {
    const CellId before = column_of(layout_, *table_, slot_of(*table_, ctx_.w, slot), static_cast<int>(c));
    indexed = indexed || (cells[c] != before && is_indexed(static_cast<int>(c)));
  }
  const int fresh = replace_version(slot, cells, key, false);
  for (std::size_t x = 0; x < table_->indexes.size() && fresh >= 0 && ssi_ && indexed; ++x) {
    ssi_enter_index(ctx_, table_number(), static_cast<int>(x), slot_of(*table_, ctx_.w, fresh));
  }
}

}  // namespace oncecheck

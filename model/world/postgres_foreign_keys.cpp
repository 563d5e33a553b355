// Foreign keys on PostgreSQL, checked when the statement's own work is done (ri_triggers.c). The check of a child takes KEY
// SHARE on the parent and sees only what the snapshot sees: an uncommitted parent is none.
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
  // An update that leaves the key alone needs no check.
  for (int i = 0; i < child.slots; ++i) {
    const std::uint8_t* old = slot_of(child, ctx_.w, i);
    if (old[kXmin] != 0 && old[kNext] != 0 && slot_of(child, ctx_.w, old[kNext] - 1) == version &&
        same_columns(layout_, child, key.columns, old, child, key.columns, version)) {
      return true;
    }
  }
  look_up(child, version, key.columns, key.parent, key.parent_columns, ctx_.snapshot);
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
      wait_for_transaction(owner_of(xmax));
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
      wait_for_transaction(holder);
      return false;
    }
    lock_version(parent, i, RowLock::KeyShare);
    return true;
  }
  error(ErrorClass::ForeignKeyViolation);
  return false;
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
      changed_children(child, t, key, version, now);
    }
  }
}

bool PostgresRun::changed_children(const TableLayout& child, int child_number, const ForeignKey& key,
                                   const std::uint8_t* version, const std::uint8_t* now) {
  const TableLayout& parent = layout_.tables[static_cast<std::size_t>(key.parent)];
  const OnParentChange action = now == nullptr ? key.on_delete : key.on_update;
  // These queries see the newest committed rows. NO ACTION first looks for another parent (ri_Check_Pk_Match).
  if (action == OnParentChange::Refuse) look_up(parent, version, key.parent_columns, key.parent, key.parent_columns, 0);
  look_up(parent, version, key.parent_columns, child_number, key.columns, 0);
  for (int i = 0; i < child.slots && !stopped(); ++i) {
    const std::uint8_t* v = slot_of(child, ctx_.w, i);
    if (v[kXmin] == 0 || !same_columns(layout_, child, key.columns, v, parent, key.parent_columns, version)) continue;
    if (in_progress(v[kXmin]) && v[kXmin] != mark_of(session_)) continue;  // its own check will find the parent gone
    if (v[kXmax] == mark_of(session_) || (v[kXmax] != 0 && !in_progress(v[kXmax]))) continue;
    const int holder = in_progress(v[kXmax]) ? owner_of(v[kXmax])
                                             : lock_holder(layout_, child, v, number_,
                                                           action == OnParentChange::Refuse ? RowLock::KeyShare : RowLock::Update);
    if (holder >= 0) {
      wait_for_transaction(holder);
      return false;
    }
    if (action == OnParentChange::Refuse) {
      error(ErrorClass::ForeignKeyViolation);
      return false;
    }
    // The action runs by the newest rows; one that the fixed snapshot lacks is a serialization failure (crosscheck).
    if (fixed_snapshot() && !version_visible(v, session_, ctx_.snapshot) && v[kXmin] != mark_of(session_)) {
      error(ErrorClass::SerializationFailure);
      return false;
    }
    if (action == OnParentChange::Cascade && now == nullptr) {
      end_version(child, child_number, i, 0, true);
      children_of(child_number, slot_of(child, ctx_.w, i));
      continue;
    }
    CellId cells[kMaxRowColumns];
    for (std::size_t c = 0; c < child.columns.size(); ++c) cells[c] = column_of(layout_, child, v, static_cast<int>(c));
    for (std::size_t k = 0; k < key.columns.size(); ++k) {
      cells[key.columns[k]] =
          action == OnParentChange::SetNull ? kNullCell : column_of(layout_, parent, now, key.parent_columns[k]);
    }
    replace_child(child, child_number, i, cells);
  }
  return !stopped();
}

// As an UPDATE of the child would, but for a table that is not the statement's own.
void PostgresRun::replace_child(const TableLayout& child, int child_number, int slot, const CellId* cells) {
  const TableLayout* own = table_;
  const int number = table_override_;
  table_ = &child;
  table_override_ = child_number;
  if (constraints_hold(cells)) {
    bool indexed = false;
    for (std::size_t c = 0; c < child.columns.size(); ++c) {
      const CellId before = column_of(layout_, child, slot_of(child, ctx_.w, slot), static_cast<int>(c));
      indexed = indexed || (cells[c] != before && is_indexed(static_cast<int>(c)));
    }
    const int fresh = place_row(cells, false);
    if (fresh >= 0) end_version(child, child_number, slot, fresh + 1, true);
    for (std::size_t x = 0; x < child.indexes.size() && fresh >= 0 && ssi_ && indexed; ++x) {
      ssi_enter_index(ctx_, child_number, static_cast<int>(x), slot_of(child, ctx_.w, fresh));
    }
  }
  table_ = own;
  table_override_ = number;
}

}  // namespace oncecheck

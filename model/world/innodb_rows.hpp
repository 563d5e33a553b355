// Changing the rows of an InnoDB table, undoing that, and purge (row0ins.cc, row0upd.cc, row0undo.cc, row0purge.cc),
// with what each does to the locks on the index records that come and go.
#pragma once

#include "model/world/innodb_locks.hpp"

namespace oncecheck {

class InnodbRows {
 public:
  InnodbRows(const Plan& plan, std::uint8_t* w, int db, int session);

  LockTable& locks() { return locks_; }
  IndexView view(int table) const { return IndexView(plan_, w_, table); }

  // A new row, in the clustered index so far; -1: no room. `enter` puts it into the next secondary index.
  int place(int table, const CellId* cells);
  // A new row in the place of one that is marked as deleted.
  bool revive(int table, int slot, const CellId* cells);
  int next_index(int table, int slot) const;  // that the row has not entered yet, -1
  void enter(int table, int slot);

  bool change(int table, int slot, const CellId* cells);
  void mark_deleted(int table, int slot);

  // Undoes what the running statement did, what was done at savepoint depth `level` or deeper, or all. A part of a
  // transaction only: MySQL at REPEATABLE READ keeps locks on what it undoes, and so on the gap that is left.
  void undo_statement();
  void undo_level(int level);
  void undo_all();
  void undo_row(int table, int slot);  // what the running statement did to one row

  // Marks of the running statement go; versions that only it could have brought back leave.
  void end_statement();
  void commit();
  void release_snapshot();

  // Purge: a deleted row, or a replaced version that stands for a record of a secondary index, leaves the indexes at any
  // time once no snapshot needs it. Until then scans meet its records and locks stay on them. `purge` runs when a
  // transaction or statement ends; it drops what makes no difference.
  void purge();
  bool purgeable(int table, int slot) const;
  void purge_row(int table, int slot);
  void purge_all();
  void make_room(int table);  // before a write: purge runs at the latest when two slots are all that is free

  int changed_rows() const;  // by the transaction, not yet committed

 private:
  enum class Scope { Statement, Level, All };
  void undo(Scope scope, int level);
  void undo(Scope scope, int level, int table, int slot);
  bool in_scope(Scope scope, int level, const TableLayout& t, const std::uint8_t* v, bool end) const;
  void keep_locks(int table, int slot);
  void restore(int table, int slot, int before);
  void forget_record(int table, int slot);
  void forget_version(int table, int slot);
  bool names_record(int table, int slot) const;
  void leave_name(const IndexView& view, int x, int slot);
  int save_version(int table, int slot);
  void write(int table, int slot, const CellId* cells);
  int free_slot(int table, bool record) const;
  void relink(int table, int from, int to);
  std::uint8_t* slot(int table, int i) const { return slot_of(layout_.tables[static_cast<std::size_t>(table)], w_, i); }
  std::uint8_t level() const;

  const Plan& plan_;
  const Layout& layout_;
  std::uint8_t* w_;
  const DatabaseLayout& db_;
  int session_;
  std::uint8_t mine_;
  LockTable locks_;
};

}  // namespace oncecheck

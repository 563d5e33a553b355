// The index records of an InnoDB table and their order. The rows live in the slots of the table (layout.hpp):
//  - The newest version of a row stays in its slot for as long as the row exists, so that slot is the record of the
//    clustered index. A DELETE marks it (xmax); it is purged once no snapshot sees it.
//  - An UPDATE copies the version that it replaces into a free slot, whose `next` names the version that replaced it.
//  - A record of a secondary index is a key value of a row. It is named by the newest version of the row that has this
//    key; it is alive when that is the row's current version and not marked as deleted.
// The clustered index is the primary key, else the first unique index without NULLs, else an index of row numbers that
// nobody sees (manual, "Clustered and Secondary Indexes"); that one has the number indexes.size().
#pragma once

#include "model/world/cells.hpp"
#include "model/world/layout.hpp"
#include "model/world/plan.hpp"

namespace oncecheck {

inline constexpr int kSupremum = 254;        // in place of a slot: the end of an index
inline constexpr int kMaxIndexRecords = 64;  // slots of a table

class IndexView {
 public:
  IndexView(const Plan& plan, const std::uint8_t* w, int table)
      : plan_(plan), layout_(plan.layout), t_(plan.layout.tables[static_cast<std::size_t>(table)]), w_(w) {}

  const TableLayout& table() const { return t_; }
  int clustered() const;
  int index_count() const { return static_cast<int>(t_.indexes.size()); }
  const Index* index(int x) const { return x < index_count() ? &t_.indexes[static_cast<std::size_t>(x)] : nullptr; }
  bool unique(int x) const { return x == clustered() || t_.indexes[static_cast<std::size_t>(x)].unique; }

  const std::uint8_t* version(int slot) const { return slot_of(t_, w_, slot); }
  CellId cell(int slot, int column) const { return column_of(layout_, t_, version(slot), column); }
  void load(int slot, CellId* cells) const;

  // The slot is the current version of a row.
  bool is_record(int slot) const { return version(slot)[kXmin] != 0 && version(slot)[kNext] == 0; }
  // The current version of the row that this version belongs to.
  int record_of(int slot) const;
  // The version that the current one replaced, or -1.
  int version_before(int slot) const;

  // Whether the slot names a record of the index, and whether that record is not marked as deleted.
  bool present(int x, int slot) const { return version(slot)[kXmin] != 0 && named_by(x, slot) == slot; }
  bool alive(int x, int slot) const { return is_record(slot) && version(slot)[kXmax] == 0 && entered(x, slot); }
  // The slot that names the record of the key that this version has; -1: it is not in the index.
  int named_by(int x, int slot) const;
  bool same_key(int x, int a, int b) const;
  bool same_key(int x, const CellId* cells, int slot) const;  // NULL equals NULL here
  bool has_null(int x, const CellId* cells) const;
  // The record of the index with exactly this key of the row `record`, or -1.
  int record_with_key(int x, int record, const CellId* cells) const;

  // Records of the index in order.
  int records(int x, int* out) const;
  int after(int x, int slot) const;                    // the next record or kSupremum
  // The record that a row would come before; self: its slot, or -1.
  int place_for(int x, const CellId* cells, int self) const;
  int order_key(int x, const CellId* cells, int slot) const;  // the columns of the index only
  int order_records(int x, int a, int b) const;

  // The session whose change of the record, not yet committed, locks it (lock_rec_convert_impl_to_expl); -1.
  int implicit_owner(int x, int slot) const;

 private:
  bool entered(int x, int slot) const;  // an INSERT that waits has put the row into this index
  int order_value(CellId a, CellId b) const;

  const Plan& plan_;
  const Layout& layout_;
  const TableLayout& t_;
  const std::uint8_t* w_;
};

}  // namespace oncecheck

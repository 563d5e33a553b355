// A statement on PostgreSQL: the class behind postgres_statement.cpp (start, end, transaction control), postgres_rows.cpp
// (finding, locking and changing rows), postgres_insert.cpp and postgres_foreign_keys.cpp. Internal to these files.
#pragma once

#include "model/world/statement_run.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

// Flags of a row version, bits 4-7: 1 + how many indexes it is in; 0: all of them. A row is in the heap, and in the indexes
// before the one whose duplicate it waits for, while it waits (ExecInsertIndexTuples).
inline constexpr int kIndexesShift = 4;
inline constexpr int kMaxIndexes = 14;

class PostgresRun : StatementRun {
 public:
  PostgresRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals) : StatementRun(ctx, s, locals) {}
  ExecResult run();

 private:
  // postgres_statement.cpp
  ExecResult begin();
  ExecResult commit();
  ExecResult commit_now();
  ExecResult savepoint();
  ExecResult set_isolation();
  ExecResult fail(ErrorClass e);
  ExecResult finish();
  void open_snapshot();
  void body();
  void lock_function();
  Isolation isolation() const { return static_cast<Isolation>(me_[kIsolation]); }
  bool fixed_snapshot() const { return isolation() >= Isolation::RepeatableRead; }

  // postgres_rows.cpp
  enum class Reach { Row, Gone, Handled, Wait, Skip };
  void select();
  bool scan_target();  // false: a condition that names no column already says no
  Reach reach_newest(int& slot);
  RowLock wanted_lock(const std::uint8_t* v);
  RowLock lock_to_test_again() const;
  Reach wait_or_skip(int holder, int slot, RowLock want);
  Reach wait_for_newer(int holder, int slot, RowLock want);
  Reach newer_versions(const TableLayout& table, int slot, RowLock want, int& holder);
  bool waited_for_change(int slot) const;
  void wait_for_transaction(int owner) {
    me_[kWaitKind] = static_cast<std::uint8_t>((me_[kWaitKind] & ~kWaitKindBits) | kWaitTransaction | kHasWaited);
    block(owner);
  }
  void wait_for_row(int holder, int slot, RowLock want);
  bool candidate(const std::uint8_t* v);
  int holder_against(const std::uint8_t* v, RowLock want) const;
  void change_rows();
  void select_lock();
  void end_version(const TableLayout& table, int table_number, int slot, int next, bool key);
  void update_version(int slot, const std::vector<std::pair<int, ExprId>>& set);
  int replace_version(int slot, const CellId* cells, bool key, bool new_keys);
  void lock_version(const TableLayout& table, int slot, RowLock lock);
  int place_row(const CellId* cells, bool new_keys);

  // postgres_insert.cpp
  void insert();
  void report_placed_rows();
  void insert_from_query();
  void insert_row(const CellId* cells);
  bool conflicting_row_stands();
  void update_conflicting(int slot, const CellId* cells);
  int find_conflict(const CellId* cells);
  bool enter_indexes(int slot);
  int unfinished_row() const;
  bool finish_row();
  bool waits_for_owner(const std::uint8_t* v);
  static bool in_index(const std::uint8_t* v, std::size_t index);

  // postgres_foreign_keys.cpp
  void check_foreign_keys();
  bool parent_exists(const TableLayout& child, const ForeignKey& key, const std::uint8_t* version);
  void children_of(int table, const std::uint8_t* version);
  void look_up(const TableLayout& from, const std::uint8_t* version, const std::vector<int>& values, int table,
               const std::vector<int>& columns, int snapshot);
  class OnTable;
  bool parent_went(const TableLayout& child, const ForeignKey& key, const std::uint8_t* version) const;
  int newest_awaited(const TableLayout& table) const;
  bool lock_awaited_child(RowLock want);
  bool waited_for_key(int table, int slot) const;
  void wait_for_key(int holder, int slot, RowLock want);
  void changed_children(int child_number, const ForeignKey& key, const std::uint8_t* version, const std::uint8_t* now);
  bool reach_child(int slot, RowLock want);
  void replace_child(int slot, const CellId* cells, bool key);

  int table_number() const { return table_override_ >= 0 ? table_override_ : s_.table; }

  int table_override_ = -1;  // a cascade works on this table
  bool ssi_ = false;
  bool reads_ahead_ = false;  // the subqueries of its WHERE
  bool part_ = false;       // this statement is a part of another one
  bool reported_ = false;   // its own work had been done before the wait: only its rows are told again
};

}  // namespace oncecheck

// A statement on InnoDB: the class behind innodb_statement.cpp (start, end, transaction control), innodb_scan.cpp
// (finding and locking rows), innodb_write.cpp (UPDATE, DELETE), innodb_insert.cpp and innodb_foreign_keys.cpp.
// Internal to these files.
//
// A statement that has to wait keeps what it has done and is executed again from its start. Rows that it changed carry
// the flags of the running command; a scan goes on at the record where it waited and leaves what lies before it alone.
#pragma once

#include "model/world/innodb_rows.hpp"
#include "model/world/statement_run.hpp"

namespace oncecheck {

class InnodbRun : StatementRun, RowReader {
 public:
  InnodbRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals, int part = 0);
  ExecResult run();

 private:
  enum class Style : std::uint8_t { Plain, Share, Exclusive };
  enum class Put : std::uint8_t { Done, Duplicate, Stop };

  // innodb_statement.cpp
  void execute();
  ExecResult begin();
  ExecResult savepoint();
  ExecResult set_isolation();
  ExecResult finish();
  void lock_function();
  void run_parts();
  void note_position();
  void use_innodb();  // the transaction takes part in InnoDB from here on
  Isolation isolation() const { return innodb_isolation(layout_, ctx_.w, session_); }
  bool gaps() const { return isolation() > Isolation::ReadCommitted; }
  bool mariadb() const { return db_.engine == Engine::MariaDb; }
  std::uint8_t* bytes() { return rows_.locks().session_bytes(session_); }

  // innodb_scan.cpp: executing a scan; innodb_access.cpp: planning it
  void open(const Source& source, RowCursor& cursor) override;
  const std::uint8_t* next(RowCursor& cursor) override;
  Style style_of(int table) const;
  bool next_row(RowCursor& cursor, Style style, int& slot);
  bool lock_step(RowCursor& cursor, const RowCursor::Step& step, Style style);
  bool take_or_pass(RowCursor& cursor, LockName on, std::uint8_t mode, bool semi);
  void unlock_step();
  bool committed_matches(int slot);
  bool too_new(const std::uint8_t* v) const;

  void start_cursor(RowCursor& cursor, const IndexView& view, int table, const AccessPath& access);
  void plan_scan(RowCursor& cursor, int table, const AccessPath& access);
  void look_up_null(RowCursor& cursor, const IndexView& view, const int* records, int n);
  void plan_range(RowCursor& cursor, const IndexView& view, const KeyRange& range, int number, const int* records,
                  int n);
  void plan_backward(RowCursor& cursor, const IndexView& view, const KeyRange& range, int number, const int* records,
                     int n);
  int seen_version(const IndexView& view, int record) const;
  void plan_versions(RowCursor& cursor, int table, const AccessPath& access);
  void add_step(RowCursor& cursor, int slot, int kind, std::uint8_t mode, int range);
  int side(const IndexView& view, int x, const KeyRange& range, int slot);
  bool empty_range(const KeyRange& range);
  int order_ranges(const KeyRange& a, const KeyRange& b);
  bool mentions_row(ExprId expr) const;
  bool can_match(ExprId where, bool whole = true);
  bool has_query(ExprId expr) const;
  bool reads_one_row(ExprId expr) const;
  const AccessPath& chosen_access();
  bool plan_from_subquery(RowCursor& cursor);
  ExprId semi_join() const;
  bool missed_by_join(int slot);
  bool covers_all(const RowCursor& cursor, const std::vector<ExprId>& exprs, int source) const;
  bool covers_source(const RowCursor& cursor, const Source& source) const;
  bool reads_only(const RowCursor& cursor, ExprId expr, int source) const;

  // innodb_write.cpp
  void select_lock();
  bool unique_search() const;  // the WHERE gives the whole key of a unique index
  void change_rows();
  void change_matched(int slot);
  bool row_matches(int slot);
  void move_sequences(const std::vector<std::pair<int, ExprId>>& set, const CellId* cells);
  void change_row(int table, int slot, const CellId* cells);
  void move_row(int table, int slot, const CellId* cells);
  void delete_row(int table, int slot);
  bool take(int table, int x, int slot, std::uint8_t mode, bool keep, bool check = false);
  Put scan_duplicates(int table, int x, const CellId* cells, int self, bool exclusive, int& duplicate);
  bool take_new_key(int table, int x, const CellId* cells, int record);

  // innodb_insert.cpp
  void insert();
  bool lock_numbers(bool bulk);
  bool takes_number(ExprId value) const;
  void report_rows();  // that were inserted before a wait
  void insert_row(const CellId* cells);
  Put put_row(const CellId* cells, int& index, int& duplicate, int& placed);
  void update_duplicate(int index, int duplicate, const CellId* cells);

  // innodb_foreign_keys.cpp
  int index_on(int table, const std::vector<int>& columns) const;
  bool parents_hold(int table, int x, const CellId* cells);  // foreign keys whose index is x
  bool parent_holds(const ForeignKey& key, const CellId* cells);
  bool children_follow(int table, int slot, const CellId* now);  // now: null when the row goes
  bool children_of(int child, const ForeignKey& key, const CellId* values, const CellId* now);
  bool child_follows(int child, const ForeignKey& key, int slot, const CellId* values, bool deletes);

  InnodbRows rows_;
  RowCursor scan_;          // of the target table
  int entry_ = -1;            // the record of it that is being worked on
  int position_ = -1;         // the record where the scan waited; kSupremum: behind all
  bool two_phases_ = false;   // rows are found first and changed then
  bool sorts_ = false;        // ... since they are wanted in another order
  bool keeps_misses_ = false; // a row that does not match stays locked at READ COMMITTED too
  bool checks_parents_ = true;
  int part_ = 0;              // 1 + number of the part that this is
  oncecheck::Rows part_rows_[kMaxParts];
  LockName new_locks_[2];     // what the last step of a scan took and had not before
  std::uint8_t new_modes_[2] = {};
  int new_count_ = 0;
};

}  // namespace oncecheck

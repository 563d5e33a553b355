// What running a statement takes on every engine: who runs it, its result so far, values of rows about to be written.
// postgres_statement.cpp and innodb_statement.cpp derive from it and say how rows are found, locked and changed.
#pragma once

#include "model/world/cells.hpp"
#include "model/world/statement.hpp"

namespace oncecheck {

inline constexpr int kMaxRowColumns = 64;
inline constexpr std::uint8_t kCommitPending = 255;  // in place of the next row (kPosition)

class StatementRun {
 protected:
  using Status = ExecResult::Status;

  StatementRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals);

  bool stopped() const { return result_.status != Status::Done || static_cast<bool>(ctx_.limit); }
  void block(int holder) { result_ = {Status::Blocked, ErrorClass::None, holder}; }
  void error(ErrorClass e) { result_ = {Status::Error, e, -1}; }
  ExecResult observe_error(ErrorClass e);

  // The row that source `source` of an expression reads; null: a row of NULLs.
  void set_row(int source, const std::uint8_t* version) {
    ctx_.sources[source] = {version == nullptr ? nullptr : version + table_->cells, nullptr};
  }

  // Counts a row of the result and evaluates RETURNING (or a locking SELECT's list) on it.
  void emit(const std::uint8_t* version);
  // Counts a row of the result that a lock function gave: `value` is source 0, column 0 of the targets.
  void emit_value(Val value);
  // Writes the result where `into` says, and shows it to an observer.
  void store_result();

  // What the column stores for `v`; raises an error when it does not fit (INSERT IGNORE makes it fit).
  CellId column_cell(int column, Val v);
  // Evaluates assignments on the row in source 0 (and EXCLUDED in source 1) into `cells`, which holds the old values.
  void assign(const std::vector<std::pair<int, ExprId>>& set, CellId* cells);
  // One row of VALUES.
  void values_row(std::size_t r, CellId* cells);
  // One row of INSERT ... SELECT.
  void selected_row(const Val* row, CellId* cells);
  // NOT NULL and CHECK; sets the error.
  bool constraints_hold(const CellId* cells);
  // A row not stored yet, as a source of expressions: valid until the next call.
  RowSource pending_row(const CellId* cells);

  bool key_equals(const Index& index, const CellId* cells, const std::uint8_t* v) const;
  // A partial index has only the rows for which its WHERE is true.
  bool covers(const Index& index, RowSource row);
  bool has_partial_index() const;
  bool in_unique_index(int column) const;  // partial ones apart
  bool is_indexed(int column) const;  // or named by the WHERE of a partial one
  // Whether ON CONFLICT (IGNORE, ON DUPLICATE KEY UPDATE) keeps a duplicate in this index from being an error.
  bool shields(int index) const;

  // Puts slots of the table into the order that the statement asks for; the rest in slot order.
  void sort_slots(int* slots, int n);
  // How many rows LIMIT and OFFSET want to be found; `n` without a LIMIT.
  std::int64_t most_rows(int n);

  Context& ctx_;
  const SqlStatement& s_;
  const Layout& layout_;
  const DatabaseLayout& db_;
  std::uint8_t* locals_;
  const TableLayout* table_ = nullptr;
  std::uint8_t* me_ = nullptr;  // the session's bytes
  int session_ = -1;            // global number
  int number_ = 0;              // within its database
  ExecResult result_;
  Rows out_;
  bool number_unused_ = false;  // by the row of an INSERT that was dealt with last: it was a duplicate
  std::int64_t count_ = 0;

 private:
  std::int64_t bound(ExprId e);
  void skip_offset();
  void store_queue();
  Val cut_text(Val v, int length);
  void emit_row();
  void store(int cell, Val v) { store_cell(layout_, locals_ + cell * layout_.cell, storable(ctx_, v)); }

  // The number that a sequence gave is for one row; only the first may have got it before a wait.
  void next_row();

  bool first_row_ = true;
  Val pending_[kMaxRowColumns];
};

}  // namespace oncecheck

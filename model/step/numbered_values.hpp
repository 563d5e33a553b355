// Which local cells and columns may hold fresh values or times: values whose numbers change from world to world.
#pragma once

#include <set>
#include <utility>

#include "model/program/program.hpp"

namespace oncecheck {

// Rather one too many: cells are told apart by their number only, not by the program they belong to, and a column that is read
// may be any of that number.
class NumberedValues {
 public:
  // times: false for fresh values alone.
  explicit NumberedValues(const Program& program, bool times = true);

  bool column(int table, int column) const { return columns_.count({table, column}) > 0; }
  bool may_hold(ExprId expr) const;

 private:
  void note(bool& flag);
  void cell(int cell);
  void store(int table, int column);
  bool column_of_any_table(int column) const;
  // Column `c` of the result.
  bool may_hold(const SqlStatement& s, int c) const;
  void initial_rows();
  void instruction(const Instr& i);
  void message(ExprId e);
  void routes();
  void statement(const SqlStatement& s);
  void assign(int table, int column, ExprId e);
  void redis(const RedisCommand& c);
  const Program& p_;
  const Code& code_;
  const bool times_;
  bool changed_ = false, messages_ = false, redis_ = false;
  std::set<int> cells_;
  std::set<std::pair<int, int>> columns_;
};

}  // namespace oncecheck

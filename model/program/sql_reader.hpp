// The parse tree of queries and writes to the tree of sql_ast.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/program/sql_context.hpp"

namespace oncecheck::sql {

class Reader : public ReadContext {
 public:
  using ReadContext::ReadContext;

  // sql_expr_reader.cpp
  Expr read_expr(const Json& node);
  std::shared_ptr<Expr> read_optional_expr(const Json& body, const char* field);  // nullptr when the field is absent
  std::vector<Expr> read_exprs(const Json& nodes);
  // Also takes DEFAULT.
  Expr read_value(const Json& node);

  // sql_select_reader.cpp. `location` is what the Select gets, an offset into the rewritten text.
  std::shared_ptr<Select> read_select(const Json& body, int location);
  std::vector<CommonTable> read_with(const Json& body);
  std::vector<Target> read_targets(const Json& nodes);
  std::vector<FromItem> read_from(const Json& nodes);

  // sql_write_reader.cpp
  std::shared_ptr<Insert> read_insert(const Json& body);
  std::shared_ptr<Update> read_update(const Json& body);
  std::shared_ptr<Delete> read_delete(const Json& body);

  // SELECT, INSERT, UPDATE or DELETE; `location` as for read_select. Throws for other nodes.
  Statement read_query_statement(const Json& node, int location);

  // schema, table and alias of a RangeVar: a plain, permanent table.
  void read_table(const Json& body, std::string& schema, std::string& table, std::string* alias);

 private:
  Expr make(ExprKind kind, int location);
  Expr make_binary(std::string op, Expr left, Expr right, int location);
  Expr make_not(Expr arg, int location);

  Expr read_known(const NodeView& node);
  Expr read_constant(const Json& body);
  Expr read_column(const Json& body, bool star_allowed);
  Expr read_param(const Json& body);
  Expr read_logic(const Json& body);
  Expr read_chain(const Json& body, const char* op);
  Expr read_null_test(const Json& body);
  Expr read_boolean_test(const Json& body);
  Expr read_case(const Json& body);
  Expr read_cast(const Json& body);
  Expr read_interval(const Json& body, const std::string& text);
  Expr read_row(const Json& body);
  Expr read_function(const Json& body);
  Expr read_special_function(const NodeView& node);
  void add_filter(Expr& e, Expr condition);
  bool rename_mysql_function(Expr& e);

  // sql_operator_reader.cpp
  Expr read_operator(const Json& body);
  Expr read_plain_operator(const Json& body, int location);
  Expr read_in(const Json& body, int location);
  Expr read_any_array(const Json& body, const char* wanted, int location);
  Expr read_like(const Json& body, int location);
  Expr read_between(const Json& body, bool negated, int location);
  Expr read_sublink(const Json& body);
  std::string operator_name(const Json& body, int location) const;
  // A copy of `e`, counted.
  Expr repeat(const Expr& e, std::size_t nodes, int location);

  FromItem read_from_item(const Json& node);
  FromItem read_join(const Json& body);
  FromItem read_subselect_item(const Json& body);
  std::string read_alias(const Json& body, const char* field);
  void read_set_operation(const Json& body, Select& select, int location);
  void read_order_and_limit(const Json& body, Select& select);
  std::shared_ptr<Expr> read_limit(const Json& body, const char* field);
  Locking read_locking(const Json& body, const Select& select);

  std::vector<std::vector<Expr>> read_rows(const Json& lists, bool defaults);
  std::vector<Assignment> read_assignments(const Json& nodes);
  OnConflict read_on_conflict(const Json& body);
  void take_order_of_write(std::vector<CommonTable>& with, std::vector<OrderItem>& order, std::shared_ptr<Expr>& limit);
};

}  // namespace oncecheck::sql

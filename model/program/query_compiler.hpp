// SELECTs of the syntax tree to queries that run_query executes.
#pragma once

#include <string>
#include <vector>

#include "model/program/access_path.hpp"
#include "model/program/expr_compiler.hpp"

namespace oncecheck {

class QueryCompiler {
 public:
  explicit QueryCompiler(ExprCompiler& exprs) : exprs_(exprs), state_(exprs.state()) {}

  // -1 after an error. `outer`: the scope around a subquery, for correlated references and CTE names.
  QueryId compile(const sql::Select& select, const Scope* outer);

  // Of the query compiled last.
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<SqlType>& types() const { return types_; }

 private:
  QueryId combine(const sql::Select& select, const Scope* outer);
  QueryId over_part(const sql::Select& select);
  QueryId over_locked_rows(const sql::Select& select, const Scope* outer);
  // The same rows in the order, and as many, as a SELECT asks for behind a UNION or VALUES.
  void all_columns_of(Source::Kind kind, int index);
  QueryId ordered(QueryId inner, const sql::Select& select);
  QueryId values(const sql::Select& select, const Scope* outer);
  void distinct_on(const sql::Select& select, Grouping* groups);
  void choose_paths();
  void take_extreme(const TableScan& scan, AccessPath& access);
  void add_using(const sql::FromItem& join, std::size_t first_left);
  void add_from(const sql::FromItem& item, bool left_join, const sql::Expr* on);
  void add_table(const sql::FromItem& item, Source& source, ScopeEntry& entry);
  void add_common_table(CommonTableDef& common, Source& source, ScopeEntry& entry);
  void add_targets(const sql::Select& select, Grouping* grouping);
  void add_order(const sql::Select& select, Grouping* grouping);
  ExprId row_count(const sql::Expr& e, const char* what);
  QueryId store();

  ExprCompiler& exprs_;
  CompileState& state_;
  Query query_;
  Scope scope_;
  int swapped_ = -1;  // the place of a RIGHT JOIN
  std::vector<std::string> columns_;
  std::vector<SqlType> types_;
};

// Makes the tables of a WITH known in `scope`; those that write become parts at once.
void add_commons(ExprCompiler& exprs, const std::vector<sql::CommonTable>& with, Scope& scope);

// The tables of WITH that can be named in `scope`, inner ones last.
Commons visible_commons(const Scope& scope);

bool has_aggregate(const sql::Expr& e);

// What ORDER BY means by a number or a name of the select list; else `e` itself.
const sql::Expr* output_named(const sql::Expr& e, const std::vector<sql::Target>& targets, ExprCompiler& exprs);

// "name" of a result column as PostgreSQL gives it.
std::string target_name(const sql::Target& target);

}  // namespace oncecheck

// One SQL statement on its way from the syntax tree to the plan. statement_compiler.cpp has the kinds of statements and
// SELECT, write_compiler.cpp has INSERT, UPDATE and DELETE.
#pragma once

#include <string>
#include <vector>

#include "model/program/query_compiler.hpp"
#include "model/program/statement_compiler.hpp"

namespace oncecheck {

class StatementBuilder : public PartCompiler {
 public:
  // `parts`: of the whole statement; a part adds its own parts there too.
  StatementBuilder(CompileState& state, const Text& text, LocalNames* names, int db, std::vector<SqlStatement>& parts);

  CompiledStatement compile(const sql::Statement& statement, const Commons& visible);

  PartRef select_part(const sql::Select& select, const Commons& visible) override;
  PartRef write_part(const sql::Statement& statement, const Commons& visible) override;

 private:
  void error(int location, const std::string& message, const std::string& hint = {}) {
    exprs_.error(location, message, hint);
  }
  void kind(SqlKind k) { out_.statement.kind = k; }
  SqlStatement& st() { return out_.statement; }
  bool mysql() const { return exprs_.mysql(); }
  const TableLayout& table() const {
    return state_.program.plan.layout.tables[static_cast<std::size_t>(out_.statement.table)];
  }
  const TableInfo& info() const { return state_.tables[static_cast<std::size_t>(out_.statement.table)]; }

  // The server itself refuses this, with `error_class`: a mistake, unless the caller wants it to happen.
  void refused_by_server(ErrorClass error_class, int location, const std::string& message);
  void check_size(int location);
  PartRef add_part(CompiledStatement part, int location);

  // Targets and names
  bool find_target(const std::string& schema, const std::string& name, int location);
  Scope target_scope(const std::string& name, const std::string& alias);
  int column(const std::string& name, int location);
  void returning(const std::vector<sql::Target>& targets, const Scope& scope);
  void returning_clause(const std::vector<sql::Target>& targets, const Scope& scope);
  void order_and_limit(const std::vector<sql::OrderItem>& order, const std::shared_ptr<sql::Expr>& limit, const Scope& scope);
  void choose_path();

  void select(const sql::Select& s);
  bool select_lock(const sql::Select& s);

  // write_compiler.cpp
  void insert(const sql::Insert& s);
  void insert_from_query(const sql::Insert& s, const std::vector<int>& columns);
  void rows(const std::vector<std::vector<sql::Expr>>& written, const std::vector<int>& columns, const sql::Insert& s);
  bool has_as_many(std::size_t columns, std::size_t values, const sql::Insert& s);
  void check_generated(std::size_t column, int location);
  void xmax(const sql::Insert& s, std::vector<sql::Target>& targets, Scope& scope);
  bool in_unique_index(int column) const;
  ExprId numbered(std::size_t column, ExprId given);
  void on_conflict(const sql::Insert& s, const Scope& target);
  bool find_arbiters(const sql::OnConflict& c);
  std::vector<std::pair<int, ExprId>> assignments(const std::vector<sql::Assignment>& set, const Scope& scope);
  void returning_over(std::vector<sql::Target>& targets, const std::vector<sql::FromItem>& from,
                      const std::shared_ptr<sql::Expr>& where);
  void update(const sql::Update& s);
  void remove(const sql::Delete& s);
  void check_own_table(const sql::Expr& e, const std::string& table);
  void check_own_table(const sql::Select& s, const std::string& table);

  CompileState& state_;
  const Text& text_;
  LocalNames* names_;
  int db_;
  std::vector<SqlStatement>& parts_;
  ExprCompiler exprs_;
  Scope base_;  // what every expression of the statement can name: the tables of WITH
  CompiledStatement out_;
};

}  // namespace oncecheck

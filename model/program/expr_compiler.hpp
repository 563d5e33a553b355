// Expressions of the syntax tree to evaluator nodes: resolves names, checks types as far as they are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

struct ScopeEntry {  // one row source that columns may come from
  std::string alias;
  std::string db;
  std::string table;  // as an alternative qualifier "db.table"
  std::vector<std::string> columns;
  std::vector<SqlType> types;
  int src = 0;
  bool qualified_only = false;           // EXCLUDED in MySQL: a bare name is the row that is there
  std::vector<std::string> merged = {};  // columns of JOIN ... USING that the table to the left gives
};

struct Grouping {  // of the query being compiled
  std::vector<ExprId> keys;
  std::vector<std::string> key_texts;
  std::vector<SqlType> key_types;
  std::vector<AggSpec> aggs;
};

struct CommonTableDef;
using Commons = std::vector<std::shared_ptr<CommonTableDef>>;

// A table of WITH. One that only reads is compiled wherever it is named; one that locks or writes is a part of the
// statement (SqlStatement::parts), which runs once.
struct CommonTableDef {
  std::string name;
  std::vector<std::string> columns;  // as renamed in WITH name (columns); empty: those of the query
  const sql::Select* select = nullptr;
  Commons before;  // what it may name itself
  int part = -1;
  std::vector<std::string> part_columns;
  std::vector<SqlType> part_types;
};

struct PartRef {
  int index = -1;  // -1: after an error
  std::vector<std::string> columns;
  std::vector<SqlType> types;
};

// Makes parts of the statement that is being compiled.
class PartCompiler {
 public:
  virtual ~PartCompiler() = default;
  virtual PartRef select_part(const sql::Select& select, const Commons& visible) = 0;
  virtual PartRef write_part(const sql::Statement& statement, const Commons& visible) = 0;
};

struct Scope {
  std::vector<ScopeEntry> entries;
  const Scope* outer = nullptr;
  bool grouped = false;  // its rows are gone once groups are made: inner queries cannot name them
  Commons common;
};

struct Typed {
  ExprId id = kNoExpr;
  SqlType type = SqlType::Any;
  Width width = Width::Unknown;
};

class ExprCompiler {
 public:
  // names: null where no `:name` is allowed (invariants). default_db: where unqualified tables of subqueries are; -1: any.
  ExprCompiler(CompileState& state, const Text& text, LocalNames* names, int default_db)
      : state_(state),
        text_(text),
        names_(names),
        default_db_(default_db),
        mysql_(is_innodb(state.engine(default_db))) {}

  Typed compile(const sql::Expr& e, const Scope& scope, Grouping* grouping = nullptr);
  // With the type that the place wants: text literals turn into numbers and so on; a clash is an error.
  ExprId compile_as(const sql::Expr& e, const Scope& scope, SqlType wanted, const std::string& what);
  // Makes `e` a value of the type wanted; false when the types clash.
  bool coerce(Typed& e, SqlType wanted);
  // As a column of a result: MySQL's conditions give 1 and 0.
  Typed compile_output(const sql::Expr& e, const Scope& scope, Grouping* grouping = nullptr);

  // Sources used by the statement so far; each query takes its numbers from here.
  int next_src = 0;

  // Null where a statement can have no parts.
  PartCompiler* parts = nullptr;

  bool mysql() const { return mysql_; }
  CompileState& state() { return state_; }
  const Text& text() const { return text_; }
  LocalNames* names() { return names_; }
  int default_db() const { return default_db_; }
  void error(int location, const std::string& message, const std::string& suggestion = {}) {
    state_.sql_error(text_, location, message, suggestion);
  }

 private:
  Typed column(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed param(const sql::Expr& e);
  Typed binary(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed logic(Op op, Typed a, Typed b, const sql::Expr& e);
  Typed arithmetic(Op op, Typed a, Typed b, const sql::Expr& e);
  Typed time_arithmetic(Op op, const Typed& a, const Typed& b, const sql::Expr& e);
  Typed comparison(Op op, Typed a, Typed b, const sql::Expr& e);
  Typed row_comparison(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed row_in(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed node(Op op, ExprId a, ExprId b, SqlType type);
  const Node& node_of(const Typed& t) const { return state_.program.plan.code.nodes[static_cast<std::size_t>(t.id)]; }
  Width width_of_column(const ScopeEntry& entry, std::size_t column) const;
  bool refuse_decimal(const Typed& t, int location);
  Typed unary(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping, SqlType result);
  Typed function(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed aggregate(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed now(const sql::Expr& e);
  Typed concat(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed next_value(const sql::Expr& e);
  Typed pair(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping, const char* what);  // of one type, which it gives
  Typed list(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed cast(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed case_when(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed subquery(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping);
  void unify(Typed& a, Typed& b, int location, const char* what);
  bool coerce_literal(Typed& e, SqlType wanted);
  Typed nothing() { return {state_.constant(null_val()), SqlType::Any}; }

  CompileState& state_;
  const Text& text_;
  LocalNames* names_;
  int default_db_;
  bool mysql_;
};

}  // namespace oncecheck

// Expressions of the syntax tree to evaluator nodes: resolves names, checks types as far as they are known.
#pragma once

#include <optional>
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
};

struct Grouping {  // of the query being compiled
  std::vector<ExprId> keys;
  std::vector<std::string> key_texts;
  std::vector<SqlType> key_types;
  std::vector<AggSpec> aggs;
};

struct CommonTableDef {
  std::string name;
  std::vector<std::string> columns;
  const sql::Select* select = nullptr;
};

struct Scope {
  std::vector<ScopeEntry> entries;
  const Scope* outer = nullptr;
  bool grouped = false;  // its rows are gone once groups are made: inner queries cannot name them
  std::vector<CommonTableDef> common;
};

struct Typed {
  ExprId id = kNoExpr;
  SqlType type = SqlType::Any;
};

class ExprCompiler {
 public:
  // names: null where no `:name` is allowed (invariants). default_db: where unqualified tables of subqueries are; -1: any.
  ExprCompiler(CompileState& state, const Text& text, LocalNames* names, int default_db)
      : state_(state), text_(text), names_(names), default_db_(default_db) {}

  Typed compile(const sql::Expr& e, const Scope& scope, Grouping* grouping = nullptr);
  // With the type that the place wants: text literals turn into numbers and so on; a clash is an error.
  ExprId compile_as(const sql::Expr& e, const Scope& scope, SqlType wanted, const std::string& what);

  // Sources used by the statement so far; each query takes its numbers from here.
  int next_src = 0;

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
  Typed unary(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping, SqlType result);
  Typed function(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed aggregate(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed list(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed cast(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed case_when(const sql::Expr& e, const Scope& scope, Grouping* grouping);
  Typed subquery(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping);
  void unify(Typed& a, Typed& b, int location, const char* what);
  bool coerce(Typed& e, SqlType wanted);

  CompileState& state_;
  const Text& text_;
  LocalNames* names_;
  int default_db_;
};

}  // namespace oncecheck

// What the units of the compiler share while a scenario becomes a program.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/program/diagnostic_log.hpp"
#include "model/program/program.hpp"
#include "model/program/sql_ast.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {

// Decimal: what MySQL's a / b gives.
enum class SqlType : std::uint8_t { Any, Literal, Bool, Int, Text, Instant, Interval, Decimal };
const char* sql_type_name(SqlType type);
// The type of a column as written ("integer", "text", ...); Any when the subset lacks it.
SqlType sql_type_of(const std::string& written);

// Which integer it is, where that changes a result.
enum class Width : std::uint8_t {
  Unknown,
  Int4,      // PostgreSQL's integer and smallint: sums beyond 32 bits are errors
  Unsigned,  // MySQL: differences below zero are errors
  Numeric,   // PostgreSQL: / gives decimals
};
Width width_of(const std::string& written, Engine engine);
// What a column of this type holds.
ColumnLimit limit_of(const std::string& written, SqlType type, int length);

Isolation isolation_of(const std::string& written, Engine engine);

struct TableInfo {  // beside Plan::layout.tables, same index
  std::string db;
  std::vector<SqlType> types;
  std::vector<Width> widths;
  std::vector<ExprId> defaults;  // kNoExpr: NULL
  int auto_increment = -1;       // column (MySQL), numbered by `sequence`
  int sequence = -1;
};

// The names that the steps of one body may use, and the cells that they took. A field takes a cell when it is first read.
class LocalNames {
 public:
  // A name with its fields; "" among them stands for the bare name. Assigning a name twice unites the fields.
  void declare(const std::string& name, const std::vector<std::string>& fields);
  bool has(const std::string& name) const { return fields_.count(name) > 0; }
  const std::vector<std::string>* fields(const std::string& name) const;
  std::vector<std::string> names() const;

  int take(const std::string& dotted);        // the cell of a declared name, allocating it
  int find(const std::string& dotted) const;  // -1 when nobody reads it
  int take_hidden(const std::string& what) ;  // a cell without a name
  const std::vector<std::string>& cells() const { return cells_; }

 private:
  std::map<std::string, std::vector<std::string>> fields_;
  std::map<std::string, int> cell_of_;
  std::vector<std::string> cells_;
};

struct CompileState {
  CompileState(const Scenario& scenario, Program& program, const CompileOptions& options)
      : scenario(scenario), program(program), options(options) {}

  const Scenario& scenario;
  Program& program;
  const CompileOptions& options;
  DiagnosticLog errors;
  std::vector<TableInfo> tables;
  std::vector<std::string> texts;  // provisional indexes of Const nodes; sorted and renumbered at the end
  std::map<std::string, int> text_index;
  std::vector<LocalNames> names;   // by body
  std::vector<SqlStatement> initial_rows;
  std::vector<Origin> initial_origins;
  std::set<int> snapshot_isolation;  // databases (MariaDB innodb_snapshot_isolation)

  int intern(const std::string& text);
  ExprId add(Node node);
  ExprId constant(Val v);
  ExprId text_constant(const std::string& text) { return constant(text_val(intern(text))); }
  ExprId local(int cell);
  ExprId with_args(Op op, const std::vector<ExprId>& args);

  // A mistake inside an SQL text: says where in the text.
  void sql_error(const Text& text, int location, const std::string& message, const std::string& suggestion = {});

  // db -1 (conditions, invariants): as PostgreSQL.
  Engine engine(int db) const;
  sql::Dialect dialect(int db) const;
  Isolation default_isolation(int db) const;

  int find_database(const std::string& name) const;  // -1
  int find_table(int db, const std::string& name) const;  // -1; db -1: any, -2 when several have it
};

}  // namespace oncecheck

#include "model/program/table_compiler.hpp"

#include <algorithm>

#include "model/program/expr_compiler.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/sql_split.hpp"
#include "model/program/statement_compiler.hpp"

namespace oncecheck {

namespace {

constexpr int kMaxTableColumns = 24;

class TableReader {
 public:
  TableReader(CompileState& state, int db, const Text& text) : state_(state), db_(db), text_(text) {}

  void create(const sql::CreateTable& c) {
    if (!check_schema(c.schema, c.location)) return;
    if (state_.find_table(db_, c.table) >= 0) {
      error(c.location, "table \"" + c.table + "\" is created twice");
      return;
    }
    if (c.columns.size() > kMaxTableColumns) error(c.location, "a table of the subset has at most 24 columns");
    TableLayout table;
    TableInfo info;
    table.name = c.table;
    table.db = db_;
    info.db = state_.scenario.databases[static_cast<std::size_t>(db_)].first;
    const auto& bounds = state_.scenario.databases[static_cast<std::size_t>(db_)].second.row_bounds;
    const auto bound = bounds.find(c.table);
    table.slots = bound == bounds.end() ? state_.scenario.bounds.rows : bound->second;
    for (const sql::ColumnDef& def : c.columns) column(table, info, def);
    for (const sql::TableConstraint& constraint : c.constraints) add_constraint(table, constraint);
    state_.program.plan.layout.tables.push_back(std::move(table));
    state_.tables.push_back(std::move(info));
  }

  void index(const sql::CreateIndex& c) {
    if (!check_schema(c.schema, c.location)) return;
    const int t = state_.find_table(db_, c.table);
    if (t < 0) {
      error(c.location, "an index on the unknown table \"" + c.table + "\"");
      return;
    }
    if (!c.unique) return;  // only speed: the model has none to lose
    TableLayout& table = state_.program.plan.layout.tables[static_cast<std::size_t>(t)];
    Index index;
    index.name = c.name;
    if (!columns_of(table, c.columns, c.location, index.columns)) return;
    if (c.where) {
      ExprCompiler exprs(state_, text_, nullptr, db_);
      Scope scope;
      scope.entries.push_back({c.table, state_.tables[static_cast<std::size_t>(t)].db, c.table, table.columns,
                               state_.tables[static_cast<std::size_t>(t)].types, 0});
      exprs.next_src = 1;
      index.where = exprs.compile_as(*c.where, scope, SqlType::Bool, "WHERE");
    }
    state_.program.plan.layout.tables[static_cast<std::size_t>(t)].indexes.push_back(std::move(index));
  }

 private:
  void error(int location, const std::string& message, const std::string& hint = {}) {
    state_.sql_error(text_, location, message, hint);
  }

  bool check_schema(const std::string& schema, int location) {
    if (schema.empty() || schema == state_.scenario.databases[static_cast<std::size_t>(db_)].first) return true;
    error(location, "the schema of this database cannot name another one (\"" + schema + "\")");
    return false;
  }

  void column(TableLayout& table, TableInfo& info, const sql::ColumnDef& def) {
    if (std::find(table.columns.begin(), table.columns.end(), def.name) != table.columns.end()) {
      error(def.location, "column \"" + def.name + "\" is defined twice");
      return;
    }
    const SqlType type = sql_type_of(def.type);
    if (type == SqlType::Any || type == SqlType::Interval) {
      error(def.location, "type " + def.type + " is outside the SQL subset (integer, bigint, text, uuid, boolean, timestamptz, jsonb)");
    }
    if (def.check) error(def.location, "CHECK constraints are outside the SQL subset so far");
    if (!def.references_table.empty()) error(def.location, "foreign keys (REFERENCES) are outside the SQL subset so far");
    const int number = static_cast<int>(table.columns.size());
    table.columns.push_back(def.name);
    table.not_null.push_back(def.not_null || def.primary_key);
    const bool serial = def.identity || def.type == "serial" || def.type == "bigserial";
    info.types.push_back(serial ? SqlType::Any : type);
    if (def.primary_key) table.indexes.push_back({table.name + "_pkey", {number}, kNoExpr, true});
    if (def.unique) table.indexes.push_back({table.name + "_" + def.name + "_key", {number}, kNoExpr, false});
    ExprId value = kNoExpr;
    if (serial) {
      // A number of a sequence is only good for telling rows apart: a fresh value. Its order is not modelled.
      Node n;
      n.op = Op::FreshUuid;
      value = state_.add(n);
    } else if (def.default_value) {
      ExprCompiler exprs(state_, text_, nullptr, db_);
      value = exprs.compile_as(*def.default_value, Scope{}, type, "DEFAULT of \"" + def.name + "\"");
    }
    info.defaults.push_back(value);
  }

  bool columns_of(const TableLayout& table, const std::vector<std::string>& names, int location, std::vector<int>& out) {
    for (const std::string& name : names) {
      const auto it = std::find(table.columns.begin(), table.columns.end(), name);
      if (it == table.columns.end()) {
        error(location, "unknown column \"" + name + "\" of table \"" + table.name + "\"",
              nearest_name(name, table.columns));
        return false;
      }
      out.push_back(static_cast<int>(it - table.columns.begin()));
    }
    return true;
  }

  void add_constraint(TableLayout& table, const sql::TableConstraint& c) {
    if (c.kind == sql::ConstraintKind::ForeignKey) {
      error(c.location, "foreign keys are outside the SQL subset so far");
      return;
    }
    if (c.kind == sql::ConstraintKind::Check) {
      error(c.location, "CHECK constraints are outside the SQL subset so far");
      return;
    }
    Index index;
    index.primary = c.kind == sql::ConstraintKind::PrimaryKey;
    index.name = !c.name.empty() ? c.name : table.name + (index.primary ? "_pkey" : "_key");
    if (!columns_of(table, c.columns, c.location, index.columns)) return;
    for (int column : index.columns) {
      if (index.primary) table.not_null[static_cast<std::size_t>(column)] = true;
    }
    table.indexes.push_back(std::move(index));
  }

  CompileState& state_;
  int db_;
  const Text& text_;
};

void initial_insert(CompileState& state, int db, const Text& text, const sql::Statement& statement) {
  SqlStatement compiled = compile_statement(state, text, statement, nullptr, db).statement;
  if (compiled.query >= 0 || compiled.on_conflict || !compiled.targets.empty()) {
    state.errors.add(text.at, "the rows that a schema starts with are plain INSERT ... VALUES");
    return;
  }
  if (compiled.kind == SqlKind::Insert) {
    state.initial_rows.push_back(std::move(compiled));
    state.initial_origins.push_back(text.at);
  }
}

}  // namespace

void compile_tables(CompileState& state) {
  for (std::size_t d = 0; d < state.scenario.databases.size(); ++d) {
    const int db = static_cast<int>(d);
    const Database& database = state.scenario.databases[d].second;
    for (const Text& written : database.schema) {
      std::vector<std::string> parts;
      try {
        parts = sql::split_statements(written.value);
      } catch (const sql::SqlError& e) {
        state.sql_error(written, e.location, e.what());
        continue;
      }
      for (const std::string& part : parts) {
        const Text text{part, written.at};
        try {
          const sql::Statement statement = sql::parse_statement(part);
          TableReader reader(state, db, text);
          switch (statement.kind) {
            case sql::StatementKind::CreateTable: reader.create(*statement.create_table); break;
            case sql::StatementKind::CreateIndex: reader.index(*statement.create_index); break;
            case sql::StatementKind::Insert: initial_insert(state, db, text, statement); break;
            default:
              state.sql_error(text, 0, "a schema holds CREATE TABLE, CREATE INDEX and INSERT; other statements belong into steps");
          }
        } catch (const sql::SqlError& e) {
          state.sql_error(text, e.location, e.what());
        }
      }
    }
    for (const auto& [table, bound] : database.row_bounds) {
      if (state.find_table(db, table) >= 0) continue;
      std::vector<std::string> known;
      for (const TableLayout& t : state.program.plan.layout.tables) known.push_back(t.name);
      state.errors.add(database.at, "\"rows\" names the unknown table \"" + table + "\"", nearest_name(table, known));
    }
  }
}

}  // namespace oncecheck

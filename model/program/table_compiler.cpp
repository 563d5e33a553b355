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
    const auto keys = std::count_if(c.columns.begin(), c.columns.end(), [](const sql::ColumnDef& d) { return d.primary_key; }) +
                      std::count_if(c.constraints.begin(), c.constraints.end(), [](const sql::TableConstraint& k) {
                        return k.kind == sql::ConstraintKind::PrimaryKey;
                      });
    if (keys > 1) error(c.location, "table \"" + c.table + "\" has more than one PRIMARY KEY");
    if (state_.find_table(db_, c.table) >= 0) {
      if (c.if_not_exists) return;
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
    for (const sql::TableConstraint& constraint : c.constraints) add_index(table, constraint);
    std::stable_partition(table.indexes.begin(), table.indexes.end(), [](const Index& i) { return i.primary; });
    state_.program.plan.layout.tables.push_back(std::move(table));
    state_.tables.push_back(std::move(info));
    for (const sql::ColumnDef& def : c.columns) column_rules(def);
    for (const sql::TableConstraint& constraint : c.constraints) add_rule(constraint);
  }

  void sequence(const std::string& name) {
    auto& all = state_.program.plan.layout.sequences;
    const bool known = std::any_of(all.begin(), all.end(), [&](const SequenceLayout& s) { return s.db == db_ && s.name == name; });
    if (known) error(0, "sequence \"" + name + "\" is created twice");
    all.push_back({name, db_, 0});
  }

  void index(const sql::CreateIndex& c) {
    if (!check_schema(c.schema, c.location)) return;
    const int t = state_.find_table(db_, c.table);
    if (t < 0) {
      error(c.location, "an index on the unknown table \"" + c.table + "\"");
      return;
    }
    TableLayout& table = state_.program.plan.layout.tables[static_cast<std::size_t>(t)];
    Index index;
    index.name = c.name;
    index.unique = c.unique;
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
    SqlType type = sql_type_of(def.type);
    if (type == SqlType::Bool && mysql()) type = SqlType::Int;  // BOOLEAN is TINYINT(1)
    if (type == SqlType::Any || type == SqlType::Interval) {
      error(def.location, "type " + def.type + " is outside the SQL subset (integer, bigint, text, uuid, boolean, timestamptz, jsonb)");
    }
    const int number = static_cast<int>(table.columns.size());
    table.columns.push_back(def.name);
    table.not_null.push_back(def.not_null || def.primary_key);
    const bool serial = def.identity || def.type == "serial" || def.type == "bigserial";
    info.types.push_back(type);
    info.widths.push_back(width_of(def.type, state_.engine(db_)));
    ColumnLimit limit = limit_of(def.type, type, def.length);
    limit.generated_always = def.always;
    table.limits.push_back(limit);
    if (def.primary_key) table.indexes.push_back({table.name + "_pkey", {number}, kNoExpr, true, true});
    if (def.unique) table.indexes.push_back({table.name + "_" + def.name + "_key", {number}, kNoExpr, false, true});
    ExprId value = kNoExpr;
    if (serial) {
      const std::string name = table.name + "_" + def.name + "_seq";
      sequence(name);
      const int number_of_sequence = static_cast<int>(state_.program.plan.layout.sequences.size()) - 1;
      if (mysql()) {
        if (info.auto_increment >= 0) error(def.location, "a table has one AUTO_INCREMENT column");
        info.auto_increment = number;
        info.sequence = number_of_sequence;
      } else {
        Node n;
        n.op = Op::NextVal;
        n.a = number_of_sequence;
        value = state_.add(n);
      }
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

  void add_index(TableLayout& table, const sql::TableConstraint& c) {
    if (c.kind == sql::ConstraintKind::ForeignKey || c.kind == sql::ConstraintKind::Check) return;
    Index index;
    index.primary = c.kind == sql::ConstraintKind::PrimaryKey;
    index.unique = c.kind != sql::ConstraintKind::PlainIndex;
    // The name that PostgreSQL makes: TABLE_pkey, TABLE_COLUMN_COLUMN_key.
    std::string made = table.name;
    for (const std::string& column : c.columns) made += index.primary ? "" : "_" + column;
    index.name = !c.name.empty() ? c.name : made + (index.primary ? "_pkey" : "_key");
    if (!columns_of(table, c.columns, c.location, index.columns)) return;
    for (int column : index.columns) {
      if (index.primary) table.not_null[static_cast<std::size_t>(column)] = true;
    }
    table.indexes.push_back(std::move(index));
  }

  // ---- foreign keys and checks, once the table is known: it may refer to itself

  bool mysql() const { return is_innodb(state_.engine(db_)); }
  TableLayout& last() { return state_.program.plan.layout.tables.back(); }

  void column_rules(const sql::ColumnDef& def) {
    if (def.check) add_check(*def.check);
    if (def.references_table.empty()) return;
    sql::TableConstraint c;
    c.kind = sql::ConstraintKind::ForeignKey;
    c.columns = {def.name};
    c.references_table = def.references_table;
    c.references_columns = def.references_columns;
    c.on_delete = def.on_delete;
    c.on_update = def.on_update;
    c.location = def.location;
    add_foreign_key(c);
  }

  void add_rule(const sql::TableConstraint& c) {
    if (c.kind == sql::ConstraintKind::Check) add_check(*c.check);
    if (c.kind == sql::ConstraintKind::ForeignKey) add_foreign_key(c);
  }

  void add_check(const sql::Expr& written) {
    ExprCompiler exprs(state_, text_, nullptr, db_);
    Scope scope;
    scope.entries.push_back({last().name, state_.tables.back().db, last().name, last().columns, state_.tables.back().types, 0});
    exprs.next_src = 1;
    const ExprId check = exprs.compile_as(written, scope, SqlType::Bool, "CHECK");
    last().checks.push_back(check);
  }

  static OnParentChange action_of(sql::ParentAction action) {
    if (action == sql::ParentAction::Cascade) return OnParentChange::Cascade;
    return action == sql::ParentAction::SetNull ? OnParentChange::SetNull : OnParentChange::Refuse;
  }

  void add_foreign_key(const sql::TableConstraint& c) {
    ForeignKey key;
    key.parent = state_.find_table(db_, c.references_table);
    if (key.parent < 0) {
      error(c.location, "a foreign key to the unknown table \"" + c.references_table + "\": create that one first");
      return;
    }
    if (!columns_of(last(), c.columns, c.location, key.columns)) return;
    const TableLayout& parent = state_.program.plan.layout.tables[static_cast<std::size_t>(key.parent)];
    if (!parent_columns(parent, c, key)) return;
    key.name = c.name.empty() ? last().name + "_" + c.columns[0] + "_fkey" : c.name;
    key.on_delete = action_of(c.on_delete);
    key.on_update = action_of(c.on_update);
    if (mysql()) index_for(key);
    last().foreign_keys.push_back(std::move(key));
  }

  // Without names, the primary key of the parent.
  bool parent_columns(const TableLayout& parent, const sql::TableConstraint& c, ForeignKey& key) {
    if (!c.references_columns.empty()) {
      if (!columns_of(parent, c.references_columns, c.location, key.parent_columns)) return false;
    } else if (!parent.indexes.empty() && parent.indexes[0].primary) {
      key.parent_columns = parent.indexes[0].columns;
    }
    const bool unique = std::any_of(parent.indexes.begin(), parent.indexes.end(), [&](const Index& i) {
      return i.unique && i.where == kNoExpr &&
             std::is_permutation(i.columns.begin(), i.columns.end(), key.parent_columns.begin(), key.parent_columns.end());
    });
    if (unique && key.parent_columns.size() == key.columns.size()) return true;
    error(c.location, "a foreign key refers to the primary key or a UNIQUE key of \"" + parent.name + "\", with as many columns");
    return false;
  }

  // InnoDB makes an index that begins with the columns of a foreign key, unless there is one.
  void index_for(const ForeignKey& key) {
    for (const Index& i : last().indexes) {
      if (i.columns.size() >= key.columns.size() && std::equal(key.columns.begin(), key.columns.end(), i.columns.begin())) return;
    }
    last().indexes.push_back({key.name, key.columns, kNoExpr, false, false});
  }

  CompileState& state_;
  int db_;
  const Text& text_;
};

void initial_insert(CompileState& state, int db, const Text& text, const sql::Statement& statement) {
  SqlStatement compiled = compile_statement(state, text, statement, nullptr, db).statement;
  if (compiled.refused != ErrorClass::None) {
    state.errors.add(text.at, std::string("the server refuses this INSERT: ") + error_class_name(compiled.refused));
    return;
  }
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
        parts = sql::split_statements(written.value, state.dialect(db));
      } catch (const sql::SqlError& e) {
        state.sql_error(written, e.location, e.what());
        continue;
      }
      for (const std::string& part : parts) {
        const Text text{part, written.at};
        try {
          const sql::Statement statement = sql::parse_statement(part, state.dialect(db));
          TableReader reader(state, db, text);
          switch (statement.kind) {
            case sql::StatementKind::CreateTable: reader.create(*statement.create_table); break;
            case sql::StatementKind::CreateIndex: reader.index(*statement.create_index); break;
            case sql::StatementKind::CreateSequence: reader.sequence(statement.name); break;
            case sql::StatementKind::Insert: initial_insert(state, db, text, statement); break;
            default:
              state.sql_error(text, 0, "a schema holds CREATE TABLE, CREATE INDEX, CREATE SEQUENCE and INSERT; other statements belong into steps");
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

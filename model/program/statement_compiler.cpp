#include "model/program/statement_compiler.hpp"

#include <algorithm>

#include "model/program/code_walk.hpp"
#include "model/program/query_compiler.hpp"

namespace oncecheck {

namespace {

class StatementCompiler {
 public:
  StatementCompiler(CompileState& state, const Text& text, LocalNames* names, int db)
      : state_(state), exprs_(state, text, names, db), db_(db) {
    out_.statement.db = db;
    out_.statement.text = text.value;
  }

  CompiledStatement compile(const sql::Statement& s) {
    using K = sql::StatementKind;
    switch (s.kind) {
      case K::Begin:
        kind(SqlKind::Begin);
        if (!s.isolation.empty() && s.isolation != "read committed") {
          error(s.location, "isolation level " + s.isolation + " is not modelled yet: only READ COMMITTED is");
        }
        break;
      case K::Commit: kind(SqlKind::Commit); break;
      case K::Rollback: kind(SqlKind::Rollback); break;
      case K::Select: select(*s.select); break;
      case K::Insert: insert(*s.insert); break;
      case K::Update: update(*s.update); break;
      case K::Delete: remove(*s.del); break;
      case K::Savepoint:
      case K::RollbackTo:
      case K::Release: error(s.location, "savepoints are outside the SQL subset so far"); break;
      case K::Set: error(s.location, "SET " + s.name + " is outside the SQL subset so far"); break;
      case K::CreateTable:
      case K::CreateIndex:
      case K::CreateSequence: error(s.location, "tables are created in \"schema\", not by a step"); break;
    }
    check_size(s.location);
    const bool writes = st().kind == SqlKind::Insert || st().kind == SqlKind::Update || st().kind == SqlKind::Delete;
    st().reads_first = writes && st().query >= 0;
    auto query = [&](const Query&) { st().reads_first = writes; };
    each_expr(st(), [&](ExprId e) { walk_expr(state_.program.plan.code, e, [](const Node&) {}, query); });
    return std::move(out_);
  }

 private:
  void error(int location, const std::string& message, const std::string& hint = {}) {
    exprs_.error(location, message, hint);
  }
  void kind(SqlKind k) { out_.statement.kind = k; }
  SqlStatement& st() { return out_.statement; }
  const TableLayout& table() const {
    return state_.program.plan.layout.tables[static_cast<std::size_t>(out_.statement.table)];
  }
  const TableInfo& info() const { return state_.tables[static_cast<std::size_t>(out_.statement.table)]; }

  bool find_target(const std::string& schema, const std::string& name, int location) {
    const std::string& db_name = state_.scenario.databases[static_cast<std::size_t>(db_)].first;
    if (!schema.empty() && schema != db_name) {
      error(location, "this statement runs on database \"" + db_name + "\" and cannot name a table of \"" + schema + "\"");
      return false;
    }
    st().table = state_.find_table(db_, name);
    if (st().table >= 0) return true;
    std::vector<std::string> known;
    for (const TableLayout& t : state_.program.plan.layout.tables) known.push_back(t.name);
    error(location, "unknown table \"" + name + "\"", nearest_name(name, known));
    return false;
  }

  Scope target_scope(const std::string& name, const std::string& alias) {
    Scope scope;
    scope.entries.push_back({alias.empty() ? name : alias, info().db, name, table().columns, info().types, 0});
    exprs_.next_src = 1;
    return scope;
  }

  int column(const std::string& name, int location) {
    const auto& columns = table().columns;
    const auto it = std::find(columns.begin(), columns.end(), name);
    if (it != columns.end()) return static_cast<int>(it - columns.begin());
    error(location, "unknown column \"" + name + "\" of table \"" + table().name + "\"", nearest_name(name, columns));
    return -1;
  }

  void returning(const std::vector<sql::Target>& targets, const Scope& scope) {
    for (const sql::Target& t : targets) {
      if (t.expr.kind != sql::ExprKind::Star) {
        st().targets.push_back(exprs_.compile(t.expr, scope).id);
        out_.columns.push_back(target_name(t));
        continue;
      }
      for (std::size_t c = 0; c < table().columns.size(); ++c) {
        Node n;
        n.op = Op::Column;
        n.a = static_cast<std::int32_t>(c);
        st().targets.push_back(state_.add(n));
        out_.columns.push_back(table().columns[c]);
      }
    }
  }

  // exec_sql keeps a result row in 40 values and the place in a VALUES list in a byte.
  void check_size(int location) {
    if (st().targets.size() > 30) error(location, "a result of the subset has at most 30 columns");
    if (st().rows.size() > 60) error(location, "an INSERT of the subset has at most 60 rows");
  }

  void select(const sql::Select& s) {
    if (!s.locking) {
      QueryCompiler query(exprs_);
      st().query = query.compile(s, nullptr);
      out_.columns = query.columns();
      if (st().query >= 0) kind(SqlKind::Select);
      return;
    }
    const bool one_table = s.from.size() == 1 && s.from[0].kind == sql::FromKind::Table;
    if (!one_table || !s.with.empty() || !s.group_by.empty() || s.having || s.distinct || s.offset ||
        s.op != sql::SetOp::None || !s.values.empty()) {
      error(s.location, "SELECT ... FOR UPDATE/SHARE is supported on one table, with WHERE, ORDER BY and LIMIT");
      return;
    }
    if (!find_target(s.from[0].schema, s.from[0].table, s.from[0].location)) return;
    const Scope scope = target_scope(s.from[0].table, s.from[0].alias);
    if (s.where) st().where = exprs_.compile_as(*s.where, scope, SqlType::Bool, "WHERE");
    returning(s.targets, scope);
    for (const sql::OrderItem& item : s.order_by) {
      st().order.push_back({exprs_.compile(item.expr, scope).id, item.descending, item.nulls_first.value_or(item.descending)});
    }
    if (s.limit) st().limit = exprs_.compile_as(*s.limit, Scope{}, SqlType::Int, "LIMIT");
    switch (s.locking->strength) {
      case sql::LockStrength::KeyShare: st().lock = RowLock::KeyShare; break;
      case sql::LockStrength::Share: st().lock = RowLock::Share; break;
      case sql::LockStrength::NoKeyUpdate: st().lock = RowLock::NoKeyUpdate; break;
      case sql::LockStrength::Update: st().lock = RowLock::Update; break;
    }
    if (s.locking->wait == sql::LockWait::NoWait) st().policy = LockPolicy::NoWait;
    if (s.locking->wait == sql::LockWait::SkipLocked) st().policy = LockPolicy::SkipLocked;
    kind(SqlKind::SelectLock);
  }

  void insert(const sql::Insert& s) {
    if (!s.with.empty()) error(s.location, "WITH before INSERT is outside the SQL subset so far");
    if (!find_target(s.schema, s.table, s.location)) return;
    std::vector<int> columns;
    if (s.columns.empty()) {
      for (std::size_t c = 0; c < table().columns.size(); ++c) columns.push_back(static_cast<int>(c));
    }
    for (const std::string& name : s.columns) {
      const int c = column(name, s.location);
      if (c < 0) return;
      columns.push_back(c);
    }
    kind(SqlKind::Insert);
    if (s.select) {
      QueryCompiler query(exprs_);
      st().query = query.compile(*s.select, nullptr);
      if (query.columns().size() > columns.size() || (!s.columns.empty() && query.columns().size() != columns.size())) {
        error(s.location, "INSERT has " + std::to_string(columns.size()) + " target columns but the SELECT gives " +
                              std::to_string(query.columns().size()));
        return;
      }
      st().defaults = info().defaults;
      for (std::size_t i = 0; i < query.columns().size(); ++i) {
        st().select_columns.emplace_back(columns[i], static_cast<int>(i));
        st().defaults[static_cast<std::size_t>(columns[i])] = kNoExpr;
      }
    } else if (s.default_values) {
      rows({{}}, {}, s);
    } else {
      rows(s.rows, columns, s);
    }
    const Scope scope = target_scope(s.table, s.alias);
    on_conflict(s, scope);
    returning(s.returning, scope);
  }

  void rows(const std::vector<std::vector<sql::Expr>>& written, const std::vector<int>& columns, const sql::Insert& s) {
    const ExprId null_expr = state_.constant(null_val());
    for (const auto& row : written) {
      if (row.size() > columns.size() || (!s.columns.empty() && row.size() != columns.size())) {
        error(s.location, "INSERT has " + std::to_string(columns.size()) + " target columns but " +
                              std::to_string(row.size()) + " values");
        return;
      }
      std::vector<ExprId> exprs;
      for (ExprId d : info().defaults) exprs.push_back(d == kNoExpr ? null_expr : d);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i].kind == sql::ExprKind::Default) continue;
        const auto c = static_cast<std::size_t>(columns[i]);
        exprs[c] = exprs_.compile_as(row[i], Scope{}, info().types[c], "column \"" + table().columns[c] + "\"");
      }
      st().rows.push_back(std::move(exprs));
    }
  }

  void on_conflict(const sql::Insert& s, const Scope& target) {
    const sql::OnConflict& c = s.on_conflict;
    if (c.action == sql::ConflictAction::None) return;
    st().on_conflict = true;
    st().conflict_update = c.action == sql::ConflictAction::Update;
    if (!find_arbiters(c)) return;
    if (!st().conflict_update) return;
    Scope scope = target;
    scope.entries.push_back({"excluded", "", "", table().columns, info().types, 1});
    exprs_.next_src = 2;
    st().conflict_set = assignments(c.set, scope);
    if (c.where) st().conflict_where = exprs_.compile_as(*c.where, scope, SqlType::Bool, "WHERE");
  }

  bool find_arbiters(const sql::OnConflict& c) {
    const auto& indexes = table().indexes;
    if (c.constraint.empty() && c.columns.empty()) {
      if (st().conflict_update) error(c.location, "ON CONFLICT DO UPDATE needs a conflict target, e.g. ON CONFLICT (id)");
      return !st().conflict_update;
    }
    std::vector<int> wanted;
    for (const std::string& name : c.columns) {
      const int number = column(name, c.location);
      if (number < 0) return false;
      wanted.push_back(number);
    }
    std::sort(wanted.begin(), wanted.end());
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      std::vector<int> has = indexes[i].columns;
      std::sort(has.begin(), has.end());
      const bool by_name = !c.constraint.empty() && indexes[i].name == c.constraint;
      // A partial index serves only when the target repeats its WHERE; PostgreSQL proves implication, we take any WHERE.
      const bool by_columns =
          c.constraint.empty() && has == wanted && (indexes[i].where == kNoExpr || c.target_where != nullptr);
      if (by_name || by_columns) st().arbiters.push_back(static_cast<int>(i));
    }
    if (!st().arbiters.empty()) return true;
    error(c.location, "there is no unique or exclusion constraint matching the ON CONFLICT specification");
    return false;
  }

  std::vector<std::pair<int, ExprId>> assignments(const std::vector<sql::Assignment>& set, const Scope& scope) {
    std::vector<std::pair<int, ExprId>> out;
    for (const sql::Assignment& a : set) {
      const int number = column(a.column, a.location);
      if (number < 0) continue;
      const auto c = static_cast<std::size_t>(number);
      for (const Index& index : table().indexes) {
        if (std::find(index.columns.begin(), index.columns.end(), number) != index.columns.end()) st().changes_key = true;
      }
      if (a.value.kind == sql::ExprKind::Default) {
        const ExprId d = info().defaults[c];
        out.emplace_back(number, d == kNoExpr ? state_.constant(null_val()) : d);
        continue;
      }
      if (grows(a.value, a.column)) {
        error(a.location, "\"" + a.column + "\" would grow without bound: every value of a scenario must be one of finitely many");
      }
      out.emplace_back(number, exprs_.compile_as(a.value, scope, info().types[c], "column \"" + a.column + "\""));
    }
    return out;
  }

  // x = x || '...' and x = x * 2 have no finite domain.
  static bool grows(const sql::Expr& e, const std::string& column) {
    const bool product = e.kind == sql::ExprKind::Binary && (e.name == "||" || e.name == "*");
    return (product && mentions(e, column)) ||
           std::any_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return grows(a, column); });
  }
  static bool mentions(const sql::Expr& e, const std::string& column) {
    if (e.kind == sql::ExprKind::Column && e.name == column) return true;
    return std::any_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return mentions(a, column); });
  }

  void update(const sql::Update& s) {
    if (!s.with.empty() || !s.from.empty()) {
      error(s.location, "UPDATE with FROM or WITH is outside the SQL subset so far");
      return;
    }
    if (!find_target(s.schema, s.table, s.location)) return;
    const Scope scope = target_scope(s.table, s.alias);
    st().set = assignments(s.set, scope);
    if (s.where) st().where = exprs_.compile_as(*s.where, scope, SqlType::Bool, "WHERE");
    returning(s.returning, scope);
    kind(SqlKind::Update);
  }

  void remove(const sql::Delete& s) {
    if (!s.with.empty() || !s.using_items.empty()) {
      error(s.location, "DELETE with USING or WITH is outside the SQL subset so far");
      return;
    }
    if (!find_target(s.schema, s.table, s.location)) return;
    const Scope scope = target_scope(s.table, s.alias);
    if (s.where) st().where = exprs_.compile_as(*s.where, scope, SqlType::Bool, "WHERE");
    returning(s.returning, scope);
    kind(SqlKind::Delete);
  }

  CompileState& state_;
  ExprCompiler exprs_;
  int db_;
  CompiledStatement out_;
};

}  // namespace

CompiledStatement compile_statement(CompileState& state, const Text& text, const sql::Statement& statement,
                                    LocalNames* names, int db) {
  CompiledStatement out = StatementCompiler(state, text, names, db).compile(statement);
  out.statement.columns = out.columns;
  return out;
}

}  // namespace oncecheck

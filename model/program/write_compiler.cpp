// INSERT, UPDATE and DELETE.
#include <algorithm>

#include "model/program/other_tables.hpp"
#include "model/program/statement_builder.hpp"
#include "model/world/sequence.hpp"

namespace oncecheck {

namespace {

// x = x || '...' and x = x * 2 have no finite domain.
bool mentions(const sql::Expr& e, const std::string& column) {
  if (e.kind == sql::ExprKind::Column && e.name == column && e.qualifier != "excluded") return true;
  return std::any_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return mentions(a, column); });
}

bool grows(const sql::Expr& e, const std::string& column) {
  const bool product = (e.kind == sql::ExprKind::Binary && (e.name == "||" || e.name == "*")) ||
                       (e.kind == sql::ExprKind::Function && e.name == "concat");
  return (product && mentions(e, column)) ||
         std::any_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return grows(a, column); });
}

constexpr const char* kConflicting = "row in conflict";  // a name that nobody can write without quotes

// xmax = 0 or xmax <> 0.
bool tests_xmax(const sql::Expr& e) {
  return e.kind == sql::ExprKind::Binary && (e.name == "=" || e.name == "<>") && e.args[0].kind == sql::ExprKind::Column &&
         e.args[0].name == "xmax" && e.args[1].kind == sql::ExprKind::Int && e.args[1].number == 0;
}

bool names_xmax(const sql::Expr& e) {
  return tests_xmax(e) || std::any_of(e.args.begin(), e.args.end(), names_xmax);
}

void replace_xmax(sql::Expr& e, const std::string& column) {
  if (!tests_xmax(e)) {
    for (sql::Expr& a : e.args) replace_xmax(a, column);
    return;
  }
  e.kind = e.name == "=" ? sql::ExprKind::IsNull : sql::ExprKind::IsNotNull;
  e.args.pop_back();
  e.args[0].qualifier = kConflicting;
  e.args[0].name = column;
}

}  // namespace

void StatementBuilder::returning_clause(const std::vector<sql::Target>& targets, const Scope& scope) {
  if (targets.empty()) return;
  const Engine engine = state_.engine(db_);
  if (engine == Engine::MySql || (engine == Engine::MariaDb && st().kind == SqlKind::Update)) {
    const bool maria = engine == Engine::MariaDb;
    refused_by_server(ErrorClass::SyntaxError, targets.front().expr.location,
                      maria ? "MariaDB has no UPDATE ... RETURNING: read the row with a SELECT"
                            : "MySQL has no RETURNING: read the row with a SELECT");
  }
  returning(targets, scope);
}

void StatementBuilder::insert(const sql::Insert& s) {
  add_commons(exprs_, s.with, base_);
  if (!find_target(s.schema, s.table, s.location)) return;
  std::vector<int> columns;
  if (s.columns.empty()) {
    for (std::size_t c = 0; c < table().columns.size(); ++c) columns.push_back(static_cast<int>(c));
  }
  for (const std::string& name : s.columns) {
    const int c = column(name, s.location);
    if (c < 0) return;
    if (std::find(columns.begin(), columns.end(), c) != columns.end()) {
      refused_by_server(ErrorClass::ColumnTwice, s.location, "column \"" + name + "\" is named twice");
    }
    columns.push_back(c);
  }
  kind(SqlKind::Insert);
  if (s.select) {
    insert_from_query(s, columns);
  } else if (s.default_values) {
    rows({{}}, {}, s);
  } else {
    rows(s.rows, columns, s);
  }
  Scope scope = target_scope(s.table, s.alias);
  on_conflict(s, scope);
  std::vector<sql::Target> targets = s.returning;
  const bool asks = std::any_of(targets.begin(), targets.end(), [](const sql::Target& t) { return names_xmax(t.expr); });
  if (asks && !mysql()) xmax(s, targets, scope);
  returning_clause(targets, scope);
}

// RETURNING (xmax = 0) AS inserted: an updated row has the lock of ON CONFLICT as xmax, an inserted one has none. While an
// updated row is told, source 1 is EXCLUDED, whose conflicting columns are not NULL; else it is a row of NULLs.
void StatementBuilder::xmax(const sql::Insert& s, std::vector<sql::Target>& targets, Scope& scope) {
  bool waits_later = st().query >= 0 || s.rows.size() != 1 || !table().foreign_keys.empty();
  for (const auto& [column, value] : st().conflict_set) waits_later = waits_later || in_unique_index(column);
  if (waits_later && st().conflict_update) {
    error(s.location, "xmax is supported for one row of VALUES, without foreign keys and with no key among what is SET");
    return;
  }
  const int column = st().arbiters.empty() ? 0 : table().indexes[static_cast<std::size_t>(st().arbiters[0])].columns[0];
  scope.entries.push_back({kConflicting, "", "", table().columns, info().types, 1, true, {}});
  exprs_.next_src = std::max(exprs_.next_src, 2);
  for (sql::Target& t : targets) replace_xmax(t.expr, table().columns[static_cast<std::size_t>(column)]);
}

bool StatementBuilder::in_unique_index(int column) const {
  return std::any_of(table().indexes.begin(), table().indexes.end(), [&](const Index& i) {
    return i.unique && std::find(i.columns.begin(), i.columns.end(), column) != i.columns.end();
  });
}

void StatementBuilder::insert_from_query(const sql::Insert& s, const std::vector<int>& columns) {
  QueryCompiler query(exprs_);
  st().query = query.compile(*s.select, &base_);
  if (st().query < 0) return;
  if (!has_as_many(columns.size(), query.columns().size(), s)) return;
  auto& queries = state_.program.plan.code.queries;
  st().defaults = info().defaults;
  for (std::size_t i = 0; i < query.columns().size(); ++i) {
    const auto c = static_cast<std::size_t>(columns[i]);
    check_generated(c, s.location);
    st().select_columns.emplace_back(columns[i], static_cast<int>(i));
    st().defaults[c] = kNoExpr;
    const bool plain = i < queries[static_cast<std::size_t>(st().query)].targets.size();
    if (!plain) continue;
    // A literal takes the type of its column, and an AUTO_INCREMENT column numbers its NULLs.
    const ExprId value = queries[static_cast<std::size_t>(st().query)].targets[i];
    Typed typed{value, query.types()[i]};
    if (typed.type == SqlType::Literal) exprs_.coerce(typed, info().types[c]);
    queries[static_cast<std::size_t>(st().query)].targets[i] = numbered(c, value);
  }
  for (std::size_t c = 0; c < st().defaults.size(); ++c) {
    if (st().defaults[c] == kNoExpr && std::find(columns.begin(), columns.end(), static_cast<int>(c)) == columns.end()) {
      st().defaults[c] = info().auto_increment == static_cast<int>(c) ? numbered(c, kNoExpr) : kNoExpr;
    }
  }
}

void StatementBuilder::check_generated(std::size_t column, int location) {
  if (!table().limits[column].generated_always) return;
  refused_by_server(ErrorClass::GeneratedAlways, location,
                    "column \"" + table().columns[column] + "\" is GENERATED ALWAYS AS IDENTITY: only DEFAULT can be written to it");
}

// The value of a column that may be AUTO_INCREMENT; kNoExpr: none was given.
ExprId StatementBuilder::numbered(std::size_t column, ExprId given) {
  if (info().auto_increment != static_cast<int>(column)) return given;
  Node n;
  n.op = Op::NextVal;
  n.a = info().sequence;
  n.b = given;
  return state_.add(n);
}

// PostgreSQL fills the last columns with their defaults when no columns are named.
bool StatementBuilder::has_as_many(std::size_t columns, std::size_t values, const sql::Insert& s) {
  if (values == columns || s.default_values || (values < columns && s.columns.empty() && !mysql())) return true;
  refused_by_server(ErrorClass::ColumnCount, s.location, "INSERT has " + std::to_string(columns) + " target columns but " +
                                                             std::to_string(values) + " values");
  return false;
}

void StatementBuilder::rows(const std::vector<std::vector<sql::Expr>>& written, const std::vector<int>& columns,
                            const sql::Insert& s) {
  const ExprId null_expr = state_.constant(null_val());
  for (const auto& row : written) {
    if (!has_as_many(columns.size(), row.size(), s)) return;
    std::vector<ExprId> exprs;
    for (std::size_t c = 0; c < table().columns.size(); ++c) {
      const ExprId d = numbered(c, info().defaults[c]);
      exprs.push_back(d == kNoExpr ? null_expr : d);
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].kind == sql::ExprKind::Default) continue;
      const auto c = static_cast<std::size_t>(columns[i]);
      check_generated(c, row[i].location);
      exprs[c] = numbered(c, exprs_.compile_as(row[i], base_, info().types[c], "column \"" + table().columns[c] + "\""));
    }
    st().rows.push_back(std::move(exprs));
  }
}

void StatementBuilder::on_conflict(const sql::Insert& s, const Scope& target) {
  const sql::OnConflict& c = s.on_conflict;
  if (c.action == sql::ConflictAction::None) return;
  st().on_conflict = true;
  st().conflict_update = c.action == sql::ConflictAction::Update;
  st().ignore = mysql() && !st().conflict_update;
  if (st().ignore) state_.intern("");  // the implicit default of a text
  st().sequential_set = mysql() && st().conflict_update;
  if (!find_arbiters(c)) return;
  if (!st().conflict_update) return;
  Scope scope = target;
  scope.entries.push_back({"excluded", "", "", table().columns, info().types, 1, mysql(), {}});
  exprs_.next_src = std::max(exprs_.next_src, 2);
  st().conflict_set = assignments(c.set, scope);
  if (!c.where) return;
  if (mysql()) error(c.where->location, "ON DUPLICATE KEY UPDATE has no WHERE: put the condition into IF(condition, new, old)");
  st().conflict_where = exprs_.compile_as(*c.where, scope, SqlType::Bool, "WHERE");
}

bool StatementBuilder::find_arbiters(const sql::OnConflict& c) {
  // INSERT IGNORE and ON DUPLICATE KEY UPDATE shield every unique index, and so does what is written for PostgreSQL.
  if (mysql()) return true;
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
    if (!indexes[i].unique) continue;
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

std::vector<std::pair<int, ExprId>> StatementBuilder::assignments(const std::vector<sql::Assignment>& set,
                                                                  const Scope& scope) {
  std::vector<std::pair<int, ExprId>> out;
  for (const sql::Assignment& a : set) {
    const int number = column(a.column, a.location);
    if (number < 0) continue;
    const auto c = static_cast<std::size_t>(number);
    const auto same = [&](const auto& set) { return set.first == number; };
    if (!mysql() && std::any_of(out.begin(), out.end(), same)) {
      refused_by_server(ErrorClass::SyntaxError, a.location, "column \"" + a.column + "\" is set twice");
    }
    if (in_unique_index(number)) st().changes_key = true;
    if (a.value.kind == sql::ExprKind::Default) {
      const ExprId d = info().defaults[c];
      if (table().limits[c].generated_always) error(a.location, "SET ... = DEFAULT of an identity column is outside the SQL subset");
      out.emplace_back(number, d == kNoExpr ? state_.constant(null_val()) : d);
      continue;
    }
    check_generated(c, a.location);
    if (grows(a.value, a.column) && !state_.options.values_grow) {
      error(a.location, "\"" + a.column + "\" would grow without bound: every value of a scenario must be one of finitely many");
    }
    const ExprId value = exprs_.compile_as(a.value, scope, info().types[c], "column \"" + a.column + "\"");
    out.emplace_back(number, numbered(c, value));
    if (out.back().second != value) state_.program.plan.code.nodes[static_cast<std::size_t>(out.back().second)].src = kAssigned;
  }
  return out;
}

// RETURNING of a write that names other tables.
void StatementBuilder::returning_over(std::vector<sql::Target>& targets, const std::vector<sql::FromItem>& from,
                                      const std::shared_ptr<sql::Expr>& where) {
  for (sql::Target& t : targets) {
    if (t.expr.kind == sql::ExprKind::Star) {
      if (t.expr.qualifier.empty()) error(t.expr.location, "RETURNING * with other tables is outside the SQL subset: name the columns");
      continue;
    }
    if (t.alias.empty()) t.alias = target_name(t);
    if (names_column(t.expr)) t.expr = over_other_tables(sql::ExprKind::Scalar, t.expr, from, where);
  }
}

void StatementBuilder::update(const sql::Update& s) {
  add_commons(exprs_, s.with, base_);
  if (!find_target(s.schema, s.table, s.location)) return;
  kind(SqlKind::Update);
  st().sequential_set = mysql();
  const Scope scope = target_scope(s.table, s.alias);
  if (s.where) check_own_table(*s.where, s.table);
  for (const sql::Assignment& a : s.set) check_own_table(a.value, s.table);
  std::vector<sql::Assignment> set = s.set;
  std::shared_ptr<sql::Expr> where = s.where;
  std::vector<sql::Target> targets = s.returning;
  if (!s.from.empty() && mysql()) error(s.location, "UPDATE ... FROM is PostgreSQL's; for MySQL and MariaDB it is outside the SQL subset");
  if (!s.from.empty()) {
    where = std::make_shared<sql::Expr>(over_other_tables(sql::ExprKind::Exists, number_one(s.location), s.from, s.where));
    for (sql::Assignment& a : set) {
      if (names_column(a.value)) a.value = over_other_tables(sql::ExprKind::Scalar, a.value, s.from, s.where);
    }
    returning_over(targets, s.from, s.where);
  }
  st().set = assignments(set, scope);
  if (where) st().where = exprs_.compile_as(*where, scope, SqlType::Bool, "WHERE");
  order_and_limit(s.order_by, s.limit, scope);
  returning_clause(targets, scope);
  choose_path();
}

void StatementBuilder::remove(const sql::Delete& s) {
  add_commons(exprs_, s.with, base_);
  if (!find_target(s.schema, s.table, s.location)) return;
  kind(SqlKind::Delete);
  const Scope scope = target_scope(s.table, s.alias);
  if (s.where) check_own_table(*s.where, s.table);
  std::shared_ptr<sql::Expr> where = s.where;
  std::vector<sql::Target> targets = s.returning;
  if (!s.using_items.empty() && mysql()) error(s.location, "DELETE ... USING is PostgreSQL's; for MySQL and MariaDB it is outside the SQL subset");
  if (!s.using_items.empty()) {
    where = std::make_shared<sql::Expr>(over_other_tables(sql::ExprKind::Exists, number_one(s.location), s.using_items, s.where));
    returning_over(targets, s.using_items, s.where);
  }
  if (where) st().where = exprs_.compile_as(*where, scope, SqlType::Bool, "WHERE");
  order_and_limit(s.order_by, s.limit, scope);
  returning_clause(targets, scope);
  choose_path();
}

// MySQL 1093: the table that is written cannot be read by a subquery, unless a derived table is filled first
// (manual, "Restrictions on Subqueries"). MariaDB has allowed it since 10.3.
void StatementBuilder::check_own_table(const sql::Expr& e, const std::string& table) {
  if (state_.engine(db_) != Engine::MySql) return;
  if (e.select) check_own_table(*e.select, table);
  for (const sql::Expr& a : e.args) check_own_table(a, table);
}

void StatementBuilder::check_own_table(const sql::Select& s, const std::string& table) {
  if (s.left) check_own_table(*s.left, table);
  if (s.right) check_own_table(*s.right, table);
  std::vector<const sql::FromItem*> open;
  for (const sql::FromItem& item : s.from) open.push_back(&item);
  while (!open.empty()) {
    const sql::FromItem& item = *open.back();
    open.pop_back();
    for (const sql::FromItem& side : item.sides) open.push_back(&side);
    if (item.kind == sql::FromKind::Table && item.table == table) {
      refused_by_server(ErrorClass::UpdateTableUsed, item.location,
                        "MySQL cannot write \"" + table + "\" and read it in a subquery (error 1093): put the subquery into"
                        " a derived table with LIMIT or DISTINCT");
    }
    if (item.kind != sql::FromKind::Subselect) continue;
    const sql::Select& inner = *item.select;
    const bool filled = inner.limit || inner.distinct || !inner.group_by.empty() || inner.having ||
                        inner.op != sql::SetOp::None ||
                        std::any_of(inner.targets.begin(), inner.targets.end(),
                                    [](const sql::Target& t) { return has_aggregate(t.expr); });
    if (!filled) check_own_table(inner, table);
  }
  if (s.where) check_own_table(*s.where, table);
  for (const sql::Target& t : s.targets) check_own_table(t.expr, table);
}

}  // namespace oncecheck

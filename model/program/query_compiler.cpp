#include "model/program/query_compiler.hpp"

#include <algorithm>

#include "model/program/sql_print.hpp"
#include "model/world/context.hpp"
#include "model/world/facts.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxColumns = 30, kMaxOrder = 8;  // query.cpp keeps a row in 40 values

bool has_aggregate(const sql::Expr& e) {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "bool_and", "bool_or"};
  if (e.kind == sql::ExprKind::Function && std::find(names.begin(), names.end(), e.name) != names.end()) return true;
  return std::any_of(e.args.begin(), e.args.end(), has_aggregate);
}

const CommonTableDef* find_common(const Scope& scope, const std::string& name) {
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    for (const CommonTableDef& def : s->common) {
      if (def.name == name) return &def;
    }
  }
  return nullptr;
}

}  // namespace

std::string target_name(const sql::Target& target) {
  if (!target.alias.empty()) return target.alias;
  if (target.expr.kind == sql::ExprKind::Column || target.expr.kind == sql::ExprKind::Function) return target.expr.name;
  if (target.expr.kind == sql::ExprKind::Cast) {
    sql::Target inner;
    inner.expr = target.expr.args[0];
    return target_name(inner);
  }
  return "?column?";
}

QueryId QueryCompiler::store() {
  query_.width = static_cast<int>(columns_.size());
  if (columns_.size() > kMaxColumns || query_.keys.size() + query_.aggs.size() > kMaxColumns || query_.order.size() > kMaxOrder) {
    exprs_.error(-1, "a query of the subset has at most 30 columns, 30 group keys and aggregates, and 8 ORDER BY columns");
  }
  state_.program.plan.code.queries.push_back(query_);
  return static_cast<QueryId>(state_.program.plan.code.queries.size()) - 1;
}

QueryId QueryCompiler::combine(const sql::Select& select, const Scope* outer) {
  QueryCompiler left(exprs_), right(exprs_);
  if (!select.order_by.empty() || select.limit || select.offset) {
    exprs_.error(select.location, "ORDER BY and LIMIT on a UNION are outside the SQL subset: put it into a subselect");
  }
  Scope with;
  with.outer = outer;
  with.common = scope_.common;
  query_.left = left.compile(*select.left, &with);
  query_.right = right.compile(*select.right, &with);
  if (query_.left < 0 || query_.right < 0) return -1;
  if (left.columns().size() != right.columns().size()) {
    exprs_.error(select.location, "both sides of a UNION need the same number of columns");
    return -1;
  }
  switch (select.op) {
    case sql::SetOp::Union: query_.combine = Combine::Union; break;
    case sql::SetOp::UnionAll: query_.combine = Combine::UnionAll; break;
    case sql::SetOp::Intersect: query_.combine = Combine::Intersect; break;
    default: query_.combine = Combine::Except; break;
  }
  columns_ = left.columns();
  types_ = left.types();
  return store();
}

QueryId QueryCompiler::values(const sql::Select& select, const Scope* outer) {
  scope_.outer = outer;
  for (const auto& row : select.values) {
    std::vector<ExprId> exprs;
    for (const sql::Expr& e : row) {
      Typed t = exprs_.compile(e, scope_);
      exprs.push_back(t.id);
      if (query_.values.empty()) {
        columns_.push_back("column" + std::to_string(exprs.size()));
        types_.push_back(t.type);
      }
    }
    if (exprs.size() != columns_.size()) exprs_.error(select.location, "VALUES rows need the same number of columns");
    query_.values.push_back(std::move(exprs));
  }
  return store();
}

void QueryCompiler::add_common(const sql::Select& select) {
  for (const sql::CommonTable& c : select.with) {
    if (c.statement == nullptr || c.statement->kind != sql::StatementKind::Select) {
      exprs_.error(select.location, "a WITH query that writes (" + c.name + ") is outside the SQL subset so far");
      continue;
    }
    scope_.common.push_back({c.name, c.columns, c.statement->select.get()});
  }
}

QueryId QueryCompiler::compile(const sql::Select& select, const Scope* outer) {
  scope_.outer = outer;
  add_common(select);
  if (select.op != sql::SetOp::None) return combine(select, outer);
  if (!select.values.empty()) return values(select, outer);
  if (select.locking) {
    exprs_.error(select.location, "FOR UPDATE/SHARE is supported only on a SELECT from one table, as a statement of its own");
    return -1;
  }
  const std::size_t errors_before = state_.errors.reported();
  query_.first_src = exprs_.next_src;
  for (const sql::FromItem& item : select.from) add_from(item, false, nullptr);
  if (exprs_.next_src > kMaxSources) exprs_.error(select.location, "a statement of the subset names at most 10 tables");
  if (select.where) query_.where = exprs_.compile_as(*select.where, scope_, SqlType::Bool, "WHERE");

  Grouping grouping;
  query_.grouped = !select.group_by.empty() || select.having != nullptr ||
                   std::any_of(select.targets.begin(), select.targets.end(),
                               [](const sql::Target& t) { return has_aggregate(t.expr); });
  Grouping* groups = nullptr;
  if (query_.grouped) {
    for (const sql::Expr& written : select.group_by) {
      const sql::Expr* e = &written;
      if (e->kind == sql::ExprKind::Int && e->number >= 1 && e->number <= static_cast<int>(select.targets.size())) {
        e = &select.targets[static_cast<std::size_t>(e->number - 1)].expr;
      }
      Typed key = exprs_.compile(*e, scope_);
      grouping.keys.push_back(key.id);
      grouping.key_types.push_back(key.type);
      grouping.key_texts.push_back(sql::to_string(*e));
    }
    groups = &grouping;
    scope_.grouped = true;
  }
  add_targets(select, groups);
  if (select.having) {
    Typed having = exprs_.compile(*select.having, scope_, groups);
    query_.having = having.id;
    if (having.type != SqlType::Bool && having.type != SqlType::Any) {
      exprs_.error(select.having->location, "HAVING must be a condition");
    }
  }
  add_order(select, groups);
  query_.keys = grouping.keys;
  query_.aggs = grouping.aggs;
  query_.distinct = select.distinct;
  if (select.limit) query_.limit = row_count(*select.limit, "LIMIT");
  if (select.offset) query_.offset = row_count(*select.offset, "OFFSET");
  if (state_.errors.reported() != errors_before) return -1;
  return store();
}

ExprId QueryCompiler::row_count(const sql::Expr& e, const char* what) {
  return exprs_.compile_as(e, Scope{}, SqlType::Int, what);
}

void QueryCompiler::add_from(const sql::FromItem& item, bool left_join, const sql::Expr* on) {
  using F = sql::FromKind;
  if (item.kind == F::InnerJoin || item.kind == F::LeftJoin || item.kind == F::CrossJoin) {
    const sql::FromItem& right = item.sides[1];
    if (right.kind == F::InnerJoin || right.kind == F::LeftJoin || right.kind == F::CrossJoin) {
      exprs_.error(item.location, "a join in parentheses on the right side is outside the SQL subset");
      return;
    }
    if (!item.using_columns.empty()) {
      exprs_.error(item.location, "JOIN ... USING is outside the SQL subset: write ON a.x = b.x");
      return;
    }
    add_from(item.sides[0], left_join, on);
    add_from(right, item.kind == F::LeftJoin, item.on.get());
    return;
  }
  Source source;
  ScopeEntry entry;
  source.left_join = left_join;
  if (item.kind == F::Table) {
    add_table(item, source, entry);
  } else {
    QueryCompiler inner(exprs_);
    Scope hidden;  // FROM items do not see each other (no LATERAL), but they see CTEs
    hidden.common = scope_.common;
    hidden.outer = scope_.outer;
    source.kind = Source::Kind::Query;
    source.index = inner.compile(*item.select, &hidden);
    entry.columns = inner.columns();
    entry.types = inner.types();
  }
  entry.alias = item.alias.empty() ? item.table : item.alias;
  entry.src = query_.first_src + static_cast<int>(query_.sources.size());
  exprs_.next_src = std::max(exprs_.next_src, entry.src + 1);
  scope_.entries.push_back(entry);
  if (on != nullptr) source.on = exprs_.compile_as(*on, scope_, SqlType::Bool, "ON");
  query_.sources.push_back(source);
}

void QueryCompiler::add_table(const sql::FromItem& item, Source& source, ScopeEntry& entry) {
  if (item.schema.empty()) {
    if (const CommonTableDef* common = find_common(scope_, item.table)) {
      QueryCompiler inner(exprs_);
      source.kind = Source::Kind::Query;
      source.index = inner.compile(*common->select, nullptr);
      entry.columns = common->columns.empty() ? inner.columns() : common->columns;
      entry.types = inner.types();
      return;
    }
  }
  if (item.schema == "facts") {
    static const std::vector<std::string> names = {"told", "effects", "operations", "foreign_releases"};
    const auto it = std::find(names.begin(), names.end(), item.table);
    if (exprs_.names() != nullptr) {
      exprs_.error(item.location, "facts are for invariants: a service cannot read what its clients were told");
    } else if (it == names.end()) {
      exprs_.error(item.location, "unknown fact table \"facts." + item.table + "\"", nearest_name(item.table, names));
    } else {
      source.kind = Source::Kind::Facts;
      source.index = static_cast<int>(it - names.begin());
      entry.columns = fact_columns(static_cast<FactTable>(source.index));
      entry.types.assign(entry.columns.size(), SqlType::Any);
    }
    return;
  }
  int db = exprs_.default_db();
  if (!item.schema.empty()) {
    const int named = state_.find_database(item.schema);
    if (named < 0 || (db >= 0 && named != db)) {
      std::vector<std::string> known;
      for (const auto& [name, unused] : state_.scenario.databases) known.push_back(name);
      exprs_.error(item.location,
                   named < 0 ? "unknown database \"" + item.schema + "\""
                             : "this statement runs on database \"" + known[static_cast<std::size_t>(db)] +
                                   "\" and cannot name a table of \"" + item.schema + "\"",
                   named < 0 ? nearest_name(item.schema, known) : "");
      return;
    }
    db = named;
  }
  const int table = state_.find_table(db, item.table);
  if (table < 0) {
    std::vector<std::string> known;
    for (const TableLayout& t : state_.program.plan.layout.tables) known.push_back(t.name);
    exprs_.error(item.location,
                 table == -2 ? "table \"" + item.table + "\" is in several databases: write DATABASE." + item.table
                             : "unknown table \"" + item.table + "\"",
                 table == -2 ? "" : nearest_name(item.table, known));
    return;
  }
  source.kind = Source::Kind::Table;
  source.index = table;
  const TableInfo& info = state_.tables[static_cast<std::size_t>(table)];
  entry.columns = state_.program.plan.layout.tables[static_cast<std::size_t>(table)].columns;
  entry.types = info.types;
  entry.db = info.db;
  entry.table = item.table;
}

void QueryCompiler::add_targets(const sql::Select& select, Grouping* grouping) {
  for (const sql::Target& t : select.targets) {
    if (t.expr.kind != sql::ExprKind::Star) {
      Typed e = exprs_.compile(t.expr, scope_, grouping);
      query_.targets.push_back(e.id);
      columns_.push_back(target_name(t));
      types_.push_back(e.type);
      continue;
    }
    for (const ScopeEntry& entry : scope_.entries) {
      if (!t.expr.qualifier.empty() && t.expr.qualifier != entry.alias) continue;
      for (const std::string& name : entry.columns) {
        sql::Expr column;
        column.kind = sql::ExprKind::Column;
        column.qualifier = entry.alias;
        column.name = name;
        column.location = t.expr.location;
        Typed e = exprs_.compile(column, scope_, grouping);
        query_.targets.push_back(e.id);
        columns_.push_back(name);
        types_.push_back(e.type);
      }
    }
  }
}

void QueryCompiler::add_order(const sql::Select& select, Grouping* grouping) {
  for (const sql::OrderItem& item : select.order_by) {
    const sql::Expr* e = &item.expr;
    if (e->kind == sql::ExprKind::Int && e->number >= 1 && e->number <= static_cast<int>(select.targets.size())) {
      e = &select.targets[static_cast<std::size_t>(e->number - 1)].expr;
    } else if (e->kind == sql::ExprKind::Column && e->qualifier.empty()) {
      for (const sql::Target& t : select.targets) {
        if (t.alias == e->name) e = &t.expr;
      }
    }
    Order order;
    order.expr = exprs_.compile(*e, scope_, grouping).id;
    order.descending = item.descending;
    order.nulls_first = item.nulls_first.value_or(item.descending);
    query_.order.push_back(order);
  }
}

}  // namespace oncecheck

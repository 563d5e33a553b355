#include "model/program/query_compiler.hpp"

#include <algorithm>

#include "model/program/sql_print.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxColumns = 30, kMaxOrder = 8;  // query.cpp keeps a row in 40 values

}  // namespace

bool has_aggregate(const sql::Expr& e) {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "bool_and", "bool_or"};
  if (e.kind == sql::ExprKind::Function && std::find(names.begin(), names.end(), e.name) != names.end()) return true;
  return std::any_of(e.args.begin(), e.args.end(), has_aggregate);
}

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

const sql::Expr* output_named(const sql::Expr& e, const std::vector<sql::Target>& targets, ExprCompiler& exprs) {
  const sql::Expr* found = &e;
  const auto star = std::find_if(targets.begin(), targets.end(), [](const sql::Target& t) { return t.expr.kind == sql::ExprKind::Star; });
  if (e.kind == sql::ExprKind::Int && e.number > star - targets.begin() && star != targets.end()) {
    exprs.error(e.location, "ORDER BY a number together with * is outside the SQL subset: name the column");
  } else if (e.kind == sql::ExprKind::Int && e.number >= 1 && e.number <= static_cast<std::int64_t>(targets.size())) {
    found = &targets[static_cast<std::size_t>(e.number - 1)].expr;
  } else if (e.kind == sql::ExprKind::Int) {
    exprs.error(e.location, "ORDER BY " + std::to_string(e.number) + " is not in the select list");
  } else if (e.kind == sql::ExprKind::Column && e.qualifier.empty()) {
    for (const sql::Target& t : targets) {
      if (t.alias == e.name) found = &t.expr;
    }
  }
  return found;
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
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] == SqlType::Literal || types_[i] == SqlType::Any) types_[i] = right.types()[i];
  }
  return ordered(store(), select);
}

// SELECT * from another query or a part, whose columns are columns_.
void QueryCompiler::all_columns_of(Source::Kind kind, int index) {
  query_.first_src = exprs_.next_src++;
  Source source;
  source.kind = kind;
  source.index = index;
  query_.sources.push_back(source);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Node n;
    n.op = Op::Column;
    n.src = static_cast<std::uint8_t>(query_.first_src);
    n.a = static_cast<std::int32_t>(c);
    query_.targets.push_back(state_.add(n));
  }
}

QueryId QueryCompiler::ordered(QueryId inner, const sql::Select& select) {
  if (inner < 0 || (select.order_by.empty() && !select.limit && !select.offset)) return inner;
  query_ = Query{};
  all_columns_of(Source::Kind::Query, inner);
  Scope rows;
  rows.entries.push_back({"", "", "", columns_, types_, query_.first_src});
  for (const sql::OrderItem& item : select.order_by) {
    Order order;
    const bool number = item.expr.kind == sql::ExprKind::Int && item.expr.number >= 1 &&
                        item.expr.number <= static_cast<std::int64_t>(columns_.size());
    if (item.expr.kind == sql::ExprKind::Int && !number) {
      exprs_.error(item.expr.location, "ORDER BY " + std::to_string(item.expr.number) + " is not in the select list");
    }
    order.expr = number ? query_.targets[static_cast<std::size_t>(item.expr.number - 1)] : exprs_.compile(item.expr, rows).id;
    order.descending = item.descending;
    order.nulls_first = item.nulls_first.value_or(item.descending != exprs_.mysql());
    query_.order.push_back(order);
  }
  if (select.limit) query_.limit = row_count(*select.limit, "LIMIT");
  if (select.offset) query_.offset = row_count(*select.offset, "OFFSET");
  return store();
}

// FOR UPDATE inside a statement: the rows are those of a part.
QueryId QueryCompiler::over_part(const sql::Select& select) {
  if (exprs_.parts == nullptr) {
    exprs_.error(select.location, "FOR UPDATE/SHARE is not allowed here");
    return -1;
  }
  const PartRef part = exprs_.parts->select_part(select, visible_commons(scope_));
  if (part.index < 0) return -1;
  columns_ = part.columns;
  types_ = part.types;
  all_columns_of(Source::Kind::Part, part.index);
  return store();
}

// MySQL: SELECT sum(a) FROM t WHERE ... FOR UPDATE locks the rows and then adds up. PostgreSQL refuses it.
QueryId QueryCompiler::over_locked_rows(const sql::Select& select, const Scope* outer) {
  auto rows = std::make_shared<sql::Select>();
  rows->location = select.location;
  rows->from = select.from;
  rows->where = select.where;
  rows->locking = select.locking;
  sql::Target all;
  all.expr.kind = sql::ExprKind::Star;
  rows->targets.push_back(all);
  sql::Select whole = select;
  whole.locking.reset();
  whole.where.reset();
  sql::FromItem item;
  item.kind = sql::FromKind::Subselect;
  item.alias = select.from[0].alias.empty() ? select.from[0].table : select.from[0].alias;
  item.location = select.from[0].location;
  item.select = rows;
  whole.from = {item};
  return compile(whole, outer);
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
  return ordered(store(), select);
}

QueryId QueryCompiler::compile(const sql::Select& select, const Scope* outer) {
  scope_.outer = outer;
  if (select.locking) {
    const bool adds_up = select.distinct || !select.group_by.empty() || select.having ||
                         std::any_of(select.targets.begin(), select.targets.end(),
                                     [](const sql::Target& t) { return has_aggregate(t.expr); });
    const bool one_table = select.from.size() == 1 && select.from[0].kind == sql::FromKind::Table;
    return adds_up && one_table && exprs_.mysql() ? over_locked_rows(select, outer) : over_part(select);
  }
  add_commons(exprs_, select.with, scope_);
  if (select.op != sql::SetOp::None) return combine(select, outer);
  if (!select.values.empty()) return values(select, outer);
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
  if (!select.distinct_on.empty()) distinct_on(select, groups);
  if (select.limit) query_.limit = row_count(*select.limit, "LIMIT");
  if (select.offset) query_.offset = row_count(*select.offset, "OFFSET");
  if (state_.errors.reported() != errors_before) return -1;
  choose_paths();
  return store();
}

// DISTINCT ON (a, b) ... ORDER BY a, b, c: of the rows with equal a and b, the first.
void QueryCompiler::distinct_on(const sql::Select& select, Grouping* groups) {
  const auto place = select.distinct_on[0].location;
  if (exprs_.mysql()) exprs_.error(place, "DISTINCT ON is PostgreSQL's");
  query_.distinct_on = static_cast<int>(select.distinct_on.size());
  if (select.order_by.empty()) {
    for (const sql::Expr& e : select.distinct_on) query_.order.push_back({exprs_.compile(*output_named(e, select.targets, exprs_), scope_, groups).id, false, false});
    return;
  }
  for (std::size_t i = 0; i < select.distinct_on.size(); ++i) {
    const bool first = i < select.order_by.size() &&
                       std::any_of(select.distinct_on.begin(), select.distinct_on.end(), [&](const sql::Expr& e) {
                         return sql::to_string(e) == sql::to_string(select.order_by[i].expr);
                       });
    if (!first) exprs_.error(place, "ORDER BY must begin with the expressions of DISTINCT ON");
  }
}

void QueryCompiler::choose_paths() {
  const bool alone = query_.sources.size() == 1 && !query_.grouped && !query_.distinct && query_.distinct_on == 0;
  const int last = query_.first_src + static_cast<int>(query_.sources.size()) - 1;
  for (std::size_t i = 0; i < query_.sources.size(); ++i) {
    Source& source = query_.sources[i];
    if (source.kind != Source::Kind::Table) continue;
    TableScan scan{source.index, query_.first_src + static_cast<int>(i), last, {source.on}, alone ? &query_.order : nullptr, false, {}};
    // What WHERE says of the inner side of an outer join holds only after the join.
    if (!source.left_join) {
      scan.conditions.push_back(query_.where);
      for (std::size_t j = i + 1; j < query_.sources.size(); ++j) {
        if (!query_.sources[j].left_join) scan.conditions.push_back(query_.sources[j].on);
      }
    }
    for (const std::vector<ExprId>* exprs : {&query_.targets, &query_.keys}) {
      scan.reads.insert(scan.reads.end(), exprs->begin(), exprs->end());
    }
    for (const AggSpec& agg : query_.aggs) scan.reads.push_back(agg.arg);
    for (const Order& order : query_.order) scan.reads.push_back(order.expr);
    scan.reads.push_back(query_.having);
    for (const Source& other : query_.sources) scan.reads.push_back(other.on);
    scan.reads.push_back(query_.where);
    source.access = choose_access(state_, scan);
    if (query_.sources.size() == 1 && query_.keys.empty() && query_.aggs.size() == 1) take_extreme(scan, source.access);
  }
}

void QueryCompiler::take_extreme(const TableScan& scan, AccessPath& access) {
  const AggSpec& agg = query_.aggs.front();
  if (agg.kind != Aggregate::Min && agg.kind != Aggregate::Max) return;
  const Node& arg = state_.program.plan.code.nodes[static_cast<std::size_t>(agg.arg)];
  if (arg.op != Op::Column || arg.src != scan.src) return;
  AccessPath path = extreme_access(state_, scan, arg.a, agg.kind == Aggregate::Max);
  if (path.index >= 0) access = std::move(path);
}

ExprId QueryCompiler::row_count(const sql::Expr& e, const char* what) {
  const bool negative = e.kind == sql::ExprKind::Int && e.number < 0;
  if (negative && (exprs_.mysql() || !state_.options.run_refused)) exprs_.error(e.location, std::string(what) + " must not be negative");
  return exprs_.compile_as(e, Scope{}, SqlType::Int, what);
}

void QueryCompiler::add_targets(const sql::Select& select, Grouping* grouping) {
  for (const sql::Target& t : select.targets) {
    if (t.expr.kind != sql::ExprKind::Star) {
      Typed e = exprs_.compile_output(t.expr, scope_, grouping);
      query_.targets.push_back(e.id);
      columns_.push_back(target_name(t));
      types_.push_back(e.type);
      continue;
    }
    const auto named = [&](const ScopeEntry& entry) { return t.expr.qualifier.empty() || t.expr.qualifier == entry.alias; };
    if (std::none_of(scope_.entries.begin(), scope_.entries.end(), named)) {
      exprs_.error(t.expr.location, t.expr.qualifier.empty() ? "SELECT * without a table"
                                                             : "unknown table \"" + t.expr.qualifier + "\" before .*");
    }
    if (swapped_ >= 0 && t.expr.qualifier.empty()) exprs_.error(swapped_, "SELECT * of a RIGHT JOIN is outside the SQL subset: name the columns");
    for (const ScopeEntry& entry : scope_.entries) {
      if (!named(entry)) continue;
      for (const std::string& name : entry.columns) {
        const bool merged = std::find(entry.merged.begin(), entry.merged.end(), name) != entry.merged.end();
        if (merged && t.expr.qualifier.empty()) continue;
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
    Order order;
    order.expr = exprs_.compile(*output_named(item.expr, select.targets, exprs_), scope_, grouping).id;
    order.descending = item.descending;
    // NULL is larger than every value for PostgreSQL, smaller for MySQL.
    order.nulls_first = item.nulls_first.value_or(item.descending != exprs_.mysql());
    query_.order.push_back(order);
  }
}

}  // namespace oncecheck

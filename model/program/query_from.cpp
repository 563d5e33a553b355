// FROM and WITH of a SELECT.
#include <algorithm>

#include "model/program/query_compiler.hpp"
#include "model/world/facts.hpp"

namespace oncecheck {

namespace {

bool is_join(const sql::FromItem& item) {
  return item.kind != sql::FromKind::Table && item.kind != sql::FromKind::Subselect;
}

CommonTableDef* find_common(const Scope& scope, const std::string& name) {
  const Commons all = visible_commons(scope);
  const auto it = std::find_if(all.rbegin(), all.rend(), [&](const auto& def) { return def->name == name; });
  return it == all.rend() ? nullptr : it->get();
}

void set_part(CommonTableDef& def, PartRef part) {
  def.part = part.index;
  def.part_columns = std::move(part.columns);
  def.part_types = std::move(part.types);
}

}  // namespace

Commons visible_commons(const Scope& scope) {
  Commons all;
  if (scope.outer != nullptr) all = visible_commons(*scope.outer);
  all.insert(all.end(), scope.common.begin(), scope.common.end());
  return all;
}

void add_commons(ExprCompiler& exprs, const std::vector<sql::CommonTable>& with, Scope& scope) {
  for (const sql::CommonTable& c : with) {
    auto def = std::make_shared<CommonTableDef>();
    def->name = c.name;
    def->columns = c.columns;
    def->before = visible_commons(scope);
    if (c.statement->kind == sql::StatementKind::Select) {
      def->select = c.statement->select.get();
    } else if (exprs.mysql()) {
      exprs.error(c.statement->location, "WITH " + c.name + " writes: that is PostgreSQL's");
    } else if (exprs.parts == nullptr) {
      exprs.error(c.statement->location, "WITH " + c.name + " writes: an invariant only reads");
    } else {
      set_part(*def, exprs.parts->write_part(*c.statement, def->before));
    }
    scope.common.push_back(std::move(def));
  }
}

void QueryCompiler::add_from(const sql::FromItem& item, bool left_join, const sql::Expr* on) {
  using F = sql::FromKind;
  if (is_join(item)) {
    const sql::FromItem& right = item.sides[1];
    if (is_join(right)) {
      exprs_.error(item.location, "a join in parentheses on the right side is outside the SQL subset");
      return;
    }
    const std::size_t first_left = scope_.entries.size();
    add_from(item.sides[0], left_join, on);
    add_from(right, item.kind == F::LeftJoin, item.on.get());
    if (!item.using_columns.empty()) add_using(item, first_left);
    if (item.swapped) swapped_ = item.location;
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

// JOIN ... USING (a): the a of both sides is equal, and named without a table it is that of the left side.
void QueryCompiler::add_using(const sql::FromItem& join, std::size_t first_left) {
  ScopeEntry& right = scope_.entries.back();
  auto column = [&](const ScopeEntry& entry, const std::string& name) {
    const auto it = std::find(entry.columns.begin(), entry.columns.end(), name);
    Node n;
    n.op = Op::Column;
    n.src = static_cast<std::uint8_t>(entry.src);
    n.a = static_cast<std::int32_t>(it - entry.columns.begin());
    return it == entry.columns.end() ? kNoExpr : state_.add(n);
  };
  for (const std::string& name : join.using_columns) {
    ExprId left = kNoExpr;
    for (std::size_t i = first_left; i + 1 < scope_.entries.size() && left == kNoExpr; ++i) {
      left = column(scope_.entries[i], name);
    }
    Node equal;
    equal.op = Op::Eq;
    equal.a = left;
    equal.b = column(right, name);
    if (equal.a == kNoExpr || equal.b == kNoExpr) {
      exprs_.error(join.location, "column \"" + name + "\" of USING is not on both sides of the join");
      return;
    }
    ExprId& on = query_.sources.back().on;
    Node both;
    both.op = Op::And;
    both.a = on;
    both.b = state_.add(equal);
    on = on == kNoExpr ? both.b : state_.add(both);
    right.merged.push_back(name);
  }
}

void QueryCompiler::add_common_table(CommonTableDef& common, Source& source, ScopeEntry& entry) {
  if (common.part < 0 && common.select != nullptr && common.select->locking && exprs_.parts != nullptr) {
    set_part(common, exprs_.parts->select_part(*common.select, common.before));
  }
  if (common.part >= 0) {
    source.kind = Source::Kind::Part;
    source.index = common.part;
    entry.columns = common.part_columns;
    entry.types = common.part_types;
  } else if (common.select != nullptr) {
    QueryCompiler inner(exprs_);
    Scope visible;
    visible.common = common.before;
    source.kind = Source::Kind::Query;
    source.index = inner.compile(*common.select, &visible);
    entry.columns = inner.columns();
    entry.types = inner.types();
  }
  for (std::size_t i = 0; i < common.columns.size() && i < entry.columns.size(); ++i) entry.columns[i] = common.columns[i];
}

void QueryCompiler::add_table(const sql::FromItem& item, Source& source, ScopeEntry& entry) {
  if (item.schema.empty()) {
    if (CommonTableDef* common = find_common(scope_, item.table)) {
      add_common_table(*common, source, entry);
      return;
    }
  }
  if (item.schema == "facts") {
    static const std::vector<std::string> names = {"told", "effects", "operations", "foreign_releases", "redis_keys",
                                                    "queued", "keys", "published", "refusals", "answers"};
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

}  // namespace oncecheck

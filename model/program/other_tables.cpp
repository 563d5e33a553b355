#include "model/program/other_tables.hpp"

#include <algorithm>

#include "model/program/query_compiler.hpp"

namespace oncecheck {

namespace {

// Tables and conditions of FROM and WHERE, inner joins taken apart.
struct Join {
  std::vector<sql::FromItem> tables;
  std::vector<sql::Expr> conditions;

  bool take(const sql::FromItem& item) {
    if (item.kind == sql::FromKind::Table) {
      tables.push_back(item);
      return true;
    }
    if ((item.kind != sql::FromKind::InnerJoin && item.kind != sql::FromKind::CrossJoin) || !item.using_columns.empty()) return false;
    if (!take(item.sides[0]) || !take(item.sides[1])) return false;
    if (item.on) take(*item.on);
    return true;
  }

  void take(const sql::Expr& condition) {
    if (condition.kind != sql::ExprKind::Binary || condition.name != "and") {
      conditions.push_back(condition);
      return;
    }
    for (const sql::Expr& part : condition.args) take(part);
  }
};

const std::string& shown_name(const sql::FromItem& item) { return item.alias.empty() ? item.table : item.alias; }

bool names_table(const sql::Expr& e, const std::string& name) {
  // A column without its table may be anyone's, and a subquery may name it.
  if (e.select || (e.kind == sql::ExprKind::Column && (e.qualifier.empty() || e.qualifier == name))) return true;
  return std::any_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return names_table(a, name); });
}

// The columns of `table` that have one value for each row of the others.
std::vector<std::string> given_columns(const Join& join, const std::string& table) {
  std::vector<std::string> columns;
  for (const sql::Expr& e : join.conditions) {
    if (e.kind != sql::ExprKind::Binary || e.name != "=") continue;
    for (int side : {0, 1}) {
      const sql::Expr &column = e.args[static_cast<std::size_t>(side)], &value = e.args[static_cast<std::size_t>(1 - side)];
      if (column.kind == sql::ExprKind::Column && column.qualifier == table && !names_table(value, table)) columns.push_back(column.name);
    }
  }
  return columns;
}

bool at_most_once(const CompileState& state, const Join& join, const sql::FromItem& item, int db) {
  const int t = item.schema.empty() ? state.find_table(db, item.table) : -1;
  if (t < 0) return false;
  const TableLayout& table = state.program.plan.layout.tables[static_cast<std::size_t>(t)];
  const std::vector<std::string> given = given_columns(join, shown_name(item));
  return std::any_of(table.indexes.begin(), table.indexes.end(), [&](const Index& i) {
    return i.unique && i.where == kNoExpr && std::all_of(i.columns.begin(), i.columns.end(), [&](int c) {
      return std::find(given.begin(), given.end(), table.columns[static_cast<std::size_t>(c)]) != given.end();
    });
  });
}

}  // namespace

sql::Expr number_one(int location) {
  sql::Expr one;
  one.kind = sql::ExprKind::Int;
  one.number = 1;
  one.location = location;
  return one;
}

bool names_column(const sql::Expr& e) {
  if (e.kind == sql::ExprKind::Column || e.select) return true;
  return std::any_of(e.args.begin(), e.args.end(), names_column);
}

sql::Expr over_other_tables(sql::ExprKind kind, const sql::Expr& value, const std::vector<sql::FromItem>& from,
                            const std::shared_ptr<sql::Expr>& where) {
  auto select = std::make_shared<sql::Select>();
  select->location = value.location;
  select->targets.push_back({value, ""});
  select->from = from;
  select->where = where;
  select->limit = std::make_shared<sql::Expr>(number_one(value.location));
  sql::Expr out;
  out.kind = kind;
  out.select = select;
  out.location = value.location;
  return out;
}

std::optional<sql::Select> locked_table_alone(const CompileState& state, const sql::Select& s, int db) {
  if (is_innodb(state.engine(db)) || !s.locking || s.locking->of.size() != 1 || !s.with.empty()) return std::nullopt;
  Join join;
  for (const sql::FromItem& item : s.from) {
    if (!join.take(item)) return std::nullopt;
  }
  const auto locked = std::find_if(join.tables.begin(), join.tables.end(),
                                   [&](const sql::FromItem& item) { return shown_name(item) == s.locking->of[0]; });
  if (join.tables.size() < 2 || locked == join.tables.end()) return std::nullopt;
  if (s.where) join.take(*s.where);
  sql::Select alone = s;
  alone.from = {*locked};
  join.tables.erase(locked);
  for (const sql::FromItem& other : join.tables) {
    if (!at_most_once(state, join, other, db)) return std::nullopt;
  }
  auto condition = std::make_shared<sql::Expr>(join.conditions[0]);
  for (std::size_t i = 1; i < join.conditions.size(); ++i) {
    sql::Expr both;
    both.kind = sql::ExprKind::Binary;
    both.name = "and";
    both.location = condition->location;
    both.args = {*condition, join.conditions[i]};
    condition = std::make_shared<sql::Expr>(std::move(both));
  }
  const auto over_others = [&](sql::Expr& e) { e = over_other_tables(sql::ExprKind::Scalar, e, join.tables, condition); };
  alone.where = std::make_shared<sql::Expr>(over_other_tables(sql::ExprKind::Exists, number_one(s.location), join.tables, condition));
  for (sql::Target& t : alone.targets) {
    if (t.expr.kind == sql::ExprKind::Star) {
      if (t.expr.qualifier != s.locking->of[0]) return std::nullopt;
      continue;
    }
    if (t.alias.empty()) t.alias = target_name(t);
    if (names_column(t.expr)) over_others(t.expr);
  }
  for (sql::OrderItem& item : alone.order_by) {
    const auto is_alias = [&](const sql::Target& t) {
      return item.expr.kind == sql::ExprKind::Column && item.expr.qualifier.empty() && target_name(t) == item.expr.name;
    };
    if (std::none_of(s.targets.begin(), s.targets.end(), is_alias) && names_column(item.expr)) over_others(item.expr);
  }
  return alone;
}

}  // namespace oncecheck

#include "model/program/premise.hpp"

#include <algorithm>

#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

bool has_subquery(const sql::Expr& e) {
  return e.select != nullptr || std::any_of(e.args.begin(), e.args.end(), [](const sql::Expr& a) { return has_subquery(a); });
}

bool asks_for_null(const sql::Expr& e) {
  return e.kind == sql::ExprKind::IsNull || std::any_of(e.args.begin(), e.args.end(), [](const sql::Expr& a) { return asks_for_null(a); });
}

// Every column is one of OLD, and there is one.
bool about_old(const sql::Expr& e, bool& some) {
  if (e.select != nullptr) return false;
  if (e.kind == sql::ExprKind::Column) {
    some = true;
    return e.qualifier == "old";
  }
  return std::all_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return about_old(a, some); });
}

void conjuncts(const sql::Expr& e, std::vector<sql::Expr>& out) {
  if (e.kind == sql::ExprKind::Binary && e.name == "and") {
    for (const sql::Expr& a : e.args) conjuncts(a, out);
  } else {
    out.push_back(e);
  }
}

template <class Keep>
std::shared_ptr<sql::Expr> those(const std::vector<sql::Expr>& all, const Keep& keep) {
  std::shared_ptr<sql::Expr> out;
  for (const sql::Expr& e : all) {
    if (!keep(e)) continue;
    if (out == nullptr) {
      out = std::make_shared<sql::Expr>(e);
      continue;
    }
    sql::Expr both;
    both.kind = sql::ExprKind::Binary;
    both.name = "and";
    both.args = {*out, e};
    out = std::make_shared<sql::Expr>(std::move(both));
  }
  return out;
}

sql::Target one() {
  sql::Target out;
  out.expr.kind = sql::ExprKind::Int;
  out.expr.number = 1;
  return out;
}

void open_table(sql::CommonTable& table);

// The rows that a query would give if it asked for less, by the rule of premise_of: the columns are the same.
sql::Select opened(sql::Select select, bool eventually);

// Each table has a row; which ones belong together is asked only by USING.
void open_joins(sql::FromItem& item) {
  if (item.select != nullptr) item.select = std::make_shared<sql::Select>(opened(*item.select, false));
  if (item.sides.empty()) return;
  if (item.kind == sql::FromKind::LeftJoin) {
    // The second side may be missing.
    sql::FromItem first = item.sides[0];
    item = std::move(first);
    open_joins(item);
    return;
  }
  if (item.using_columns.empty()) {
    item.kind = sql::FromKind::CrossJoin;
    item.on = nullptr;
  }
  for (sql::FromItem& side : item.sides) open_joins(side);
}

bool names(const sql::FromItem& item, const std::string& alias) {
  return (item.alias.empty() ? item.table : item.alias) == alias ||
         std::any_of(item.sides.begin(), item.sides.end(), [&](const sql::FromItem& s) { return names(s, alias); });
}

// Whether the condition can be asked of these tables. One without a qualifier is left to the compiler.
bool can_ask(const sql::Expr& e, const std::vector<sql::FromItem>& from) {
  if (e.kind == sql::ExprKind::Column && !e.qualifier.empty() && e.qualifier.find('.') == std::string::npos &&
      std::none_of(from.begin(), from.end(), [&](const sql::FromItem& f) { return names(f, e.qualifier); })) {
    return false;
  }
  return std::all_of(e.args.begin(), e.args.end(), [&](const sql::Expr& a) { return can_ask(a, from); });
}

void open_table(sql::CommonTable& table) {
  if (table.statement == nullptr || table.statement->kind != sql::StatementKind::Select) return;
  auto statement = std::make_shared<sql::Statement>(*table.statement);
  statement->select = std::make_shared<sql::Select>(opened(*statement->select, false));
  table.statement = statement;
}

sql::Select opened(sql::Select select, bool eventually) {
  for (sql::CommonTable& table : select.with) open_table(table);
  if (select.op != sql::SetOp::None) {
    const bool left_only = select.op == sql::SetOp::Except || select.op == sql::SetOp::Intersect;
    select.left = std::make_shared<sql::Select>(opened(*select.left, eventually));
    if (left_only) return *select.left;
    select.right = std::make_shared<sql::Select>(opened(*select.right, eventually));
    return select;
  }
  for (sql::FromItem& item : select.from) open_joins(item);
  const bool grouped = select.having != nullptr;
  select.having = nullptr;
  select.order_by.clear();
  select.limit = select.offset = nullptr;
  if (select.where == nullptr) return select;
  std::vector<sql::Expr> all;
  conjuncts(*select.where, all);
  select.where = nullptr;
  if (grouped || eventually || std::any_of(all.begin(), all.end(), has_subquery)) {
    select.where = those(all, [&](const sql::Expr& e) { return !has_subquery(e) && can_ask(e, select.from); });
  }
  return select;
}

}  // namespace

sql::Select premise_of(const sql::Select& promise, bool eventually) {
  if (promise.op != sql::SetOp::None) {
    sql::Select left = premise_of(*promise.left, eventually);
    sql::Select out;
    if (promise.op == sql::SetOp::Except || promise.op == sql::SetOp::Intersect) {
      out = std::move(left);
    } else {
      out.op = sql::SetOp::UnionAll;
      out.left = std::make_shared<sql::Select>(std::move(left));
      out.right = std::make_shared<sql::Select>(premise_of(*promise.right, eventually));
    }
    out.with = promise.with;
    for (sql::CommonTable& table : out.with) open_table(table);
    return out;
  }
  if (!promise.values.empty()) return promise;
  sql::Select out = opened(promise, eventually);
  out.targets = {one()};
  out.distinct = false;
  out.distinct_on.clear();
  out.group_by.clear();
  return out;
}

sql::Select premise_of_step(const sql::Expr& promise, const std::string& schema, const std::string& table) {
  sql::Select out;
  out.targets = {one()};
  sql::FromItem item;
  item.schema = schema;
  item.table = table;
  item.alias = "old";
  out.from = {item};
  std::vector<sql::Expr> all;
  conjuncts(promise, all);
  out.where = those(all, [](const sql::Expr& e) {
    bool some = false;
    // Before a row is there, OLD is all NULL: any row has been such a one.
    return about_old(e, some) && some && !asks_for_null(e);
  });
  return out;
}

}  // namespace oncecheck

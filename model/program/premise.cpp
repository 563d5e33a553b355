#include "model/program/premise.hpp"

#include <algorithm>

#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

bool has_subquery(const sql::Expr& e) {
  return e.select != nullptr || std::any_of(e.args.begin(), e.args.end(), [](const sql::Expr& a) { return has_subquery(a); });
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

// Each table has a row; which ones belong together is not asked.
void open_joins(sql::FromItem& item) {
  if (item.sides.empty()) return;
  if (item.kind == sql::FromKind::LeftJoin) {
    // The second side may be missing.
    sql::FromItem first = item.sides[0];
    item = std::move(first);
    open_joins(item);
    return;
  }
  item.kind = sql::FromKind::CrossJoin;
  item.on = nullptr;
  item.using_columns.clear();
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

}  // namespace

sql::Select premise_of(const sql::Select& promise) {
  if (promise.op != sql::SetOp::None) {
    sql::Select left = premise_of(*promise.left);
    if (promise.op == sql::SetOp::Except || promise.op == sql::SetOp::Intersect) {
      left.with = promise.with;
      return left;
    }
    sql::Select out;
    out.with = promise.with;
    out.op = sql::SetOp::UnionAll;
    out.left = std::make_shared<sql::Select>(std::move(left));
    out.right = std::make_shared<sql::Select>(premise_of(*promise.right));
    return out;
  }
  if (!promise.values.empty()) return promise;
  sql::Select out;
  out.with = promise.with;
  out.targets = {one()};
  out.from = promise.from;
  for (sql::FromItem& item : out.from) open_joins(item);
  if (promise.where == nullptr) return out;
  std::vector<sql::Expr> all;
  conjuncts(*promise.where, all);
  const bool any_subquery = std::any_of(all.begin(), all.end(), has_subquery);
  if (promise.having == nullptr && !any_subquery) return out;
  out.where = those(all, [&](const sql::Expr& e) { return !has_subquery(e) && can_ask(e, out.from); });
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
    return about_old(e, some) && some;
  });
  return out;
}

}  // namespace oncecheck

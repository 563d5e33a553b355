// Operators with two sides.
#include <map>

#include "model/program/expr_compiler.hpp"

namespace oncecheck {

namespace {

bool is_logic(Op op) { return op == Op::And || op == Op::Or; }

bool is_arithmetic(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div || op == Op::Mod || op == Op::Quotient;
}

bool is_time(const Typed& t) { return t.type == SqlType::Instant || t.type == SqlType::Interval; }

}  // namespace

Typed ExprCompiler::node(Op op, ExprId a, ExprId b, SqlType type) {
  Node n;
  n.op = op;
  n.a = a;
  n.b = b;
  return {state_.add(n), type};
}

Typed ExprCompiler::binary(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  static const std::map<std::string, Op> ops = {
      {"=", Op::Eq}, {"<>", Op::Ne}, {"<", Op::Lt}, {"<=", Op::Le}, {">", Op::Gt}, {">=", Op::Ge},
      {"+", Op::Add}, {"-", Op::Sub}, {"*", Op::Mul}, {"/", Op::Div}, {"%", Op::Mod}, {"div", Op::Div}, {"||", Op::Concat},
      {"and", Op::And}, {"or", Op::Or}, {"is distinct from", Op::Distinct}, {"is not distinct from", Op::NotDistinct}};
  auto it = ops.find(e.name);
  if (it == ops.end()) {
    error(e.location, "operator " + e.name + " is outside the SQL subset");
    return nothing();
  }
  if (e.args[0].kind == sql::ExprKind::Row || e.args[1].kind == sql::ExprKind::Row) return row_comparison(e, scope, grouping);
  const Op op = mysql_ && e.name == "/" ? Op::Quotient : it->second;
  Typed a = compile(e.args[0], scope, grouping), b = compile(e.args[1], scope, grouping);
  if (is_logic(op)) return logic(op, a, b, e);
  if (!is_arithmetic(op) && op != Op::Concat) return comparison(op, a, b, e);
  if (refuse_decimal(a, e.args[0].location) || refuse_decimal(b, e.args[1].location)) return nothing();
  return op == Op::Concat ? node(op, a.id, b.id, SqlType::Text) : arithmetic(op, a, b, e);
}

Typed ExprCompiler::logic(Op op, Typed a, Typed b, const sql::Expr& e) {
  for (Typed* side : {&a, &b}) {
    if (!coerce(*side, SqlType::Bool)) {
      error(e.location, "AND and OR need conditions, not " + std::string(sql_type_name(side->type)));
    }
  }
  return node(op, a.id, b.id, SqlType::Bool);
}

Typed ExprCompiler::arithmetic(Op op, Typed a, Typed b, const sql::Expr& e) {
  const Node divisor = node_of(b);
  const bool divides = op == Op::Div || op == Op::Mod || op == Op::Quotient;
  if (divides && divisor.op == Op::Const && divisor.val == int_val(0) && !state_.options.run_refused) {
    error(e.location, "division by zero");
  }
  if (is_time(a) || is_time(b)) return time_arithmetic(op, a, b, e);
  for (Typed* side : {&a, &b}) {
    if (!coerce(*side, SqlType::Int)) {
      error(e.location, "operator " + e.name + " needs integers, not " + sql_type_name(side->type));
    }
  }
  if (op == Op::Div && (a.width == Width::Numeric || b.width == Width::Numeric)) {
    error(e.location, "numeric / numeric gives decimals, which are outside the SQL subset: use integer cents, or compare"
                      " products");
  }
  Typed out = node(op, a.id, b.id, op == Op::Quotient ? SqlType::Decimal : SqlType::Int);
  if (a.width == Width::Numeric || b.width == Width::Numeric) out.width = Width::Numeric;
  if (a.width == Width::Unsigned || b.width == Width::Unsigned) out.width = Width::Unsigned;
  if (a.width == Width::Int4 && b.width == Width::Int4) out.width = Width::Int4;
  Node& made = state_.program.plan.code.nodes[static_cast<std::size_t>(out.id)];
  if (out.width == Width::Int4) made.src = kInt4;
  if (out.width == Width::Unsigned) made.src = kUnsigned;
  return out;
}

Typed ExprCompiler::time_arithmetic(Op op, const Typed& a, const Typed& b, const sql::Expr& e) {
  const bool number = a.type == SqlType::Interval && (op == Op::Mul || op == Op::Div);  // interval * n, interval / n
  const bool product = b.type == SqlType::Interval && op == Op::Mul;                    // n * interval
  const bool interval = number || product || (a.type == SqlType::Interval && b.type == SqlType::Interval);
  const bool known = op == Op::Add || op == Op::Sub || number || product;
  if (!known || (product && is_time(a))) error(e.location, "operator " + e.name + " is not defined for these times");
  if (a.type == SqlType::Instant) {
    // Only NOW() can be shifted: a stored instant is a timer, not a number.
    const Op left = node_of(a).op;
    if (left == Op::Column || left == Op::Local || left == Op::Const) {
      error(e.location, "only NOW() can be moved by an interval: write NOW() - interval on the other side of the comparison");
    }
  }
  return node(op, a.id, b.id, interval ? SqlType::Interval : SqlType::Instant);
}

Typed ExprCompiler::comparison(Op op, Typed a, Typed b, const sql::Expr& e) {
  const auto is_number = [](const Typed& t) { return t.type == SqlType::Int || t.type == SqlType::Decimal; };
  if (!is_number(a) || !is_number(b)) unify(a, b, e.location, e.name.c_str());
  const auto aged = [&](const Typed& t) {
    const Op made_by = node_of(t).op;
    return (made_by == Op::Sub || made_by == Op::Add) && t.type == SqlType::Instant;
  };
  if (aged(a) || aged(b)) state_.program.plan.uses_recent = true;
  return node(op, a.id, b.id, SqlType::Bool);
}

// (a, b) = (1, 2): column by column, from the left.
Typed ExprCompiler::row_comparison(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  const sql::Expr &left = e.args[0], &right = e.args[1];
  const bool equal = e.name == "=", differ = e.name == "<>", less = e.name == "<" || e.name == "<=";
  const bool greater = e.name == ">" || e.name == ">=";
  if (left.kind != sql::ExprKind::Row || right.kind != sql::ExprKind::Row || left.args.size() != right.args.size() ||
      left.args.empty()) {
    error(e.location, "a row constructor is compared with a row of as many values: (a, b) = (1, 2)");
    return nothing();
  }
  if (!equal && !differ && !less && !greater) {
    error(e.location, "rows are compared with =, <>, <, <=, > and >= in the SQL subset");
    return nothing();
  }
  const auto pair_of = [&](std::size_t i, const std::string& op) {
    sql::Expr one = e;
    one.name = op;
    one.args = {left.args[i], right.args[i]};
    return binary(one, scope, grouping);
  };
  // a < x OR (a = x AND (b < y ...)), from the last column on.
  std::size_t i = left.args.size() - 1;
  Typed out = pair_of(i, e.name);
  while (i-- > 0) {
    if (equal || differ) {
      out = node(equal ? Op::And : Op::Or, pair_of(i, e.name).id, out.id, SqlType::Bool);
      continue;
    }
    const Typed same = node(Op::And, pair_of(i, "=").id, out.id, SqlType::Bool);
    out = node(Op::Or, pair_of(i, less ? "<" : ">").id, same.id, SqlType::Bool);
  }
  return out;
}

// (a, b) IN ((1, 2), (3, 4)): = with each, and OR.
Typed ExprCompiler::row_in(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  Typed out = nothing();
  if (mysql_ && e.args.size() > 2) {
    error(e.location, "(a, b) IN with several rows is outside the SQL subset for MySQL: which keys it locks is not modelled");
    return out;
  }
  for (std::size_t i = 1; i < e.args.size(); ++i) {
    sql::Expr one = e;
    one.kind = sql::ExprKind::Binary;
    one.name = "=";
    one.args = {e.args[0], e.args[i]};
    const Typed same = row_comparison(one, scope, grouping);
    out = i == 1 ? same : node(Op::Or, out.id, same.id, SqlType::Bool);
  }
  return out;
}

bool ExprCompiler::refuse_decimal(const Typed& t, int location) {
  if (t.type != SqlType::Decimal) return false;
  error(location, "MySQL's / gives a decimal, which the SQL subset only compares, selects or stores into an integer: write DIV");
  return true;
}

Width ExprCompiler::width_of_column(const ScopeEntry& entry, std::size_t column) const {
  if (entry.table.empty()) return Width::Unknown;
  const int table = state_.find_table(state_.find_database(entry.db), entry.table);
  if (table < 0) return Width::Unknown;
  const auto& widths = state_.tables[static_cast<std::size_t>(table)].widths;
  return column < widths.size() ? widths[column] : Width::Unknown;
}

}  // namespace oncecheck

// Visits what an expression or query is made of.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

// Calls visit(const Node&) for each node reachable from `expr`, subqueries included, and visit_query(const Query&) for each query.
template <class Visit, class VisitQuery>
void walk_expr(const Code& code, ExprId expr, Visit&& visit, VisitQuery&& visit_query);

template <class Visit, class VisitQuery>
void walk_query(const Code& code, QueryId id, Visit&& visit, VisitQuery&& visit_query) {
  if (id < 0) return;
  const Query& q = code.queries[static_cast<std::size_t>(id)];
  visit_query(q);
  auto expr = [&](ExprId e) { walk_expr(code, e, visit, visit_query); };
  for (const Source& s : q.sources) {
    expr(s.on);
    if (s.kind == Source::Kind::Query) walk_query(code, s.index, visit, visit_query);
  }
  expr(q.where);
  expr(q.having);
  expr(q.limit);
  expr(q.offset);
  for (ExprId e : q.keys) expr(e);
  for (ExprId e : q.targets) expr(e);
  for (const AggSpec& a : q.aggs) expr(a.arg);
  for (const Order& o : q.order) expr(o.expr);
  for (const auto& row : q.values) {
    for (ExprId e : row) expr(e);
  }
  walk_query(code, q.left, visit, visit_query);
  walk_query(code, q.right, visit, visit_query);
}

template <class Visit, class VisitQuery>
void walk_expr(const Code& code, ExprId id, Visit&& visit, VisitQuery&& visit_query) {
  if (id < 0) return;
  const Node& n = code.nodes[static_cast<std::size_t>(id)];
  visit(n);
  auto expr = [&](ExprId e) { walk_expr(code, e, visit, visit_query); };
  if (n.args >= 0) {
    for (int i = 0; i < n.b; ++i) expr(code.args[static_cast<std::size_t>(n.args + i)]);
    return;
  }
  switch (n.op) {
    case Op::Const:
    case Op::Local:
    case Op::Column:
    case Op::Key:
    case Op::Agg:
    case Op::Now:
    case Op::FreshUuid: return;
    case Op::NextVal: expr(n.b); return;
    case Op::InQuery:
      expr(n.a);
      walk_query(code, n.b, visit, visit_query);
      return;
    case Op::Exists:
    case Op::Scalar: walk_query(code, n.b, visit, visit_query); return;
    default:
      expr(n.a);
      expr(n.b);
  }
}

// Every expression that a statement and its parts evaluate, queries left out. What an access path names is in WHERE too.
template <class Visit>
void each_expr(const SqlStatement& s, Visit&& visit) {
  for (const SqlStatement& part : s.parts) each_expr(part, visit);
  visit(s.lock_key);
  visit(s.lock_wait);
  visit(s.where);
  visit(s.conflict_where);
  visit(s.limit);
  visit(s.offset);
  for (const auto& [column, e] : s.set) visit(e);
  for (const auto& [column, e] : s.conflict_set) visit(e);
  for (const auto& row : s.rows) {
    for (ExprId e : row) visit(e);
  }
  for (ExprId e : s.defaults) visit(e);
  for (ExprId e : s.targets) visit(e);
  for (const Order& o : s.order) visit(o.expr);
}

// The queries that a statement and its parts run by themselves; -1 among them is none.
template <class Visit>
void each_query(const SqlStatement& s, Visit&& visit) {
  for (const SqlStatement& part : s.parts) each_query(part, visit);
  visit(s.query);
}

}  // namespace oncecheck

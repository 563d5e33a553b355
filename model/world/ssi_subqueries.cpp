#include "model/world/ssi_subqueries.hpp"

#include <algorithm>

#include "model/world/code_walk.hpp"
#include "model/world/ssi.hpp"

namespace oncecheck {

namespace {

constexpr auto kNothing = [](const auto&) {};

bool is_subquery(Op op) { return op == Op::InQuery || op == Op::Exists || op == Op::Scalar; }

bool has_subquery(const Code& code, ExprId e) {
  bool found = false;
  walk_expr(code, e, [&](const Node& n) { found = found || is_subquery(n.op); }, kNothing);
  return found;
}

bool is_gate(const Code& code, ExprId e, int first, int sources) {
  bool fixed = true;
  walk_expr(code, e, [&](const Node& n) {
    const bool own = n.op == Op::Column && n.src >= first && n.src < first + sources;
    const bool varies = n.op == Op::FreshUuid || n.op == Op::NextVal || (n.op == Op::Now && n.b == kNowClock);
    fixed = fixed && !own && !varies;
  }, kNothing);
  return fixed;
}

// Calls test(condition) for the conditions that AND joins; false as soon as one of them does.
template <class Test>
bool every(const Code& code, ExprId e, const Test& test) {
  if (e == kNoExpr) return true;
  const Node& n = code.nodes[static_cast<std::size_t>(e)];
  if (n.op == Op::And) return every(code, n.a, test) && every(code, n.b, test);
  return test(e);
}

bool depends_on_row(const Code& code, QueryId id) {
  const int first = code.queries[static_cast<std::size_t>(id)].first_src;
  bool depends = false;
  walk_query(code, id, [&](const Node& n) { depends = depends || (n.op == Op::Column && n.src < first); }, kNothing);
  return depends;
}

void read_ahead(Context& ctx, QueryId id) {
  const Code& code = ctx.plan.code;
  if (!depends_on_row(code, id)) {
    const std::size_t mark = ctx.scratch.mark();
    run_query(ctx, id);
    ctx.scratch.release(mark);
    return;
  }
  walk_query(code, id, kNothing, [&](const Query& q) {
    for (const Source& s : q.sources) {
      if (s.kind == Source::Kind::Table) ssi_scan(ctx, s.index, AccessPath{});
    }
  });
}

bool reads_table(const Code& code, QueryId id) {
  bool reads = false;
  walk_query(code, id, kNothing, [&](const Query& q) {
    for (const Source& s : q.sources) reads = reads || s.kind == Source::Kind::Table;
  });
  return reads;
}

// Calls visit(query) for each subquery of a WHERE that is no gate and reads a table, those within it included.
template <class Visit>
void each_subquery(const Code& code, ExprId where, int first, int sources, const Visit& visit) {
  every(code, where, [&](ExprId e) {
    if (is_gate(code, e, first, sources)) return true;
    walk_expr(code, e, [&](const Node& n) {
      if (is_subquery(n.op) && reads_table(code, n.b)) visit(n.b);
    }, kNothing);
    return true;
  });
}

template <class Visit>
void each_subquery(const Code& code, const SqlStatement& s, const Visit& visit) {
  each_subquery(code, s.where, 0, 1, visit);
  walk_query(code, s.query, kNothing, [&](const Query& q) {
    each_subquery(code, q.where, q.first_src, static_cast<int>(q.sources.size()), visit);
  });
}

}  // namespace

bool asks_subqueries(const Code& code, const SqlStatement& statement) {
  bool found = false;
  each_subquery(code, statement, [&](QueryId) { found = true; });
  return found || std::any_of(statement.parts.begin(), statement.parts.end(),
                              [&](const SqlStatement& part) { return asks_subqueries(code, part); });
}

bool gates_open(Context& ctx, ExprId where, int first, int sources) {
  const Code& code = ctx.plan.code;
  return every(code, where, [&](ExprId e) { return !is_gate(code, e, first, sources) || is_true(eval(ctx, e)); });
}

bool row_passes(Context& ctx, ExprId where) {
  const Code& code = ctx.plan.code;
  return every(code, where, [&](ExprId e) { return has_subquery(code, e) || is_true(eval(ctx, e)); }) &&
         every(code, where, [&](ExprId e) { return !has_subquery(code, e) || is_true(eval(ctx, e)); });
}

void read_subqueries(Context& ctx, const SqlStatement& statement) {
  each_subquery(ctx.plan.code, statement, [&](QueryId id) { read_ahead(ctx, id); });
}

}  // namespace oncecheck

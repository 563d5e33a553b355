// The evaluator. Semantics: PostgreSQL manual, chapters 9.1 to 9.3 and 9.18 (three-valued logic, comparison, conditionals).
#include <string>

#include "model/world/arithmetic.hpp"
#include "model/world/cells.hpp"
#include "model/world/context.hpp"
#include "model/world/instant.hpp"
#include "model/world/sequence.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

bool sees_ahead(const Context& ctx, int slot, int session) {
  if (ctx.clock_ahead && deadline_state(ctx.plan.layout, ctx.w, slot) == kRunning) return false;
  return deadline_ahead(ctx.plan.layout, ctx.w, slot, session);
}


constexpr int kBefore = -1, kSame = 0, kAfter = 1;

bool is_now(Kind k) { return k == Kind::NowRel || k == Kind::ClockRel; }

bool is_instant(Kind k) {
  return k == Kind::Instant || k == Kind::Past || k == Kind::Deadline || k == Kind::Recent || is_now(k);
}

// NOW() is not later than the clock; how much earlier it is nobody knows.
int now_against_clock(Context& ctx, std::int64_t now, std::int64_t clock) {
  if (now > clock) ctx.fail(LimitKind::InstantOrder);
  return kBefore;
}

// A stored instant against `now` (NOW() or the clock, with its offset). Interval lengths are not compared with each other:
// any running timer may be the next to fire (untimed).
int against_now(Context& ctx, const Val& v, const Val& now) {
  const std::int64_t offset = now.n;
  const int session = ctx.clock >= 0 ? ctx.clock : now.kind == Kind::ClockRel ? -1 : ctx.session;
  switch (v.kind) {
    case Kind::Past: return kBefore;
    case Kind::Instant: return v.n < kScenarioNow ? kBefore : kAfter;
    case Kind::Recent:
      // Before NOW(); and after NOW() - interval for as long as it has not grown old.
      if (offset >= 0) return kBefore;
      return sees_ahead(ctx, static_cast<int>(v.n), session) ? kAfter : kBefore;
    case Kind::Deadline: {
      bool ahead = sees_ahead(ctx, static_cast<int>(v.n), session);
      if (!ahead) return kBefore;
      if (offset > 0) ctx.fail(LimitKind::InstantOrder);
      return kAfter;
    }
    case Kind::NowRel:
    case Kind::ClockRel:
      if (v.kind != now.kind) {
        return v.kind == Kind::NowRel ? now_against_clock(ctx, v.n, offset) : -now_against_clock(ctx, offset, v.n);
      }
      return v.n < offset ? kBefore : v.n > offset ? kAfter : kSame;
    default: return kSame;
  }
}

int compare_instants(Context& ctx, const Val& a, const Val& b) {
  if (is_now(b.kind)) return against_now(ctx, a, b);
  if (is_now(a.kind)) return -against_now(ctx, b, a);
  if (a.kind == Kind::Instant && b.kind == Kind::Instant) return a.n < b.n ? kBefore : a.n > b.n ? kAfter : kSame;
  if (a.kind == Kind::Instant) return a.n < kScenarioNow ? kBefore : kAfter;
  if (b.kind == Kind::Instant) return b.n < kScenarioNow ? kAfter : kBefore;
  if (a == b) {
    // Two instants that have both passed look alike although they may differ; whoever asks gets no answer.
    if (a.kind == Kind::Past) ctx.fail(LimitKind::InstantOrder);
    return kSame;
  }
  if (a.kind == Kind::Past) return kBefore;
  if (b.kind == Kind::Past) return kAfter;
  if (a.kind == Kind::Recent && b.kind == Kind::Deadline) return kBefore;
  if (a.kind == Kind::Deadline && b.kind == Kind::Recent) return kAfter;
  ctx.fail(LimitKind::InstantOrder);
  return kSame;
}

Val concat(Context& ctx, const Val& a, const Val& b) {
  if (a.is_null() || b.is_null()) return null_val();
  std::string text;
  for (const Val* v : {&a, &b}) {
    if (v->kind == Kind::Text && v->n != kUnknownText) {
      text += ctx.plan.domain.text(v->n);
    } else if (v->kind == Kind::Int) {
      text += std::to_string(v->n);
    } else if (v->kind == Kind::Bool) {
      text += v->n != 0 ? "true" : "false";
    } else {
      ctx.fail(LimitKind::UnknownText);
      return null_val();
    }
  }
  const std::int64_t index = ctx.plan.domain.text_index(text);
  if (index == kUnknownText && ctx.missing != nullptr) ctx.missing->texts.push_back(text);
  return text_val(index);
}

bool like(std::string_view s, std::string_view p) {
  if (p.empty()) return s.empty();
  if (p[0] == '%') {
    for (std::size_t i = 0; i <= s.size(); ++i) {
      if (like(s.substr(i), p.substr(1))) return true;
    }
    return false;
  }
  if (s.empty()) return false;
  if (p[0] == '\\' && p.size() > 1) return s[0] == p[1] && like(s.substr(1), p.substr(2));
  return (p[0] == '_' || p[0] == s[0]) && like(s.substr(1), p.substr(1));
}

Val compare_op(Context& ctx, Op op, const Val& a, const Val& b) {
  if (a.is_null() || b.is_null()) return null_val();
  int c = compare(ctx, a, b);
  switch (op) {
    case Op::Eq: return bool_val(c == 0);
    case Op::Ne: return bool_val(c != 0);
    case Op::Lt: return bool_val(c < 0);
    case Op::Le: return bool_val(c <= 0);
    case Op::Gt: return bool_val(c > 0);
    default: return bool_val(c >= 0);
  }
}

Val in_list(Context& ctx, const Node& n) {
  const ExprId* args = &ctx.plan.code.args[static_cast<std::size_t>(n.args)];
  Val needle = eval(ctx, args[0]);
  if (needle.is_null()) return null_val();
  bool unknown = false;
  for (int i = 1; i < n.b; ++i) {
    Val v = eval(ctx, args[i]);
    if (v.is_null()) {
      unknown = true;
    } else if (compare(ctx, needle, v) == 0) {
      return bool_val(true);
    }
  }
  return unknown ? null_val() : bool_val(false);
}

Val in_query(Context& ctx, const Node& n) {
  std::size_t mark = ctx.scratch.mark();
  Rows rows = run_query(ctx, n.b);
  Val needle = eval(ctx, n.a);
  Val result = bool_val(false);
  if (rows.count > 0) {
    bool unknown = needle.is_null();
    for (int i = 0; i < rows.count && !needle.is_null() && !is_true(result); ++i) {
      const Val& v = rows.row(i)[0];
      if (v.is_null()) {
        unknown = true;
      } else if (compare(ctx, needle, v) == 0) {
        result = bool_val(true);
      }
    }
    if (!is_true(result) && unknown) result = null_val();
  }
  ctx.scratch.release(mark);
  return result;
}

Val scalar_query(Context& ctx, const Node& n) {
  std::size_t mark = ctx.scratch.mark();
  Rows rows = run_query(ctx, n.b, 2);
  Val result = rows.count > 0 ? rows.row(0)[0] : null_val();
  if (rows.count > 1) ctx.raise(ErrorClass::CardinalityViolation);  // 21000, 1242
  ctx.scratch.release(mark);
  return result;
}

Val extreme(Context& ctx, const Node& n) {
  const ExprId* args = &ctx.plan.code.args[static_cast<std::size_t>(n.args)];
  Val best = null_val();
  for (int i = 0; i < n.b; ++i) {
    Val v = eval(ctx, args[i]);
    if (v.is_null() && n.a == 1) return v;
    if (v.is_null()) continue;
    int c = best.is_null() ? 0 : compare(ctx, v, best);
    if (best.is_null() || (n.op == Op::Greatest ? c > 0 : c < 0)) best = v;
  }
  return best;
}

Val case_of(Context& ctx, const Node& n) {
  const ExprId* args = &ctx.plan.code.args[static_cast<std::size_t>(n.args)];
  int i = 0;
  for (; i + 1 < n.b; i += 2) {
    if (is_true(eval(ctx, args[i]))) return eval(ctx, args[i + 1]);
  }
  return i < n.b ? eval(ctx, args[i]) : null_val();
}

Val column(Context& ctx, const Node& n) {
  const RowSource& source = ctx.sources[n.src];
  if (source.cells != nullptr) {
    return ctx.plan.domain.decode(load_cell(ctx.plan.layout, source.cells + n.a * ctx.plan.layout.cell));
  }
  return source.vals != nullptr ? source.vals[n.a] : null_val();
}

Val logic(Context& ctx, const Node& n) {
  const bool absorbing = n.op == Op::Or;
  Val a = eval(ctx, n.a);
  if (!a.is_null() && (a.n != 0) == absorbing) return a;
  Val b = eval(ctx, n.b);
  if (!b.is_null() && (b.n != 0) == absorbing) return b;
  return a.is_null() || b.is_null() ? null_val() : bool_val(!absorbing);
}

}  // namespace

int compare(Context& ctx, const Val& a, const Val& b) {
  if (is_instant(a.kind) && is_instant(b.kind)) return compare_instants(ctx, a, b);
  if (a.kind != b.kind) {
    const auto is_number = [](Kind k) { return k == Kind::Int || k == Kind::Decimal; };
    if (is_number(a.kind) && is_number(b.kind)) return compare_numbers(a, b);
    return a.kind < b.kind ? kBefore : kAfter;
  }
  if (a.kind == Kind::Text && a.n == kUnknownText && b.n == kUnknownText) ctx.fail(LimitKind::UnknownText);
  return a.n < b.n ? kBefore : a.n > b.n ? kAfter : kSame;
}

Val take_fresh(Context& ctx) {
  const Layout& layout = ctx.plan.layout;
  if (!ctx.fresh_scanned) {
    ctx.fresh_scanned = true;
    const CellId first = ctx.plan.domain.first_fresh();
    each_value_from(layout, ctx.w, first, [&](int, CellId id) {
      if (id < first + ctx.plan.domain.fresh_count()) ctx.fresh_used |= 1ull << (id - first);
    });
  }
  for (int i = 0; i < ctx.plan.domain.fresh_count(); ++i) {
    if (!((ctx.fresh_used >> i) & 1)) {
      ctx.fresh_used |= 1ull << i;
      return {Kind::Fresh, i};
    }
  }
  ctx.fail(LimitKind::Fresh);
  return null_val();
}

Val eval(Context& ctx, ExprId expr) {
  const Node& n = ctx.plan.code.nodes[static_cast<std::size_t>(expr)];
  switch (n.op) {
    case Op::Const: return n.val;
    case Op::Local:
      return ctx.plan.domain.decode(load_cell(ctx.plan.layout, ctx.locals + n.a * ctx.plan.layout.cell));
    case Op::Column: return column(ctx, n);
    case Op::Key: return ctx.keys[n.a];
    case Op::Agg: return ctx.aggs[n.a];
    case Op::And:
    case Op::Or: return logic(ctx, n);
    case Op::Not: {
      Val v = eval(ctx, n.a);
      return v.is_null() ? v : bool_val(v.n == 0);
    }
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge: {
      Val a = eval(ctx, n.a);
      return compare_op(ctx, n.op, a, eval(ctx, n.b));
    }
    case Op::Distinct:
    case Op::NotDistinct: {
      Val a = eval(ctx, n.a), b = eval(ctx, n.b);
      bool same = a.is_null() || b.is_null() ? a.is_null() && b.is_null() : compare(ctx, a, b) == 0;
      return bool_val(same == (n.op == Op::NotDistinct));
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
    case Op::Quotient:
    case Op::RoundedQuotient: {
      Val a = eval(ctx, n.a);
      return arithmetic(ctx, n.op, a, eval(ctx, n.b), n.src);
    }
    case Op::Neg: return negative(ctx, eval(ctx, n.a));
    case Op::Concat: {
      Val a = eval(ctx, n.a);
      return concat(ctx, a, eval(ctx, n.b));
    }
    case Op::IsNull: return bool_val(eval(ctx, n.a).is_null());
    case Op::IsNotNull: return bool_val(!eval(ctx, n.a).is_null());
    case Op::IsTrue: return bool_val(is_true(eval(ctx, n.a)));
    case Op::IsNotTrue: return bool_val(!is_true(eval(ctx, n.a)));
    case Op::IsFalse: {
      Val v = eval(ctx, n.a);
      return bool_val(!v.is_null() && v.n == 0);
    }
    case Op::IsNotFalse: {
      Val v = eval(ctx, n.a);
      return bool_val(v.is_null() || v.n != 0);
    }
    case Op::In: return in_list(ctx, n);
    case Op::Like: {
      Val a = eval(ctx, n.a), b = eval(ctx, n.b);
      if (a.is_null() || b.is_null()) return null_val();
      if (a.kind != Kind::Text || b.kind != Kind::Text || a.n == kUnknownText || b.n == kUnknownText) {
        ctx.fail(LimitKind::UnknownText);
        return null_val();
      }
      return bool_val(like(ctx.plan.domain.text(a.n), ctx.plan.domain.text(b.n)));
    }
    case Op::InQuery: return in_query(ctx, n);
    case Op::Exists: {
      std::size_t mark = ctx.scratch.mark();
      bool any = run_query(ctx, n.b, 1).count > 0;
      ctx.scratch.release(mark);
      return bool_val(any);
    }
    case Op::Scalar: return scalar_query(ctx, n);
    case Op::Case: return case_of(ctx, n);
    case Op::Coalesce: {
      const ExprId* args = &ctx.plan.code.args[static_cast<std::size_t>(n.args)];
      for (int i = 0; i < n.b; ++i) {
        Val v = eval(ctx, args[i]);
        if (!v.is_null()) return v;
      }
      return null_val();
    }
    case Op::Nullif: {
      Val a = eval(ctx, n.a), b = eval(ctx, n.b);
      return !a.is_null() && !b.is_null() && compare(ctx, a, b) == 0 ? null_val() : a;
    }
    case Op::Greatest:
    case Op::Least: return extreme(ctx, n);
    case Op::Now: return {n.b == kNowClock ? Kind::ClockRel : Kind::NowRel, 0};
    case Op::FreshUuid: return take_fresh(ctx);
    case Op::NextVal:
      if (n.src == kAssigned) return eval(ctx, n.b);
      return next_value(ctx, n.a, n.b == kNoExpr ? null_val() : eval(ctx, n.b));
    case Op::IdentityOf: {
      Val v = eval(ctx, n.a);
      if (v.is_null() || is_now(v.kind) || v.kind == Kind::Interval) return v;
      Limit ignored;  // a value outside the domain is no key: it stands for itself
      CellId id = ctx.plan.domain.encode(v, ignored);
      return ignored ? v : ctx.plan.domain.decode(ctx.plan.identity_of[id]);
    }
  }
  return null_val();
}

CellId storable(Context& ctx, Val v) {
  if (ctx.limit) return kNullCell;
  if (is_now(v.kind)) {
    if (v.n > 0 || (v.n == 0 && ctx.plan.uses_recent)) {
      int slot = take_deadline(ctx.plan.layout, ctx.w);
      if (slot < 0) {
        ctx.fail(LimitKind::Deadlines);
        return kNullCell;
      }
      v = {v.n > 0 ? Kind::Deadline : Kind::Recent, slot};
    } else {
      v = {Kind::Past, 0};
    }
  }
  const bool before = static_cast<bool>(ctx.limit);
  const CellId id = ctx.plan.domain.encode(v, ctx.limit);
  if (!before && ctx.limit && ctx.missing != nullptr && v.kind == Kind::Int) ctx.missing->ints.push_back(v.n);
  return id;
}

CellId eval_cell(Context& ctx, ExprId expr) { return storable(ctx, eval(ctx, expr)); }

}  // namespace oncecheck

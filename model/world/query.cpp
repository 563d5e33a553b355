// Runs compiled SELECTs: nested-loop join, filter, group, order. Rows come in slot order where no ORDER BY asks otherwise.
#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/context.hpp"
#include "model/world/facts.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/ssi.hpp"
#include "model/world/ssi_subqueries.hpp"

namespace oncecheck {

namespace {

constexpr int kMaxWidth = 40;  // columns and order keys of one result row

int compare_nulls(Context& ctx, const Val& a, const Val& b, const Order& order) {
  if (a.is_null() || b.is_null()) {
    if (a.is_null() && b.is_null()) return 0;
    return a.is_null() == order.nulls_first ? -1 : 1;
  }
  int c = compare(ctx, a, b);
  return order.descending ? -c : c;
}

class QueryRun {
 public:
  QueryRun(Context& ctx, const Query& q, int at_most) : ctx_(ctx), q_(q) {
    // A row of the joined input: what is emitted plus its order keys; grouped queries collect keys and arguments first.
    stop_ = q.order.empty() && !q.grouped && q.distinct_on == 0 && !q.distinct && q.offset == kNoExpr ? at_most : -1;
    if (q.grouped) {
      row_width_ = static_cast<int>(q.keys.size() + q.aggs.size());
    } else {
      row_width_ = q.width + static_cast<int>(q.order.size());
    }
    rows_.width = row_width_;
    tracked_ = ctx.session >= 0 && ctx.reader == nullptr && ssi_tracked(ctx.plan, ctx.w, ctx.session);
  }

  Rows run() {
    if (q_.limit != kNoExpr) limit_ = bound(q_.limit);
    if (q_.offset != kNoExpr) offset_ = bound(q_.offset);
    const bool ordered = q_.order.empty() || (ctx_.reader != nullptr && q_.sources.size() == 1 && q_.sources[0].access.in_order);
    if (stop_ < 0 && ordered && !q_.grouped && !q_.distinct && q_.distinct_on == 0 && limit_ >= 0) stop_ = limit_ + offset_;
    prepare_sources();
    rows_.base = ctx_.scratch.top();
    if (stop_ != 0 && (!tracked_ || gates_open(ctx_, q_.where, q_.first_src, static_cast<int>(q_.sources.size())))) join(0);
    if (q_.grouped) group();
    if (!q_.order.empty()) sort_rows();
    if (q_.distinct_on > 0) keep_first_of_each();
    if (rows_.width != q_.width) strip_order_keys();
    if (q_.distinct) remove_duplicates();
    cut();
    return rows_;
  }

 private:
  int bound(ExprId e) {
    Val v = eval(ctx_, e);
    if (v.kind == Kind::Int && v.n < 0) ctx_.raise(ErrorClass::NegativeLimit);
    return v.kind == Kind::Int && v.n >= 0 ? static_cast<int>(std::min<std::int64_t>(v.n, 1 << 20)) : -1;
  }

  void prepare_sources() {
    for (std::size_t i = 0; i < q_.sources.size(); ++i) {
      const Source& s = q_.sources[i];
      if (s.kind == Source::Kind::Facts) inputs_[i] = fact_rows(ctx_, static_cast<FactTable>(s.index));
      if (s.kind == Source::Kind::Query) inputs_[i] = run_query(ctx_, s.index);
      if (s.kind == Source::Kind::Part) inputs_[i] = ctx_.parts[s.index];
    }
  }

  bool full() const { return stop_ >= 0 && rows_.count >= stop_; }

  void join(std::size_t level) {
    if (full() || ctx_.limit) return;
    if (level == q_.sources.size()) {
      const bool passes = tracked_ ? row_passes(ctx_, q_.where) : q_.where == kNoExpr || is_true(eval(ctx_, q_.where));
      if (passes) emit();
      return;
    }
    const Source& s = q_.sources[level];
    RowSource& row = ctx_.sources[q_.first_src + static_cast<int>(level)];
    bool matched = false;
    auto visit = [&] {
      if (s.on != kNoExpr && !is_true(eval(ctx_, s.on))) return;
      matched = true;
      join(level + 1);
    };
    if (s.kind == Source::Kind::Table && ctx_.reader != nullptr) {
      RowCursor cursor;
      ctx_.reader->open(s, cursor);
      const TableLayout& table = ctx_.plan.layout.tables[static_cast<std::size_t>(s.index)];
      while (!full()) {
        const std::uint8_t* v = ctx_.reader->next(cursor);
        if (v == nullptr) break;
        row = {v + table.cells, nullptr};
        visit();
      }
    } else if (s.kind == Source::Kind::Table) {
      const TableLayout& table = ctx_.plan.layout.tables[static_cast<std::size_t>(s.index)];
      if (tracked_) ssi_scan(ctx_, s.index, s.access);
      for (int i = 0; i < table.slots; ++i) {
        const std::uint8_t* v = slot_of(table, ctx_.w, i);
        if (!version_visible(v, ctx_.session, ctx_.snapshot)) continue;
        row = {v + table.cells, nullptr};
        visit();
      }
    } else {
      for (int i = 0; i < inputs_[level].count; ++i) {
        row = {nullptr, inputs_[level].row(i)};
        visit();
      }
    }
    if (s.left_join && !matched) {
      row = {};
      join(level + 1);
    }
    row = {};
  }

  void emit() {
    Val row[kMaxWidth];
    int n = 0;
    if (q_.grouped) {
      for (ExprId key : q_.keys) row[n++] = eval(ctx_, key);
      for (const AggSpec& agg : q_.aggs) row[n++] = agg.arg == kNoExpr ? bool_val(true) : eval(ctx_, agg.arg);
    } else {
      n = outputs(row);
    }
    push(row, n);
  }

  int outputs(Val* row) {
    int n = 0;
    for (ExprId t : q_.targets) row[n++] = eval(ctx_, t);
    for (const Order& o : q_.order) row[n++] = eval(ctx_, o.expr);
    return n;
  }

  void push(const Val* row, int n) {
    Val* out = ctx_.scratch.take(n);
    if (out == nullptr) {
      ctx_.fail(LimitKind::Scratch);
      return;
    }
    std::copy(row, row + n, out);
    ++rows_.count;
  }

  bool same(const Val& a, const Val& b) {
    return a.is_null() || b.is_null() ? a.is_null() && b.is_null() : compare(ctx_, a, b) == 0;
  }

  bool same_key(const Val* a, const Val* b) {
    for (std::size_t i = 0; i < q_.keys.size(); ++i) {
      // Two instants that passed are one group: nothing can tell them apart.
      if (!(a[i] == b[i]) && !same(a[i], b[i])) return false;
    }
    return true;
  }

  Val aggregate(const AggSpec& agg, const Rows& in, int first, std::size_t column) {
    std::int64_t count = 0;
    Val acc = null_val();
    for (int i = first; i < in.count; ++i) {
      if (!same_key(in.row(first), in.row(i))) continue;
      const Val& v = in.row(i)[column];
      if (agg.kind == Aggregate::CountStar) {
        ++count;
        continue;
      }
      if (v.is_null()) continue;
      if (agg.kind == Aggregate::CountDistinct) {
        bool seen = false;
        for (int j = first; j < i && !seen; ++j) {
          seen = same_key(in.row(first), in.row(j)) && same(in.row(j)[column], v);
        }
        count += seen ? 0 : 1;
        continue;
      }
      ++count;
      if (acc.is_null()) {
        acc = v;
        continue;
      }
      switch (agg.kind) {
        case Aggregate::Sum:
          if (__builtin_add_overflow(acc.n, v.n, &acc.n)) ctx_.fail(LimitKind::IntRange);  // the server has numeric
          break;
        case Aggregate::Min: if (compare(ctx_, v, acc) < 0) acc = v; break;
        case Aggregate::Max: if (compare(ctx_, v, acc) > 0) acc = v; break;
        case Aggregate::BoolAnd: acc.n &= v.n; break;
        case Aggregate::BoolOr: acc.n |= v.n; break;
        default: break;
      }
    }
    bool counts = agg.kind == Aggregate::Count || agg.kind == Aggregate::CountStar || agg.kind == Aggregate::CountDistinct;
    return counts ? int_val(count) : acc;
  }

  void group() {
    const Rows in = rows_;
    const std::size_t keys = q_.keys.size();
    rows_ = {ctx_.scratch.top(), 0, q_.width + static_cast<int>(q_.order.size())};
    Val aggs[kMaxWidth];
    auto finish = [&](const Val* key) {
      ctx_.keys = key;
      ctx_.aggs = aggs;
      if (q_.having != kNoExpr && !is_true(eval(ctx_, q_.having))) return;
      Val row[kMaxWidth];
      int n = outputs(row);
      push(row, n);
    };
    const Val* outer_keys = ctx_.keys;
    const Val* outer_aggs = ctx_.aggs;
    for (int i = 0; i < in.count; ++i) {
      bool first = true;
      for (int j = 0; j < i && first; ++j) first = !same_key(in.row(j), in.row(i));
      if (!first) continue;
      for (std::size_t a = 0; a < q_.aggs.size(); ++a) aggs[a] = aggregate(q_.aggs[a], in, i, keys + a);
      finish(in.row(i));
    }
    if (in.count == 0 && keys == 0) {
      for (std::size_t a = 0; a < q_.aggs.size(); ++a) aggs[a] = aggregate(q_.aggs[a], in, 0, a);
      finish(nullptr);
    }
    ctx_.keys = outer_keys;
    ctx_.aggs = outer_aggs;
  }

  // Insertion sort: stable, no allocation, and results are a handful of rows.
  void sort_rows() {
    const int width = rows_.width;
    auto row = [&](int i) { return rows_.base + static_cast<std::ptrdiff_t>(i) * width; };
    for (int i = 1; i < rows_.count; ++i) {
      for (int j = i; j > 0; --j) {
        int c = 0;
        for (std::size_t k = 0; k < q_.order.size() && c == 0; ++k) {
          c = compare_nulls(ctx_, row(j)[q_.width + static_cast<int>(k)], row(j - 1)[q_.width + static_cast<int>(k)],
                            q_.order[k]);
        }
        if (c >= 0) break;
        std::swap_ranges(row(j), row(j) + width, row(j - 1));
      }
    }
  }

  // DISTINCT ON: the rows are sorted.
  void keep_first_of_each() {
    int kept = 0;
    for (int i = 0; i < rows_.count; ++i) {
      const Val* row = rows_.row(i);
      bool again = kept > 0;
      for (int k = 0; k < q_.distinct_on && again; ++k) again = same(rows_.row(kept - 1)[q_.width + k], row[q_.width + k]);
      if (again) continue;
      std::copy(row, row + rows_.width, rows_.base + static_cast<std::ptrdiff_t>(kept) * rows_.width);
      ++kept;
    }
    rows_.count = kept;
  }

  void strip_order_keys() {
    for (int i = 0; i < rows_.count; ++i) {
      const Val* from = rows_.row(i);
      std::copy(from, from + q_.width, rows_.base + static_cast<std::ptrdiff_t>(i) * q_.width);
    }
    rows_.width = q_.width;
  }

  void remove_duplicates() {
    int kept = 0;
    for (int i = 0; i < rows_.count; ++i) {
      bool seen = false;
      for (int j = 0; j < kept && !seen; ++j) {
        seen = std::equal(rows_.row(j), rows_.row(j) + rows_.width, rows_.row(i));
      }
      if (!seen) {
        std::copy(rows_.row(i), rows_.row(i) + rows_.width,
                  rows_.base + static_cast<std::ptrdiff_t>(kept) * rows_.width);
        ++kept;
      }
    }
    rows_.count = kept;
  }

  void cut() {
    int skip = std::min(std::max(offset_, 0), rows_.count);
    rows_.base += static_cast<std::ptrdiff_t>(skip) * rows_.width;
    rows_.count -= skip;
    if (limit_ >= 0) rows_.count = std::min(rows_.count, limit_);
  }

  Context& ctx_;
  const Query& q_;
  Rows rows_;
  Rows inputs_[kMaxSources];
  int row_width_ = 0;
  bool tracked_ = false;  // by SSI
  int stop_ = -1;
  int limit_ = -1;
  int offset_ = 0;
};

Rows values_rows(Context& ctx, const Query& q) {
  Rows rows{ctx.scratch.top(), 0, q.width};
  for (const auto& exprs : q.values) {
    Val row[kMaxWidth];
    int n = 0;
    for (ExprId e : exprs) row[n++] = eval(ctx, e);
    Val* out = ctx.scratch.take(n);
    if (out == nullptr) {
      ctx.fail(LimitKind::Scratch);
      return rows;
    }
    std::copy(row, row + n, out);
    ++rows.count;
  }
  return rows;
}

bool contains(const Rows& rows, int from, int to, const Val* row) {
  for (int i = from; i < to; ++i) {
    if (std::equal(row, row + rows.width, rows.row(i))) return true;
  }
  return false;
}

Rows combined_rows(Context& ctx, const Query& q) {
  Rows left = run_query(ctx, q.left);
  Rows right = run_query(ctx, q.right);
  Rows out{ctx.scratch.top(), 0, q.width};
  auto push = [&](const Val* row) {
    Val* to = ctx.scratch.take(q.width);
    if (to == nullptr) {
      ctx.fail(LimitKind::Scratch);
      return;
    }
    std::copy(row, row + q.width, to);
    ++out.count;
  };
  auto add = [&](const Rows& from, bool unless_seen, bool when_in_right, bool want_right) {
    for (int i = 0; i < from.count; ++i) {
      const Val* row = from.row(i);
      if (unless_seen && contains(out, 0, out.count, row)) continue;
      if (when_in_right && contains(right, 0, right.count, row) != want_right) continue;
      push(row);
    }
  };
  if (q.combine == Combine::UnionAll || q.combine == Combine::Union) {
    const bool once = q.combine == Combine::Union;
    add(left, once, false, false);
    add(right, once, false, false);
  } else {
    add(left, true, true, q.combine == Combine::Intersect);
  }
  return out;
}

}  // namespace

Rows run_query(Context& ctx, QueryId query, int at_most) {
  const Query& q = ctx.plan.code.queries[static_cast<std::size_t>(query)];
  if (q.combine != Combine::None) return combined_rows(ctx, q);
  if (!q.values.empty()) return values_rows(ctx, q);
  return QueryRun(ctx, q, at_most).run();
}

}  // namespace oncecheck

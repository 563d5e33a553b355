// Which index records a locking scan visits, and which part of each it locks (row_search_mvcc in row0sel.cc).
#include <algorithm>

#include "model/world/access_path.hpp"
#include "model/world/code_walk.hpp"
#include "model/world/innodb_run.hpp"
#include "model/world/innodb_steps.hpp"
#include "model/world/mvcc.hpp"

namespace oncecheck {

void InnodbRun::add_step(RowCursor& cursor, int slot, int kind, std::uint8_t mode, int range) {
  if (cursor.count == RowCursor::kMaxSteps) {
    ctx_.fail(LimitKind::Scratch);
    return;
  }
  cursor.steps[cursor.count++] = {static_cast<std::uint8_t>(slot), static_cast<std::uint8_t>(kind), mode,
                                  static_cast<std::uint8_t>(range)};
}

// Whether the record lies before the range (-1), in it (0) or behind it (1).
int InnodbRun::side(const IndexView& view, int x, const KeyRange& range, int slot) {
  const Index* index = view.index(x);
  if (index == nullptr) return 0;
  // The columns of the primary key follow those of a secondary index.
  const std::size_t width = index->columns.size();
  auto column_of = [&](std::size_t k) {
    return k < width ? index->columns[k] : view.index(view.clustered())->columns[k - width];
  };
  auto order = [&](std::size_t column, ExprId bound) {
    const CellId cell = view.cell(slot, column_of(column));
    if (bound == kIsNull) return cell == kNullCell ? 0 : 1;
    return cell == kNullCell ? -1 : compare(ctx_, ctx_.plan.domain.decode(cell), eval(ctx_, bound));
  };
  std::size_t k = 0;
  for (; k < range.equal.size(); ++k) {
    if (const int c = order(k, range.equal[k]); c != 0) return c;
  }
  if (range.low == kNoExpr && range.high == kNoExpr) return 0;
  if (view.cell(slot, column_of(k)) == kNullCell) return -1;
  if (range.low >= 0) {
    const int c = order(k, range.low);
    if (c < 0 || (c == 0 && range.low_open)) return -1;
  }
  if (range.high != kNoExpr) {
    const int c = order(k, range.high);
    if (c > 0 || (c == 0 && range.high_open)) return 1;
  }
  return 0;
}

bool InnodbRun::empty_range(const KeyRange& range) {
  auto null = [&](ExprId e) { return e != kNoExpr && e != kIsNull && eval(ctx_, e).is_null(); };
  return std::any_of(range.equal.begin(), range.equal.end(), null) || null(range.low) || null(range.high);
}

int InnodbRun::order_ranges(const KeyRange& a, const KeyRange& b) {
  for (std::size_t k = 0; k < std::min(a.equal.size(), b.equal.size()); ++k) {
    if (a.equal[k] == b.equal[k]) continue;
    if (a.equal[k] == kIsNull || b.equal[k] == kIsNull) return a.equal[k] == kIsNull ? -1 : 1;
    if (const int c = compare(ctx_, eval(ctx_, a.equal[k]), eval(ctx_, b.equal[k])); c != 0) return c;
  }
  if (a.equal.size() != b.equal.size() || a.low == b.low) return 0;
  if (a.low < 0 || b.low < 0) return a.low == kNoExpr ? -1 : 1;
  return compare(ctx_, eval(ctx_, a.low), eval(ctx_, b.low));
}

void InnodbRun::start_cursor(RowCursor& cursor, const IndexView& view, int table, const AccessPath& access) {
  cursor.count = cursor.at = 0;
  cursor.finished = -1;
  cursor.table = table;
  cursor.index = access.index < 0 ? view.clustered() : access.index;
  cursor.first_only = access.first_only;
}

void InnodbRun::plan_scan(RowCursor& cursor, int table, const AccessPath& access) {
  const IndexView view = rows_.view(table);
  start_cursor(cursor, view, table, access);
  int records[kMaxIndexRecords];
  const int n = view.records(cursor.index, records);
  static const KeyRange kAll;
  const KeyRange* ranges[RowCursor::kMaxSteps];
  int count = 0;
  if (access.index < 0 || access.ranges.empty()) ranges[count++] = &kAll;
  for (const KeyRange& range : access.ranges) {
    if (access.index < 0 || count == RowCursor::kMaxSteps) continue;
    if (empty_range(range)) {
      if (&cursor == &scan_ && s_.reads_target && access.index == view.clustered()) look_up_null(cursor, view, records, n);
      continue;
    }
    if (stopped()) return;
    const auto again = [&](const KeyRange* r) {
      return r->equal.size() == range.equal.size() && r->low == range.low && r->high == range.high &&
             order_ranges(*r, range) == 0;
    };
    if (std::any_of(ranges, ranges + count, again)) continue;  // id IN (1, 1)
    int at = count++;
    for (; at > 0 && order_ranges(range, *ranges[at - 1]) < 0; --at) ranges[at] = ranges[at - 1];
    ranges[at] = &range;
  }
  for (int r = 0; r < count && !stopped(); ++r) {
    const KeyRange& range = *ranges[access.backward ? count - 1 - r : r];
    // A whole key is looked up forwards, unless its records are wanted in the order of the primary key (QUICK_SELECT_DESC).
    const Index* index = view.index(cursor.index);
    const bool whole = index != nullptr && range.equal.size() == index->columns.size();
    const bool by_suffix = std::any_of(s_.order.begin(), s_.order.end(), [&](const Order& o) {
      const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(o.expr)];
      return whole && n.op == Op::Column && std::find(index->columns.begin(), index->columns.end(), n.a) == index->columns.end();
    });
    if (access.backward && (!whole || by_suffix || access.first_only)) {
      plan_backward(cursor, view, range, r, records, n);
    } else {
      plan_range(cursor, view, range, r, records, n);
    }
  }
}

// MariaDB's UPDATE of a join looks up `key = (subquery)` although the subquery gave NULL: as the number 0 or the empty text,
// which locks the gap where that would be (measured).
void InnodbRun::look_up_null(RowCursor& cursor, const IndexView& view, const int* records, int n) {
  if (!gaps()) return;
  int i = 0;
  const int column = view.index(view.clustered())->columns[0];
  auto below = [&](int slot) {
    const Val v = ctx_.plan.domain.decode(view.cell(slot, column));
    return v.kind == Kind::Int && v.n < 0;
  };
  while (i < n && below(records[i])) ++i;
  add_step(cursor, i < n ? records[i] : kSupremum, kStepGap, kLockGap, 0);
}

void InnodbRun::plan_range(RowCursor& cursor, const IndexView& view, const KeyRange& range, int number,
                           const int* records, int n) {
  const int x = cursor.index;
  const std::size_t width = x < view.index_count() ? view.index(x)->columns.size() : 0;
  // BETWEEN 5 AND 5 is an equality too.
  const bool same = range.low >= 0 && range.high != kNoExpr && !range.low_open && !range.high_open &&
                    compare(ctx_, eval(ctx_, range.low), eval(ctx_, range.high)) == 0;
  const bool points = same || (!range.equal.empty() && range.low == kNoExpr && range.high == kNoExpr);
  const bool nulls = std::find(range.equal.begin(), range.equal.end(), kIsNull) != range.equal.end();
  const bool point = points && !nulls && width > 0 && range.equal.size() + (same ? 1 : 0) >= width && view.unique(x);
  const std::uint8_t key = gaps() ? 0 : kLockRecord;
  int i = 0;
  while (i < n && side(view, x, range, records[i]) < 0) ++i;
  const int first = i;
  bool at_end = false;  // the last record of the range is the only one that can have the upper bound
  for (; i < n && side(view, x, range, records[i]) == 0; ++i) {
    std::uint8_t mode = key;
    const bool whole_low = range.low != kNoExpr && !range.low_open && range.equal.size() + 1 == width;
    if (!points && i == first && x == view.clustered() && whole_low) {
      // `key >= 5` and 5 is there: nothing in the gap before it is in the range.
      const CellId cell = view.cell(records[i], view.index(x)->columns[range.equal.size()]);
      if (compare(ctx_, ctx_.plan.domain.decode(cell), eval(ctx_, range.low)) == 0) mode = kLockRecord;
    }
    add_step(cursor, records[i], point ? kStepPoint : kStepRow, mode, number);
    if (range.high != kNoExpr && !range.high_open && view.unique(x) && range.equal.size() + 1 == width) {
      const CellId cell = view.cell(records[i], view.index(x)->columns[range.equal.size()]);
      at_end = compare(ctx_, ctx_.plan.domain.decode(cell), eval(ctx_, range.high)) == 0;
    }
  }
  const int end = i < n ? records[i] : kSupremum;
  if (points || end == kSupremum) {
    if (gaps() && !(at_end && !mariadb())) add_step(cursor, end, kStepGap, kLockGap, number);
  } else if (mariadb()) {
    // The record behind the range is read, and locked as if it were in it.
    add_step(cursor, end, kStepBeyond, key, number);
  } else if (gaps() && !at_end) {
    add_step(cursor, end, kStepGap, kLockGap, number);
  }
}

void InnodbRun::plan_backward(RowCursor& cursor, const IndexView& view, const KeyRange& range, int number,
                              const int* records, int n) {
  const int x = cursor.index;
  const std::uint8_t key = gaps() ? 0 : kLockRecord;
  int i = n - 1;
  while (i >= 0 && side(view, x, range, records[i]) > 0) --i;
  if (gaps()) add_step(cursor, i + 1 < n ? records[i + 1] : kSupremum, kStepGap, kLockGap, number);
  bool found = false;
  for (; i >= 0 && side(view, x, range, records[i]) == 0; --i) {
    add_step(cursor, records[i], kStepRow, key, number);
    found = found || view.alive(x, records[i]);
  }
  if (i < 0) return;
  // A query with an equality looks for the last record of the key (HA_READ_PREFIX_LAST) and stops where there is none.
  const bool look_up = &cursor == &scan_ && s_.kind == SqlKind::SelectLock && s_.access.ranges.size() == 1 &&
                       range.low == kNoExpr && range.high == kNoExpr;
  if (cursor.first_only) {
    add_step(cursor, records[i], kStepBeyond, key, number);
  } else if (look_up && !found) {
    if (gaps()) add_step(cursor, records[i], kStepGap, kLockGap, number);
  } else {
    for (; i >= 0; --i) add_step(cursor, records[i], kStepBefore, key, number);
  }
}

// The version of a row that a consistent read gives: from the newest one back, the first that the read view sees, and
// the session's own changes at once (row_vers_build_for_consistent_read). So after an own UPDATE an old view shows the
// newest row.
int InnodbRun::seen_version(const IndexView& view, int record) const {
  if (isolation() == Isolation::ReadUncommitted) {
    // The newest version, but not what the running statement itself has made before a wait.
    int at = record;
    auto mine = [&](std::uint8_t x, std::uint8_t flag) { return x == mark_of(session_) && (view.version(at)[kFlags] & flag); };
    while (at >= 0 && mine(view.version(at)[kXmin], kMadeByCommand)) at = view.version_before(at);
    if (at < 0) return -1;
    const std::uint8_t* v = view.version(at);
    const bool gone = v[kXmax] != 0 && (v[kFlags] & kEndedKey) && !mine(v[kXmax], kEndedByCommand);
    return gone ? -1 : at;
  }
  auto sees = [&](std::uint8_t x, bool by_command) {
    if (in_progress(x)) return owner_of(x) == session_ && !by_command;
    return ctx_.snapshot == 0 || ctx_.snapshot > x - 1;
  };
  for (int at = record; at >= 0; at = view.version_before(at)) {
    const std::uint8_t* v = view.version(at);
    const bool marked = v[kXmax] != 0 && (v[kFlags] & kEndedKey);
    if (marked && sees(v[kXmax], (v[kFlags] & kEndedByCommand) != 0)) return -1;
    if (sees(v[kXmin], (v[kFlags] & kMadeByCommand) != 0)) return at;
  }
  return -1;
}

// A consistent read: the versions that the snapshot sees, in the order of the index. READ UNCOMMITTED: the newest ones.
void InnodbRun::plan_versions(RowCursor& cursor, int table, const AccessPath& access) {
  const IndexView view = rows_.view(table);
  start_cursor(cursor, view, table, access);
  int found[kMaxIndexRecords];
  int n = 0;
  for (int i = 0; i < view.table().slots; ++i) {
    if (!view.is_record(i)) continue;
    const int seen = seen_version(view, i);
    if (seen < 0) continue;
    int at = n++;
    for (; at > 0 && view.order_records(cursor.index, seen, found[at - 1]) < 0; --at) found[at] = found[at - 1];
    found[at] = seen;
  }
  for (int i = 0; i < n; ++i) add_step(cursor, found[access.backward ? n - 1 - i : i], kStepVersion, 0, 0);
}

// Whether the expression needs the row of the target table.
bool InnodbRun::mentions_row(ExprId expr) const {
  if (expr == kNoExpr) return false;
  const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(expr)];
  auto mentions = [&](ExprId e) { return mentions_row(e); };
  switch (n.op) {
    case Op::Column: return n.src == 0;
    case Op::Const:
    case Op::Local:
    case Op::Key:
    case Op::Agg:
    case Op::Now:
    case Op::FreshUuid:
    case Op::NextVal: return false;
    case Op::In:
    case Op::Case:
    case Op::Coalesce:
    case Op::Greatest:
    case Op::Least: {
      const auto first = ctx_.plan.code.args.begin() + n.args;
      return std::any_of(first, first + n.b, mentions);
    }
    case Op::InQuery:
    case Op::Exists:
    case Op::Scalar: {
      const Query& q = ctx_.plan.code.queries[static_cast<std::size_t>(n.b)];
      const auto joins = [&](const Source& s) { return mentions(s.on); };
      return (n.op == Op::InQuery && mentions(n.a)) || mentions(q.where) || mentions(q.having) ||
             std::any_of(q.targets.begin(), q.targets.end(), mentions) ||
             std::any_of(q.keys.begin(), q.keys.end(), mentions) ||
             std::any_of(q.aggs.begin(), q.aggs.end(), [&](const AggSpec& a) { return mentions(a.arg); }) ||
             std::any_of(q.sources.begin(), q.sources.end(), joins);
    }
    default: return mentions(n.a) || mentions(n.b);
  }
}

// A condition that no row decides (EXISTS of another table) is looked at first: when it is not true no row is read or
// locked. A write does so only with a WHERE that names no row at all, with EXISTS, and with conditions without a subquery;
// others it tests on each row that it has locked. Rows that such a subquery finds by a whole unique key are read, and so
// locked, before that all the same (a table of one row is read when the statement is optimized).
bool InnodbRun::can_match(ExprId where, bool whole) {
  if (where == kNoExpr) return true;
  const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(where)];
  const bool decided = !mentions_row(where);
  const bool early = whole || s_.kind == SqlKind::SelectLock || n.op == Op::Exists || !has_query(where);
  if (decided && early) return is_true(eval(ctx_, where));
  if (decided && reads_one_row(where)) eval(ctx_, where);
  return n.op != Op::And || (can_match(n.a, false) && can_match(n.b, false));
}

bool InnodbRun::reads_one_row(ExprId expr) const {
  const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(expr)];
  if (n.op == Op::Not) return reads_one_row(n.a);
  if (n.op != Op::Exists && n.op != Op::Scalar) return false;
  const Query& q = ctx_.plan.code.queries[static_cast<std::size_t>(n.b)];
  if (q.sources.size() != 1 || q.sources[0].kind != Source::Kind::Table) return false;
  return one_row_at_most(layout_.tables[static_cast<std::size_t>(q.sources[0].index)], q.sources[0].access);
}

bool InnodbRun::has_query(ExprId expr) const {
  bool found = false;
  walk_expr(ctx_.plan.code, expr, [](const Node&) {}, [&](const Query&) { found = true; });
  return found;
}

// Whether the index has every column of the source that the expressions read: then a shared lock need not look at the
// row.
bool InnodbRun::covers_all(const RowCursor& cursor, const std::vector<ExprId>& exprs, int source) const {
  return std::all_of(exprs.begin(), exprs.end(), [&](ExprId e) { return reads_only(cursor, e, source); });
}

bool InnodbRun::covers_source(const RowCursor& cursor, const Source& source) const {
  for (const Query& q : ctx_.plan.code.queries) {
    if (q.sources.empty() || &source < &q.sources.front() || &source > &q.sources.back()) continue;
    const int src = q.first_src + static_cast<int>(&source - &q.sources.front());
    const auto agg = [&](const AggSpec& a) { return reads_only(cursor, a.arg, src); };
    const auto order = [&](const Order& o) { return reads_only(cursor, o.expr, src); };
    const auto join = [&](const Source& s) { return reads_only(cursor, s.on, src); };
    return covers_all(cursor, q.targets, src) && covers_all(cursor, q.keys, src) && reads_only(cursor, q.where, src) &&
           reads_only(cursor, q.having, src) && std::all_of(q.aggs.begin(), q.aggs.end(), agg) &&
           std::all_of(q.order.begin(), q.order.end(), order) && std::all_of(q.sources.begin(), q.sources.end(), join);
  }
  return false;
}

bool InnodbRun::reads_only(const RowCursor& cursor, ExprId expr, int source) const {
  if (expr == kNoExpr) return true;
  const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(expr)];
  switch (n.op) {
    case Op::Const:
    case Op::Local:
    case Op::Key:
    case Op::Agg:
    case Op::Now: return true;
    case Op::Column: {
      if (n.src != source) return true;
      const TableLayout& t = layout_.tables[static_cast<std::size_t>(cursor.table)];
      auto has = [&](int x) {
        if (x >= static_cast<int>(t.indexes.size())) return false;
        const auto& columns = t.indexes[static_cast<std::size_t>(x)].columns;
        return std::find(columns.begin(), columns.end(), n.a) != columns.end();
      };
      return has(cursor.index) || has(IndexView(ctx_.plan, ctx_.w, cursor.table).clustered());
    }
    case Op::InQuery:
    case Op::Exists:
    case Op::Scalar: return false;
    case Op::In:
    case Op::Case:
    case Op::Coalesce:
    case Op::Greatest:
    case Op::Least: {
      for (int i = 0; i < n.b; ++i) {
        if (!reads_only(cursor, ctx_.plan.code.args[static_cast<std::size_t>(n.args + i)], source)) return false;
      }
      return true;
    }
    case Op::FreshUuid:
    case Op::NextVal: return true;
    default: return reads_only(cursor, n.a, source) && reads_only(cursor, n.b, source);
  }
}

}  // namespace oncecheck

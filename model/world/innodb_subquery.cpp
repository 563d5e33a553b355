// A locking statement with `key IN (SELECT key FROM ...)`, which MariaDB turns into a join (optimizer, "Semi-join
// Subquery Optimizations"): which table comes first, and what becomes of rows that only the join drops. Also the choice
// between two indexes that the server makes by counting records. Measured with EXPLAIN on MariaDB 10.11.
#include <algorithm>

#include "model/world/innodb_run.hpp"
#include "model/world/innodb_steps.hpp"

namespace oncecheck {

// A dive into the index counts records as they stand, deleted ones too, and never says less than one for a range. After a
// wait the scan keeps its index.
const AccessPath& InnodbRun::chosen_access() {
  if (s_.covering.index < 0) return s_.access;
  std::uint8_t& flags = bytes()[0];
  if (flags & kStatementRuns) return flags & kByCovering ? s_.covering : s_.access;
  const IndexView view = rows_.view(s_.table);
  int records[kMaxIndexRecords];
  const int n = view.records(s_.covering.index, records);
  std::size_t expected = 0;
  for (const KeyRange& range : s_.covering.ranges) {
    if (empty_range(range)) continue;
    const auto in = [&](int slot) { return side(view, s_.covering.index, range, slot) == 0; };
    expected += static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, std::count_if(records, records + n, in)));
  }
  if (expected > s_.access.ranges.size()) return s_.access;
  flags = static_cast<std::uint8_t>(flags | kByCovering);
  return s_.covering;
}

// The condition that makes the statement a join, kNoExpr: none. An UPDATE is one when it reads its own table.
ExprId InnodbRun::semi_join() const {
  if (!mariadb() || (s_.kind != SqlKind::SelectLock && !s_.reads_target)) return kNoExpr;
  for (ExprId rest = s_.where; rest != kNoExpr;) {
    const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(rest)];
    const ExprId last = n.op == Op::And ? n.b : rest;
    const Node& condition = ctx_.plan.code.nodes[static_cast<std::size_t>(last)];
    if (condition.op == Op::InQuery) {
      const Query& q = ctx_.plan.code.queries[static_cast<std::size_t>(condition.b)];
      const bool plain = q.sources.size() == 1 && !q.grouped && q.limit == kNoExpr && q.combine == Combine::None;
      if (plain && q.sources[0].kind == Source::Kind::Table) return last;
    }
    rest = n.op == Op::And ? n.a : kNoExpr;
  }
  return kNoExpr;
}

// A row that fails by the join alone stays locked at READ COMMITTED too: only a condition on the row itself gives it back.
bool InnodbRun::missed_by_join(int slot) {
  if (gaps()) return false;
  const ExprId join = semi_join();
  if (join == kNoExpr) return false;
  set_row(0, slot_of(*table_, ctx_.w, slot));
  for (ExprId rest = s_.where; rest != kNoExpr;) {
    const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(rest)];
    const ExprId last = n.op == Op::And ? n.b : rest;
    if (last != join && !is_true(eval(ctx_, last))) return false;
    rest = n.op == Op::And ? n.a : kNoExpr;
  }
  return true;
}

// When an equality on a secondary index finds the rows of the subquery, that comes first, and the key that it gives is looked
// up in the target. False: the target is scanned by its own access path, since the subquery comes second, or since the server
// expects several keys of it.
bool InnodbRun::plan_from_subquery(RowCursor& cursor) {
  const ExprId join = semi_join();
  const IndexView view = rows_.view(s_.table);
  const Index* key = view.index(view.clustered());
  if (join == kNoExpr || key == nullptr || key->columns.size() != 1 || s_.access.index >= 0) return false;
  const Node& n = ctx_.plan.code.nodes[static_cast<std::size_t>(join)];
  const Node& needle = ctx_.plan.code.nodes[static_cast<std::size_t>(n.a)];
  const Query& q = ctx_.plan.code.queries[static_cast<std::size_t>(n.b)];
  if (needle.op != Op::Column || needle.src != 0 || needle.a != key->columns[0] || mentions_row(q.where)) return false;
  const Source& inner = q.sources[0];
  const IndexView inner_view = rows_.view(inner.index);
  const Node& target = ctx_.plan.code.nodes[static_cast<std::size_t>(q.targets[0])];
  const Index* inner_key = inner_view.index(inner_view.clustered());
  const bool by_key = target.op == Op::Column && target.src == q.first_src && inner_key != nullptr &&
                      inner_key->columns.size() == 1 && inner_key->columns[0] == target.a;
  const bool by_equality = inner.access.index >= 0 && inner.access.index != inner_view.clustered() &&
                           inner.access.ranges.size() == 1 && inner.access.ranges[0].low == kNoExpr &&
                           inner.access.ranges[0].high == kNoExpr;
  if (!by_key || !by_equality) return false;
  start_cursor(cursor, view, s_.table, s_.access);
  const std::size_t mark = ctx_.scratch.mark();
  const oncecheck::Rows keys = run_query(ctx_, n.b);
  int records[kMaxIndexRecords];
  const int count = inner_view.records(inner.access.index, records);
  const auto in = [&](int slot) { return side(inner_view, inner.access.index, inner.access.ranges[0], slot) == 0; };
  if (keys.count > 0 && std::count_if(records, records + count, in) > 1) {
    ctx_.scratch.release(mark);
    return false;
  }
  for (int i = 0; i < keys.count && !stopped(); ++i) {
    CellId cells[kMaxRowColumns] = {};
    cells[key->columns[0]] = storable(ctx_, keys.row(i)[0]);
    int found = -1;
    for (int slot = 0; slot < table_->slots; ++slot) {
      if (view.is_record(slot) && view.same_key(view.clustered(), cells, slot)) found = slot;
    }
    if (found >= 0) {
      add_step(cursor, found, kStepPoint, gaps() ? 0 : kLockRecord, i);
    } else if (gaps()) {
      add_step(cursor, view.place_for(view.clustered(), cells, -1), kStepGap, kLockGap, i);
    }
  }
  ctx_.scratch.release(mark);
  return true;
}

}  // namespace oncecheck

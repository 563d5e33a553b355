#include "model/world/access_path.hpp"

#include <algorithm>

#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

bool in_range(Context& ctx, const TableLayout& table, const Index& index, const KeyRange& range, const std::uint8_t* version) {
  auto stored = [&](std::size_t n) {
    return ctx.plan.domain.decode(column_of(ctx.plan.layout, table, version, index.columns[n]));
  };
  for (std::size_t i = 0; i < range.equal.size(); ++i) {
    const Val want = eval(ctx, range.equal[i]), has = stored(i);
    if (want.is_null() || has.is_null() || compare(ctx, want, has) != 0) return false;
  }
  if (range.low == kNoExpr && range.high == kNoExpr) return true;
  const Val has = stored(range.equal.size());
  if (has.is_null()) return false;
  auto within = [&](ExprId bound, bool open, int side) {
    if (bound == kNoExpr) return true;
    const Val limit = eval(ctx, bound);
    if (limit.is_null()) return false;
    const int c = compare(ctx, has, limit) * side;
    return open ? c > 0 : c >= 0;
  };
  return within(range.low, range.low_open, 1) && within(range.high, range.high_open, -1);
}

}  // namespace

bool in_ranges(Context& ctx, const TableLayout& table, const AccessPath& access, const std::uint8_t* version) {
  if (access.index < 0) return true;
  const Index& index = table.indexes[static_cast<std::size_t>(access.index)];
  return std::any_of(access.ranges.begin(), access.ranges.end(),
                     [&](const KeyRange& range) { return in_range(ctx, table, index, range, version); });
}

bool one_row_at_most(const TableLayout& table, const AccessPath& access) {
  if (access.index < 0 || access.ranges.size() != 1) return false;
  const Index& index = table.indexes[static_cast<std::size_t>(access.index)];
  return index.unique && index.where == kNoExpr && access.ranges[0].equal.size() == index.columns.size();
}

}  // namespace oncecheck

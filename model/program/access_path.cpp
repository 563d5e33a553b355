#include "model/program/access_path.hpp"

#include <algorithm>
#include <map>

#include "model/world/code_walk.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxRanges = 16;

struct ColumnBounds {
  std::vector<ExprId> equal;  // one of these; empty: not known
  ExprId low = kNoExpr, high = kNoExpr;
  bool low_open = false, high_open = false;
};

class PathChooser {
 public:
  PathChooser(const CompileState& state, const TableScan& scan)
      : code_(state.program.plan.code),
        table_(state.program.plan.layout.tables[static_cast<std::size_t>(scan.table)]),
        innodb_(is_innodb(state.engine(table_.db))),
        mariadb_(state.engine(table_.db) == Engine::MariaDb),
        scan_(scan) {
    for (ExprId e : scan.conditions) add(e);
  }

  AccessPath choose() {
    AccessPath best;
    int best_score = 0;
    for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
      const Index& index = table_.indexes[i];
      if (index.where != kNoExpr) continue;  // whether a partial index serves is not known
      AccessPath path;
      path.index = static_cast<int>(i);
      path.ranges = ranges_of(index);
      const bool used = !path.ranges.empty();
      const bool whole = used && path.ranges.front().equal.size() == index.columns.size();
      const int score = !used ? 0 : index.unique && whole ? 3 : index.unique ? 2 : 1;
      if (score > best_score) {
        best_score = score;
        best = std::move(path);
      }
    }
    if (mariadb_ && scan_.write) prefer_covering(best);
    set_order(best);
    return best;
  }

 private:
  const Node& node(ExprId e) const { return code_.nodes[static_cast<std::size_t>(e)]; }

  void add(ExprId e) {
    if (e == kNoExpr) return;
    const Node& n = node(e);
    if (n.op == Op::And) {
      add(n.a);
      add(n.b);
      return;
    }
    int column = -1;
    std::vector<ExprId> values;
    if (equals(e, column, values)) {
      ColumnBounds& b = bounds_[column];
      if (b.equal.empty() || values.size() < b.equal.size()) b.equal = std::move(values);
      return;
    }
    add_bound(n);
  }

  // Column of the scanned table, or -1.
  int column_of(ExprId e) const {
    const Node& n = node(e);
    return n.op == Op::Column && n.src == scan_.src ? n.a : -1;
  }

  bool known(ExprId e) const {
    bool free = true;
    walk_expr(code_, e, [&](const Node& n) {
      if (n.op == Op::Column && n.src >= scan_.src && n.src <= scan_.last_src) free = false;
      if (n.op == Op::FreshUuid || n.op == Op::NextVal) free = false;
    }, [](const Query&) {});
    return free;
  }

  // column = x, column IN (x, y), or an OR of them on one column.
  bool equals(ExprId e, int& column, std::vector<ExprId>& values) const {
    const Node& n = node(e);
    auto take = [&](int c, ExprId value) {
      if (c < 0 || (column >= 0 && column != c) || !known(value)) return false;
      column = c;
      values.push_back(value);
      return true;
    };
    if (n.op == Op::IsNull && innodb_ && column < 0 && column_of(n.a) >= 0) {
      column = column_of(n.a);
      values.push_back(kIsNull);
      return true;
    }
    if (n.op == Op::Eq) return take(column_of(n.a), n.b) || take(column_of(n.b), n.a);
    if (n.op == Op::Or) return equals(n.a, column, values) && equals(n.b, column, values);
    if (n.op != Op::In) return false;
    const ExprId* args = &code_.args[static_cast<std::size_t>(n.args)];
    for (int i = 1; i < n.b; ++i) {
      if (!take(column_of(args[0]), args[i])) return false;
    }
    return true;
  }

  void add_bound(const Node& n) {
    const bool less = n.op == Op::Lt || n.op == Op::Le, greater = n.op == Op::Gt || n.op == Op::Ge;
    if (!less && !greater) return;
    const bool open = n.op == Op::Lt || n.op == Op::Gt;
    const bool flipped = column_of(n.a) < 0;
    const int column = column_of(flipped ? n.b : n.a);
    const ExprId value = flipped ? n.a : n.b;
    if (column < 0 || !known(value)) return;
    ColumnBounds& b = bounds_[column];
    const bool is_high = less != flipped;
    ExprId& bound = is_high ? b.high : b.low;
    if (bound != kNoExpr) return;  // two of one kind: the first counts, WHERE tests the rest
    bound = value;
    (is_high ? b.high_open : b.low_open) = open;
  }

  std::vector<KeyRange> ranges_of(const Index& index) const {
    std::vector<KeyRange> ranges(1);
    bool used = false;
    for (int c : index.columns) {
      const auto it = bounds_.find(c);
      if (it == bounds_.end()) break;
      const ColumnBounds& b = it->second;
      if (!b.equal.empty() && ranges.size() * b.equal.size() <= kMaxRanges) {
        std::vector<KeyRange> product;
        for (const KeyRange& r : ranges) {
          for (ExprId value : b.equal) {
            product.push_back(r);
            product.back().equal.push_back(value);
          }
        }
        ranges = std::move(product);
        used = true;
        continue;
      }
      if (b.low == kNoExpr && b.high == kNoExpr) break;
      for (KeyRange& r : ranges) {
        r.low = b.low;
        r.high = b.high;
        r.low_open = b.low_open;
        r.high_open = b.high_open;
      }
      used = true;
      break;
    }
    return used ? ranges : std::vector<KeyRange>{};
  }

  // MariaDB finds a row to be written by its primary key through a secondary index when that has all columns of the table and the condition
  // gives its whole key: the record is found by both (extended keys), and the row itself need not be read.
  void prefer_covering(AccessPath& path) const {
    if (path.index < 0 || !table_.indexes[static_cast<std::size_t>(path.index)].primary) return;
    const std::vector<int>& primary = table_.indexes[static_cast<std::size_t>(path.index)].columns;
    if (path.ranges.front().equal.size() != primary.size()) return;
    for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
      Index both = table_.indexes[i];
      if (both.primary) continue;
      both.columns.insert(both.columns.end(), primary.begin(), primary.end());
      for (int c = 0; c < static_cast<int>(table_.columns.size()); ++c) {
        if (std::find(both.columns.begin(), both.columns.end(), c) == both.columns.end()) both.columns.clear();
      }
      std::vector<KeyRange> ranges = ranges_of(both);
      if (both.columns.empty() || ranges.empty() || ranges.front().equal.size() != both.columns.size()) continue;
      path.index = static_cast<int>(i);
      path.ranges = std::move(ranges);
      return;
    }
  }

  // Whether the scan, forwards or backwards, gives the order that is asked for. Rows come in the order of the keys, whatever
  // the order of the ranges. A full scan follows the primary key.
  void set_order(AccessPath& path) const {
    path.in_order = scan_.order == nullptr || scan_.order->empty();
    if (path.in_order) return;
    std::vector<int> columns;
    auto append = [&](const Index& index) { columns.insert(columns.end(), index.columns.begin(), index.columns.end()); };
    if (path.index >= 0) append(table_.indexes[static_cast<std::size_t>(path.index)]);
    // The records of a secondary index of InnoDB end with the primary key.
    const bool primary = !table_.indexes.empty() && table_.indexes.front().primary;
    if (primary && (path.index < 0 || innodb_)) append(table_.indexes.front());
    std::size_t at = 0;
    for (const Order& o : *scan_.order) {
      const int wanted = column_of(o.expr);
      if (is_fixed(wanted)) continue;
      while (at < columns.size() && columns[at] != wanted && is_fixed(columns[at])) ++at;
      if (at == columns.size() || columns[at] != wanted || o.descending != scan_.order->front().descending) return;
      ++at;
    }
    path.in_order = true;
    path.backward = scan_.order->front().descending;
  }

  bool is_fixed(int column) const {
    const auto it = bounds_.find(column);
    return it != bounds_.end() && it->second.equal.size() == 1;
  }

  const Code& code_;
  const TableLayout& table_;
  bool innodb_, mariadb_;
  const TableScan& scan_;
  std::map<int, ColumnBounds> bounds_;
};

}  // namespace

AccessPath choose_access(const CompileState& state, const TableScan& scan) { return PathChooser(state, scan).choose(); }

}  // namespace oncecheck

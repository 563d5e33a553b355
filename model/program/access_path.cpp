#include "model/program/access_path.hpp"

#include <algorithm>
#include <map>
#include <set>

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
        types_(state.tables[static_cast<std::size_t>(scan.table)].types),
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
      const bool both = mariadb_ && score > 0 && score < 3 && best_score > 0 && best_score < 3;
      if (both && !index.primary && same_columns(path, best) ? is_cheaper(index, best) : score > best_score) {
        best_score = score;
        best = std::move(path);
      }
    }
    if (mariadb_ && best.index < 0) best = around_value();
    set_order(best);
    if (mariadb_ && !scan_.write && (best.index < 0 || several_keys(best))) scan_by_index(best);
    return best;
  }

  // Whether the ranges of the two are about the same columns: then both find the same records.
  bool same_columns(const AccessPath& a, const AccessPath& b) const {
    auto used = [&](const AccessPath& path) {
      const std::vector<int>& columns = table_.indexes[static_cast<std::size_t>(path.index)].columns;
      const KeyRange& r = path.ranges.front();
      const auto count = r.equal.size() + (r.low != kNoExpr || r.high != kNoExpr ? 1 : 0);
      return std::set<int>(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(count));
    };
    return !table_.indexes[static_cast<std::size_t>(b.index)].primary && used(a) == used(b);
  }

  // Of two indexes that find the same records MariaDB takes the shorter one, a query rather the one that has all it reads.
  // To a query the length of a number makes no difference (handler::keyread_time, best_access_path).
  bool is_cheaper(const Index& index, const AccessPath& than) const {
    const Index& other = table_.indexes[static_cast<std::size_t>(than.index)];
    if (!scan_.write && has_all_read(index) != has_all_read(other)) return has_all_read(index);
    const int texts = texts_in(index) - texts_in(other);
    if (texts != 0) return texts < 0;
    const auto length = index.columns.size(), other_length = other.columns.size();
    if (scan_.write && length != other_length) return length < other_length;
    return index.unique && !other.unique;  // the server keeps unique indexes first
  }

  int texts_in(const Index& index) const {
    return static_cast<int>(std::count_if(index.columns.begin(), index.columns.end(), [&](int c) {
      const SqlType type = types_[static_cast<std::size_t>(c)];
      return type != SqlType::Int && type != SqlType::Bool && type != SqlType::Instant;
    }));
  }

  // id IN (1, 2): one pass over an index that has all columns read is as cheap as two look-ups, and is what is done.
  bool several_keys(const AccessPath& path) const {
    const Index& index = table_.indexes[static_cast<std::size_t>(path.index)];
    if (!index.primary || path.ranges.front().equal.size() != index.columns.size()) return false;
    return std::any_of(path.ranges.begin(), path.ranges.end(), [&](const KeyRange& r) {
      const auto same = [&](ExprId a, ExprId b) {
        return a == b || (a >= 0 && b >= 0 && node(a).op == Op::Const && node(b).op == Op::Const && node(a).val == node(b).val);
      };
      return !std::equal(r.equal.begin(), r.equal.end(), path.ranges.front().equal.begin(), same);
    });
  }

  // column <> 1 on an index that has all columns of the table: what lies before the value, and what lies behind it.
  AccessPath around_value() const {
    AccessPath path;
    const bool primary = !table_.indexes.empty() && table_.indexes.front().primary;
    for (std::size_t i = 0; primary && i < table_.indexes.size(); ++i) {
      const Index& index = table_.indexes[i];
      const auto value = unequal_.find(index.columns.front());
      std::set<int> columns(index.columns.begin(), index.columns.end());
      columns.insert(table_.indexes.front().columns.begin(), table_.indexes.front().columns.end());
      if (index.unique || index.where != kNoExpr || value == unequal_.end() || columns.size() != table_.columns.size()) continue;
      path.index = static_cast<int>(i);
      path.ranges = {KeyRange{{}, kIsNull, value->second, true, true}, KeyRange{{}, value->second, kNoExpr, true, false}};
      return path;
    }
    return path;
  }

  // A row to be written is found by its primary key. MariaDB weighs against that a secondary index that has all columns of
  // the table, since then the row itself need not be read.
  AccessPath covering(const AccessPath& path) const {
    AccessPath none;
    if (!mariadb_ || !scan_.write || path.index < 0) return none;
    const Index& key = table_.indexes[static_cast<std::size_t>(path.index)];
    if (path.ranges.front().equal.size() != key.columns.size()) return none;
    if (!key.primary) return key.unique ? shorter(path) : none;
    for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
      Index both = table_.indexes[i];
      if (both.primary || both.where != kNoExpr) continue;
      both.columns.insert(both.columns.end(), key.columns.begin(), key.columns.end());
      bool all = true;
      for (int c = 0; c < static_cast<int>(table_.columns.size()); ++c) {
        all = all && std::find(both.columns.begin(), both.columns.end(), c) != both.columns.end();
      }
      AccessPath other;
      other.index = static_cast<int>(i);
      other.ranges = ranges_of(both, true);
      if (!all || other.ranges.empty() || other.ranges.size() > path.ranges.size()) continue;
      set_order(other);
      return other;
    }
    return none;
  }

  // In place of the whole key of a unique index: a shorter index, if it has no more records (covering_access).
  AccessPath shorter(const AccessPath& path) const {
    AccessPath other;
    for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
      const Index& index = table_.indexes[i];
      if (index.primary || index.where != kNoExpr || static_cast<int>(i) == path.index || !is_cheaper(index, path)) continue;
      if (other.index >= 0 && !is_cheaper(index, other)) continue;
      AccessPath found;
      found.index = static_cast<int>(i);
      found.ranges = ranges_of(index);
      if (found.ranges.empty() || found.ranges.size() > path.ranges.size()) continue;
      set_order(found);
      other = std::move(found);
    }
    return other;
  }

  std::set<int> columns_read() const {
    std::set<int> read;
    for (const std::vector<ExprId>* exprs : {&scan_.conditions, &scan_.reads}) {
      for (ExprId e : *exprs) {
        walk_expr(code_, e, [&](const Node& n) {
          if (n.op == Op::Column && n.src == scan_.src) read.insert(n.a);
        }, [](const Query&) {});
      }
    }
    return read;
  }

  bool has_all_read(const Index& index) const {
    std::set<int> columns(index.columns.begin(), index.columns.end());
    const Index& key = table_.indexes.front();
    if (key.primary) columns.insert(key.columns.begin(), key.columns.end());
    const std::set<int> read = columns_read();
    return std::includes(columns.begin(), columns.end(), read.begin(), read.end());
  }

  // find_shortest_key. The primary key stands for the whole row; it is as short as an index that has all columns. Among
  // secondary indexes the first is taken, since the model keeps no lengths.
  void scan_by_index(AccessPath& path) const {
    const bool ordered = scan_.order != nullptr && !scan_.order->empty();
    if (ordered || table_.indexes.empty() || !table_.indexes.front().primary) return;
    const std::set<int> read = columns_read();
    const std::vector<int>& primary = table_.indexes.front().columns;
    const AccessPath full{-1, {}, true, false, false};
    auto all_in = [&](const std::vector<int>& columns) {
      return std::all_of(read.begin(), read.end(), [&](int c) {
        return std::find(columns.begin(), columns.end(), c) != columns.end();
      });
    };
    if (all_in(primary)) path = full;
    for (std::size_t i = 1; i < table_.indexes.size(); ++i) {
      std::vector<int> columns = table_.indexes[i].columns;
      columns.insert(columns.end(), primary.begin(), primary.end());
      if (table_.indexes[i].where != kNoExpr || !all_in(columns)) continue;
      const std::set<int> distinct(columns.begin(), columns.end());
      if (all_in(primary) && distinct.size() == table_.columns.size()) continue;
      path = full;
      path.index = static_cast<int>(i);
      return;
    }
  }

  // MIN(column) or MAX(column): the first record of an index whose columns before it are given (opt_sum_query). The rest of
  // the WHERE must be about these columns alone. index < 0: no index serves.
  AccessPath extreme(int column, bool highest) const {
    AccessPath none;
    if (!innodb_ || !only_bounds_) return none;
    if (!highest && !table_.not_null[static_cast<std::size_t>(column)] && !bounds_.count(column)) return none;
    for (std::size_t i = 0; i < table_.indexes.size(); ++i) {
      const Index& index = table_.indexes[i];
      const auto at = std::find(index.columns.begin(), index.columns.end(), column);
      if (at == index.columns.end() || index.where != kNoExpr) continue;
      const std::vector<int> used(index.columns.begin(), at + 1);
      auto serves = [&](const auto& b) { return std::find(used.begin(), used.end(), b.first) != used.end(); };
      if (!std::all_of(used.begin(), used.end() - 1, [&](int c) { return is_fixed(c); })) continue;
      if (!std::all_of(bounds_.begin(), bounds_.end(), serves)) continue;
      if (bounds_.count(column) && bounds_.at(column).equal.size() > 1) continue;
      AccessPath path;
      path.index = static_cast<int>(i);
      Index prefix = index;
      prefix.columns = used;
      path.ranges = ranges_of(prefix);
      path.in_order = path.first_only = true;
      path.backward = highest;
      return path;
    }
    return none;
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
    if (only_not_null(e, column)) {
      not_null_.insert(column);
      only_bounds_ = false;
      return;
    }
    if (n.op == Op::Ne && column_of(n.a) >= 0 && known(n.b)) unequal_.emplace(column_of(n.a), n.b);
    column = -1;
    std::vector<ExprId> values;
    if (equals(e, column, values)) {
      ColumnBounds& b = bounds_[column];
      only_bounds_ = only_bounds_ && b.equal.empty();
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

  // column IS NOT NULL, or an OR of it with bounds on the same column.
  bool only_not_null(ExprId e, int& column) const {
    const Node& n = node(e);
    auto take = [&](int c) {
      if (c < 0 || (column >= 0 && column != c)) return false;
      column = c;
      return true;
    };
    if (n.op == Op::IsNotNull) return innodb_ && take(column_of(n.a));
    if (n.op != Op::Or) return false;
    auto bound = [&](ExprId side) {
      const Node& b = node(side);
      const bool compares = b.op == Op::Eq || b.op == Op::Lt || b.op == Op::Le || b.op == Op::Gt || b.op == Op::Ge;
      return compares && ((known(b.b) && take(column_of(b.a))) || (known(b.a) && take(column_of(b.b))));
    };
    return (only_not_null(n.a, column) && (bound(n.b) || only_not_null(n.b, column))) ||
           (bound(n.a) && only_not_null(n.b, column));
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
    if (!less && !greater) {
      only_bounds_ = false;
      return;
    }
    const bool open = n.op == Op::Lt || n.op == Op::Gt;
    const bool flipped = column_of(n.a) < 0;
    const int column = column_of(flipped ? n.b : n.a);
    const ExprId value = flipped ? n.a : n.b;
    if (column < 0 || !known(value)) {
      only_bounds_ = false;
      return;
    }
    ColumnBounds& b = bounds_[column];
    const bool is_high = less != flipped;
    ExprId& bound = is_high ? b.high : b.low;
    if (bound != kNoExpr) {  // two of one kind: the first counts, WHERE tests the rest
      only_bounds_ = false;
      return;
    }
    bound = value;
    (is_high ? b.high_open : b.low_open) = open;
  }

  // `not_null`: IS NOT NULL is a range too.
  std::vector<KeyRange> ranges_of(const Index& index, bool not_null = false) const {
    std::vector<KeyRange> ranges(1);
    bool used = false;
    for (int c : index.columns) {
      const auto it = bounds_.find(c);
      if (it == bounds_.end()) {
        if (!not_null || !not_null_.count(c)) break;
        for (KeyRange& r : ranges) {
          r.low = kIsNull;
          r.low_open = true;
        }
        used = true;
        break;
      }
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
    const Order* first = nullptr;  // that a given value does not settle
    for (const Order& o : *scan_.order) {
      const int wanted = column_of(o.expr);
      if (is_settled(wanted) || finds_one(path)) continue;
      if (first == nullptr) first = &o;
      while (at < columns.size() && columns[at] != wanted && is_settled(columns[at])) ++at;
      if (at == columns.size() || columns[at] != wanted || o.descending != first->descending) return;
      ++at;
    }
    path.in_order = true;
    path.backward = first != nullptr && first->descending;
  }

  // For the order: a given text does not count when MariaDB runs a write (measured, EXPLAIN DELETE).
  bool is_settled(int column) const {
    const bool text = column >= 0 && types_[static_cast<std::size_t>(column)] == SqlType::Text;
    return is_fixed(column) && !(mariadb_ && scan_.write && text);
  }

  // The whole key of a unique index: one row needs no order.
  bool finds_one(const AccessPath& path) const {
    if (path.index < 0) return false;
    const Index& index = table_.indexes[static_cast<std::size_t>(path.index)];
    const auto& equal = path.ranges.front().equal;
    return index.unique && path.ranges.size() == 1 && equal.size() == index.columns.size() &&
           std::find(equal.begin(), equal.end(), kIsNull) == equal.end();
  }

  bool is_fixed(int column) const {
    const auto it = bounds_.find(column);
    return it != bounds_.end() && it->second.equal.size() == 1;
  }

  const Code& code_;
  const TableLayout& table_;
  const std::vector<SqlType>& types_;
  bool innodb_, mariadb_;
  const TableScan& scan_;
  std::map<int, ColumnBounds> bounds_;
  std::map<int, ExprId> unequal_;
  std::set<int> not_null_;   // columns that the conditions want to be not NULL
  bool only_bounds_ = true;  // bounds_ says all that the conditions do
};

}  // namespace

AccessPath choose_access(const CompileState& state, const TableScan& scan) { return PathChooser(state, scan).choose(); }

AccessPath covering_access(const CompileState& state, const TableScan& scan, const AccessPath& access) {
  return PathChooser(state, scan).covering(access);
}

AccessPath extreme_access(const CompileState& state, const TableScan& scan, int column, bool highest) {
  return PathChooser(state, scan).extreme(column, highest);
}

}  // namespace oncecheck

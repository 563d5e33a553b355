#include "model/step/row_order.hpp"

#include <algorithm>

#include "model/step/numbered_values.hpp"
#include "model/world/access_path.hpp"
#include "model/world/code_walk.hpp"

namespace oncecheck {

namespace {

class RowOrder {
 public:
  RowOrder(const Program& program, const NumberedValues& numbered, int db, bool by_value)
      : p_(program), l_(program.plan.layout), db_(db), numbered_(numbered), by_value_(by_value) {}

  std::string run() {
    for (const SqlStatement& s : p_.plan.statements) {
      if (s.db == db_) look_at(s);
    }
    const DatabaseLayout& db = l_.databases[static_cast<std::size_t>(db_)];
    for (std::size_t t = 0; innodb() && db.foreign_keys && t < db.tables.size(); ++t) told(db.tables[t]);
    auto promise = [&](const Query& q) { cut(q); };
    for (const Invariant& i : p_.invariants) {
      walk_query(p_.plan.code, i.query, [](const Node&) {}, promise);
      walk_expr(p_.plan.code, i.step_expr, [](const Node&) {}, promise);
    }
    // Other steps have expressions of their own, but no queries: those are statements.
    return why_;
  }

 private:
  bool innodb() const { return is_innodb(l_.databases[static_cast<std::size_t>(db_)].engine); }

  void look_at(const SqlStatement& s) {
    for (const SqlStatement& part : s.parts) look_at(part);
    const bool changes = s.kind == SqlKind::Update || s.kind == SqlKind::Delete || s.kind == SqlKind::SelectLock;
    if (changes && !one_row_at_most(table(s.table), s.access)) told(s.table);
    // Locks on the gaps around a record are about its neighbours too.
    if (innodb() && s.table >= 0 && (changes || s.query >= 0 || s.on_conflict || may_repeat(s))) told(s.table);
    const bool rows_matter = s.kind == SqlKind::Insert || !s.into.columns.empty() || s.into.queue >= 0;
    if (s.query >= 0) query(s.query, rows_matter);
    each_expr(s, [&](ExprId e) {
      walk_expr(p_.plan.code, e, [](const Node&) {}, [&](const Query& q) { cut(q); });
    });
  }

  // An INSERT may meet a record of an index that it has a numbered value for, unless that value is new.
  bool may_repeat(const SqlStatement& s) const {
    if (s.kind != SqlKind::Insert) return false;
    return std::any_of(s.rows.begin(), s.rows.end(), [&](const std::vector<ExprId>& row) {
      for (std::size_t c = 0; c < row.size(); ++c) {
        const bool is_new = row[c] >= 0 && p_.plan.code.nodes[static_cast<std::size_t>(row[c])].op == Op::FreshUuid;
        if (numbered_.column(s.table, static_cast<int>(c)) && !is_new) return true;
      }
      return false;
    });
  }

  void query(QueryId id, bool rows_matter) {
    const Query& q = p_.plan.code.queries[static_cast<std::size_t>(id)];
    const bool one_row = q.grouped && q.keys.empty();
    if (rows_matter && !one_row) {
      walk_query(p_.plan.code, id, [](const Node&) {}, [&](const Query& inner) { sources(inner); });
    } else {
      walk_query(p_.plan.code, id, [](const Node&) {}, [&](const Query& inner) { cut(inner); });
    }
  }

  // Which rows it leaves out depends on their order.
  void cut(const Query& q) {
    if (q.limit != kNoExpr || q.offset != kNoExpr || q.distinct_on > 0) {
      sources(q);
      for (const Source& s : q.sources) {
        if (s.kind == Source::Kind::Query) query(s.index, true);
      }
    }
  }

  void sources(const Query& q) {
    for (const Source& s : q.sources) {
      if (s.kind == Source::Kind::Table && !one_row_at_most(table(s.index), s.access)) told(s.index);
    }
  }

  const TableLayout& table(int t) const { return l_.tables[static_cast<std::size_t>(t)]; }

  bool plain(int t, const std::vector<int>& columns) const {
    return std::none_of(columns.begin(), columns.end(), [&](int c) { return numbered_.column(t, c); });
  }

  // Somebody can tell the order of its rows.
  void told(int t) {
    const TableLayout& at = table(t);
    if (at.db != db_) return;  // of a promise: it may be about several
    if (by_value_) {
      why_ = "a statement can tell the order of rows of table " + at.name;
      return;
    }
    if (innodb()) {
      for (const Index& i : at.indexes) {
        if (!plain(t, i.columns)) why_ = "table " + at.name + " has an index of fresh values or times, whose order is arbitrary";
      }
      return;
    }
    // The columns before the last one of the key decide with it.
    const bool ordered = std::any_of(at.indexes.begin(), at.indexes.end(), [&](const Index& i) {
      if (!i.unique || i.where != kNoExpr) return false;
      if (!std::all_of(i.columns.begin(), i.columns.end(), [&](int c) { return at.not_null[static_cast<std::size_t>(c)]; })) return false;
      for (int c = 0; c <= *std::max_element(i.columns.begin(), i.columns.end()); ++c) {
        if (numbered_.column(t, c)) return false;
      }
      return true;
    });
    if (!ordered) why_ = "a statement goes through rows of table " + at.name + ", which no key without fresh values or times puts in order";
  }

  const Program& p_;
  const Layout& l_;
  int db_;
  const NumberedValues& numbered_;
  const bool by_value_;  // whatever values they are
  std::string why_;
};

}  // namespace

std::string numbered_order(const Program& program, const NumberedValues& numbered, int db) {
  return RowOrder(program, numbered, db, false).run();
}

std::string told_order(const Program& program, const NumberedValues& numbered, int db) {
  const DatabaseLayout& d = program.plan.layout.databases[static_cast<std::size_t>(db)];
  if (is_innodb(d.engine) && !d.tables.empty()) return "InnoDB locks the gaps between records, which go by the order of their values";
  return RowOrder(program, numbered, db, true).run();
}

}  // namespace oncecheck

#include "model/step/numbered_values.hpp"

#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/code_walk.hpp"

namespace oncecheck {

NumberedValues::NumberedValues(const Program& program, bool times) : p_(program), code_(program.plan.code), times_(times) {
  if (p_.plan.domain.fresh_count() == 0 && (!times || p_.plan.domain.deadline_count() == 0)) return;
  initial_rows();
  do {
    changed_ = false;
    for (const Instr& i : p_.code) instruction(i);
    for (const SqlStatement& s : p_.plan.statements) statement(s);
    for (const RedisCommand& c : p_.plan.redis_commands) redis(c);
    if (messages_) routes();
  } while (changed_);
}

void NumberedValues::note(bool& flag) {
  changed_ = changed_ || !flag;
  flag = true;
}

void NumberedValues::cell(int cell) {
  if (cell >= 0) changed_ = cells_.insert(cell).second || changed_;
}

void NumberedValues::store(int table, int column) { changed_ = columns_.insert({table, column}).second || changed_; }

bool NumberedValues::column_of_any_table(int column) const {
  return std::any_of(columns_.begin(), columns_.end(), [&](const auto& c) { return c.second == column; });
}

bool NumberedValues::may_hold(ExprId e) const {
  bool found = false;
  walk_expr(code_, e, [&](const Node& n) {
    found = found || n.op == Op::FreshUuid || (times_ && n.op == Op::Now) || (n.op == Op::Local && cells_.count(n.a) > 0) ||
            (n.op == Op::Column && column_of_any_table(n.a)) || ((n.op == Op::Key || n.op == Op::Agg) && !columns_.empty());
  }, [](const Query&) {});
  return found;
}

bool NumberedValues::may_hold(const SqlStatement& s, int c) const {
  const auto at = static_cast<std::size_t>(c);
  if (s.query < 0) return at < s.targets.size() ? may_hold(s.targets[at]) : !columns_.empty();
  const Query& q = code_.queries[static_cast<std::size_t>(s.query)];
  const bool plain = q.combine == Combine::None && at < q.targets.size() &&
                     std::all_of(q.sources.begin(), q.sources.end(), [](const Source& x) { return x.kind == Source::Kind::Table; });
  return plain ? may_hold(q.targets[at]) : true;
}

void NumberedValues::initial_rows() {
  const Layout& l = p_.plan.layout;
  for (std::size_t t = 0; t < l.tables.size(); ++t) {
    for (int i = 0; i < l.tables[t].slots; ++i) {
      const std::uint8_t* v = slot_of(l.tables[t], p_.initial.data(), i);
      for (int c = 0; v[kXmin] != 0 && c < static_cast<int>(l.tables[t].columns.size()); ++c) {
        const Kind kind = p_.plan.domain.decode(column_of(l, l.tables[t], v, c)).kind;
        if (kind == Kind::Fresh || (times_ && (kind == Kind::Deadline || kind == Kind::Recent))) store(static_cast<int>(t), c);
      }
    }
  }
}

void NumberedValues::instruction(const Instr& i) {
  if (i.kind == InstrKind::Set && may_hold(i.expr)) cell(i.index);
  if (i.kind == InstrKind::Call) {
    const CallSite& site = p_.calls[static_cast<std::size_t>(i.index)];
    for (ExprId e : {site.key, site.amount, site.identity, site.target}) message(e);
    for (ExprId e : site.payload) message(e);
    if (messages_) cell(site.body_cell);
  }
  if (i.kind == InstrKind::Publish) {
    const Publication& publication = p_.publications[static_cast<std::size_t>(i.index)];
    message(publication.key);
    for (ExprId e : publication.payload) message(e);
  }
  if (i.kind == InstrKind::Reply) message(p_.replies[static_cast<std::size_t>(i.index)].body);
  if (i.kind == InstrKind::Next) {
    const Queue& queue = p_.queues[static_cast<std::size_t>(i.index)];
    for (std::size_t c = 0; c < queue.row_cells.size(); ++c) {
      if (cells_.count(queue.first + static_cast<int>(c)) > 0) cell(queue.row_cells[c]);
    }
  }
}

void NumberedValues::message(ExprId e) {
  if (may_hold(e)) note(messages_);
}

void NumberedValues::routes() {
  for (const RouteInfo& r : p_.routes) {
    if (r.kind == RouteKind::Client) continue;
    for (int c : r.key_cell) cell(c);
    for (const auto& fields : r.fields) {
      for (const FieldCell& f : fields) {
        if (f.payload >= 0) cell(f.cell);
      }
    }
  }
}

void NumberedValues::statement(const SqlStatement& s) {
  for (const SqlStatement& part : s.parts) statement(part);
  for (const auto& row : s.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) assign(s.table, static_cast<int>(c), row[c]);
  }
  for (std::size_t c = 0; c < s.defaults.size(); ++c) assign(s.table, static_cast<int>(c), s.defaults[c]);
  for (const auto& [column, e] : s.set) assign(s.table, column, e);
  for (const auto& [column, e] : s.conflict_set) assign(s.table, column, e);
  for (const auto& [column, from] : s.select_columns) {
    if (may_hold(s, from)) store(s.table, column);
  }
  for (const auto& [column, to] : s.into.columns) {
    if (may_hold(s, column)) cell(to);
  }
  for (std::size_t c = 0; s.into.queue >= 0 && c < s.into.queue_columns.size(); ++c) {
    if (!may_hold(s, s.into.queue_columns[c])) continue;
    for (int r = 0; r < s.into.queue_rows; ++r) cell(s.into.queue + r * static_cast<int>(s.into.queue_columns.size()) + static_cast<int>(c));
  }
}

void NumberedValues::assign(int table, int column, ExprId e) {
  if (may_hold(e)) store(table, column);
}

void NumberedValues::redis(const RedisCommand& c) {
  for (ExprId e : c.args) {
    if (may_hold(e)) note(redis_);
  }
  if (!redis_) return;
  cell(c.into_value);
  for (int item : c.into_items) cell(item);
}

}  // namespace oncecheck

#include "model/step/canonical_postgres.hpp"

#include <algorithm>

#include "model/step/slots.hpp"
#include "model/world/access_path.hpp"
#include "model/world/code_walk.hpp"
#include "model/world/statement_run.hpp"

namespace oncecheck {

namespace {

bool in_its_middle(const std::uint8_t* session) {
  const bool at_row = session[kPosition] != 0 && session[kPosition] != kCommitPending;
  return at_row || session[kWaits] != 0 || session[kWaitKind] != 0 || session[kWaitTable] != 0 || session[kPart] != 0;
}

// Whether the statement does the same when it goes on among rows in another order: it touches one row of its table, and reads
// no other.
bool any_order(const Plan& plan, const SqlStatement& s) {
  if (!s.parts.empty() || s.query >= 0) return false;
  bool reads = false;
  each_expr(s, [&](ExprId e) {
    walk_expr(plan.code, e, [](const Node&) {}, [&](const Query&) { reads = true; });
  });
  if (reads) return false;
  switch (s.kind) {
    case SqlKind::LockFunction: return true;
    case SqlKind::Insert: return s.rows.size() == 1;
    case SqlKind::Update:
    case SqlKind::Delete:
    case SqlKind::SelectLock: return one_row_at_most(plan.layout.tables[static_cast<std::size_t>(s.table)], s.access);
    default: return false;
  }
}

bool order_matters(const Program& program, const DatabaseLayout& db, const std::uint8_t* w) {
  const Layout& layout = program.plan.layout;
  return std::any_of(db.sessions.begin(), db.sessions.end(), [&](int s) {
    const SessionLayout& session = layout.sessions[static_cast<std::size_t>(s)];
    if (!in_its_middle(w + session.offset)) return false;
    if (session.task < 0) return true;
    const int pc = load_pc(w + layout.tasks[static_cast<std::size_t>(session.task)].offset);
    const Instr& instr = program.code[static_cast<std::size_t>(pc)];
    return instr.kind != InstrKind::Sql ||
           !any_order(program.plan, program.plan.statements[static_cast<std::size_t>(instr.index)]);
  });
}

}  // namespace

void sort_postgres_table(const Program& program, int table, std::uint8_t* w) {
  const TableLayout& t = program.plan.layout.tables[static_cast<std::size_t>(table)];
  const DatabaseLayout& db = program.plan.layout.databases[static_cast<std::size_t>(t.db)];
  int used = 0;
  while (used < t.slots && slot_of(t, w, used)[kXmin] != 0) ++used;
  if (used <= 1) {
    int rest = used;
    while (rest < t.slots && slot_of(t, w, rest)[kXmin] == 0) ++rest;
    if (rest == t.slots) return;  // nothing to sort
  }
  const bool keep = order_matters(program, db, w);
  auto precedes = [&](int a, int b) {
    const std::uint8_t* x = slot_of(t, w, a);
    const std::uint8_t* y = slot_of(t, w, b);
    if ((x[kXmin] == 0) != (y[kXmin] == 0)) return x[kXmin] != 0;
    if (x[kXmin] == 0 || keep) return a < b;
    // As they may lie in a heap: newer ones behind; who changes or locks a version does not move it.
    const std::uint8_t a_age = std::min(x[kXmin], kInProgress), b_age = std::min(y[kXmin], kInProgress);
    if (a_age != b_age) return a_age < b_age;  // uncommitted ones alike: no session comes before another
    int order = std::memcmp(x + t.cells, y + t.cells, static_cast<std::size_t>(t.stride - t.cells));
    if (order == 0) order = std::memcmp(x + kXmin, y + kXmin, 1);
    if (order == 0) order = std::memcmp(x + kXmax, y + kXmax, 1);
    if (order == 0) order = std::memcmp(x + kFlags, y + kFlags, static_cast<std::size_t>(t.cells - kFlags));
    return order != 0 ? order < 0 : a < b;
  };
  SlotOrder order;
  if (!order.sort(t.slots, precedes)) return;
  order.move(t, w);
  for (int s : db.sessions) {
    std::uint8_t* session = w + program.plan.layout.sessions[static_cast<std::size_t>(s)].offset;
    if (session[kWaitTable] == table + 1) session[kWaitSlot] = static_cast<std::uint8_t>(order.new_of_old[session[kWaitSlot]]);
  }
}

}  // namespace oncecheck

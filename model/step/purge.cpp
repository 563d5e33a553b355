#include "model/step/purge.hpp"

#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/innodb_locks.hpp"
#include "model/world/innodb_transaction.hpp"

namespace oncecheck {

namespace {

// Whether the statement may lock records of the table, or wait for one. Rather once too often.
bool may_lock(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& s, int table) {
  const DatabaseLayout& db = plan.layout.databases[static_cast<std::size_t>(s.db)];
  // The connection that a pool gives it may be set to anything.
  const bool reads_lock = db.pool.connections > 0 || innodb_isolation(plan.layout, w, session) == Isolation::Serializable;
  switch (s.kind) {
    case SqlKind::Select: return reads_lock;
    case SqlKind::SelectLock:
    case SqlKind::Insert:
    case SqlKind::Update:
    case SqlKind::Delete: break;
    default: return std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) {
        return may_lock(plan, w, session, part, table);
      });
  }
  return s.table == table || db.foreign_keys || s.reads_first || reads_lock || !s.parts.empty();
}

bool somebody_may_lock(const Program& p, const std::uint8_t* w, int table) {
  const Layout& l = p.plan.layout;
  const int db = l.tables[static_cast<std::size_t>(table)].db;
  bool any_runs = false;
  for (const TaskLayout& t : l.tasks) {
    const std::uint8_t* me = w + t.offset;
    if (me[kStatus] == kFree || me[kStatus] == kLingering) continue;
    any_runs = true;
    if (me[kStatus] == kWaitsCall) continue;
    const Instr& instr = p.code[static_cast<std::size_t>(load_pc(me))];
    if (instr.kind != InstrKind::Sql) continue;
    const SqlStatement& s = p.plan.statements[static_cast<std::size_t>(instr.index)];
    if (s.db == db && may_lock(p.plan, w, t.sessions[static_cast<std::size_t>(db)], s, table)) return true;
  }
  return !any_runs;
}

}  // namespace

void list_purges(const Program& program, const std::uint8_t* world, std::vector<Event>& out) {
  const Layout& layout = program.plan.layout;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    const TableLayout& table = layout.tables[t];
    const DatabaseLayout& db = layout.databases[static_cast<std::size_t>(table.db)];
    if (!is_innodb(db.engine) || db.sessions.empty()) continue;
    const int number = static_cast<int>(t);
    bool asked = !program.clear_dead;
    for (int i = 0; i < table.slots; ++i) {
      if (!innodb_purgeable(program.plan, world, number, i)) continue;
      if (!asked && !somebody_may_lock(program, world, number)) break;
      asked = true;
      out.push_back({EventKind::Purge, static_cast<std::uint8_t>(t), static_cast<std::uint8_t>(i)});
    }
  }
}

}  // namespace oncecheck

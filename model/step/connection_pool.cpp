#include "model/step/connection_pool.hpp"

#include <tuple>
#include <utility>

#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr std::uint8_t kOfClient = kConnectionDead | kTxReadOnly;  // flags that do not stay on the connection

const std::uint8_t* bytes_of(const Plan& plan, const std::uint8_t* w, int session) {
  return w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
}
std::uint8_t* bytes_of(const Plan& plan, std::uint8_t* w, int session) {
  return w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
}

const DatabaseLayout& database_of(const Plan& plan, int db) { return plan.layout.databases[static_cast<std::size_t>(db)]; }

CellId lock_of(const Plan& plan, const std::uint8_t* w, const DatabaseLayout& db, int session) {
  return db.advisory.offset < 0 ? CellId{kNullCell} : first_advisory(plan, w, session);
}

// What is left on an idle connection. Two that hold the same lock do not exist, so this tells apart all that differ.
auto left_on(const Plan& plan, const std::uint8_t* w, const DatabaseLayout& db, int session) {
  const std::uint8_t* s = bytes_of(plan, w, session);
  return std::tuple(lock_of(plan, w, db, session), s[kSessionFlags], s[kIsolation]);
}

// The task is in the middle of a transaction or of a statement of this database.
bool has_connection(const Program& p, const std::uint8_t* w, int task, int db) {
  const TaskLayout& t = p.plan.layout.tasks[static_cast<std::size_t>(task)];
  const int session = t.sessions[static_cast<std::size_t>(db)];
  const std::uint8_t* me = w + t.offset;
  if (session < 0 || me[kStatus] == kFree) return false;
  if (bytes_of(p.plan, w, session)[kTx] != kNoTx) return true;
  if (me[kStatus] != kBlocked && me[kStatus] != kOrphaned) return false;
  const Instr& instr = p.code[static_cast<std::size_t>(load_pc(me))];
  return instr.kind == InstrKind::Sql && p.plan.statements[static_cast<std::size_t>(instr.index)].db == db;
}

// Whether there is a connection with nothing left on it, or room for a new one.
bool clean_one_free(const Program& p, const std::uint8_t* w, int db) {
  const PoolLayout& pool = database_of(p.plan, db).pool;
  int taken = 0;
  for (int s : pool.idle) taken += left_on_connection(p.plan, w, s) ? 1 : 0;
  for (std::size_t t = 0; t < p.plan.layout.tasks.size(); ++t) taken += has_connection(p, w, static_cast<int>(t), db) ? 1 : 0;
  return taken < pool.connections;
}

// Exchanges everything that stays on a connection. REQUIRES: both are outside of a transaction.
void exchange(const Plan& plan, std::uint8_t* w, const DatabaseLayout& db, int one, int other) {
  std::uint8_t* a = bytes_of(plan, w, one);
  std::uint8_t* b = bytes_of(plan, w, other);
  const auto differ = static_cast<std::uint8_t>((a[kSessionFlags] ^ b[kSessionFlags]) & ~kOfClient);
  a[kSessionFlags] ^= differ;
  b[kSessionFlags] ^= differ;
  std::swap(a[kIsolation], b[kIsolation]);
  if (db.advisory.offset >= 0) exchange_advisory(plan, w, one, other);
}

// Of idle connections with the same things left one stands for all; they are side by side.
template <class Visit>
void each_kind(const Plan& plan, const std::uint8_t* w, const DatabaseLayout& db, Visit visit) {
  for (std::size_t i = 0; i < db.pool.idle.size(); ++i) {
    const int s = db.pool.idle[i];
    if (!left_on_connection(plan, w, s)) continue;
    if (i > 0 && left_on(plan, w, db, s) == left_on(plan, w, db, db.pool.idle[i - 1])) continue;
    visit(s);
  }
}

}  // namespace

bool left_on_connection(const Plan& plan, const std::uint8_t* w, int session) {
  const DatabaseLayout& db = database_of(plan, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  return left_on(plan, w, db, session) != std::tuple(CellId{kNullCell}, std::uint8_t{0}, std::uint8_t{0});
}

int connection_ways(const Program& p, const std::uint8_t* w, int task, const SqlStatement& statement) {
  const DatabaseLayout& db = database_of(p.plan, statement.db);
  if (db.pool.connections == 0 || statement.on_replica || has_connection(p, w, task, statement.db)) return 1;
  const int session = p.plan.layout.tasks[static_cast<std::size_t>(task)].sessions[static_cast<std::size_t>(statement.db)];
  if ((bytes_of(p.plan, w, session)[kSessionFlags] & kConnectionDead) != 0) return 1;  // it hears of that first
  int ways = clean_one_free(p, w, statement.db) ? 1 : 0;
  each_kind(p.plan, w, db, [&](int) { ++ways; });
  return ways;
}

int connection_of_way(const Program& p, const std::uint8_t* w, int task, const SqlStatement& statement, int way) {
  const DatabaseLayout& db = database_of(p.plan, statement.db);
  if (db.pool.connections == 0 || statement.on_replica || has_connection(p, w, task, statement.db)) return -1;
  int left = way - (clean_one_free(p, w, statement.db) ? 1 : 0), found = -1;
  each_kind(p.plan, w, db, [&](int s) { found = left-- == 0 ? s : found; });
  return found;
}

void take_connection(const Program& p, std::uint8_t* w, int task, const SqlStatement& statement, int way) {
  const int idle = connection_of_way(p, w, task, statement, way);
  if (idle < 0) return;
  const int session = p.plan.layout.tasks[static_cast<std::size_t>(task)].sessions[static_cast<std::size_t>(statement.db)];
  exchange(p.plan, w, database_of(p.plan, statement.db), idle, session);
}

void give_connection_back(const Plan& plan, std::uint8_t* w, int session) {
  const DatabaseLayout& db = database_of(plan, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  const std::uint8_t* s = bytes_of(plan, w, session);
  if (db.pool.connections == 0 || s[kTx] != kNoTx) return;
  if ((s[kSessionFlags] & ~kOfClient) == 0 && s[kIsolation] == 0 && lock_of(plan, w, db, session) == kNullCell) return;
  for (int idle : db.pool.idle) {
    if (left_on_connection(plan, w, idle)) continue;
    exchange(plan, w, db, session, idle);
    return;
  }
  CHECK_THAT(!"a pool has a place for each of its connections");
}

void sort_idle_connections(const Plan& plan, std::uint8_t* w, const DatabaseLayout& db) {
  const std::vector<int>& idle = db.pool.idle;
  for (std::size_t i = 1; i < idle.size(); ++i) {
    for (std::size_t j = i; j > 0 && left_on(plan, w, db, idle[j - 1]) < left_on(plan, w, db, idle[j]); --j) {
      exchange(plan, w, db, idle[j - 1], idle[j]);
    }
  }
}

}  // namespace oncecheck

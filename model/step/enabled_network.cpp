// What a partition between named groups makes possible, beside what it forbids (partition.hpp). None of it is listed before
// it is known whether anything else can happen: a cut may stand as long as you like, so timers run out meanwhile.
#include "model/step/connection_pool.hpp"
#include "model/step/enabled_list.hpp"
#include "model/step/partition.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"

namespace oncecheck {

void Enabled::network(bool quiet) {
  if (l_.cuts < 0) return;
  for (int cut = 0; cut < static_cast<int>(p_.network.cuts.size()); ++cut) {
    if ((w_[l_.cuts] >> cut & 1) != 0) add(EventKind::HealNetwork, cut);
  }
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const int id = static_cast<int>(t);
    const std::uint8_t status = task(id)[kStatus];
    for (int db = 0; status != kFree && db < static_cast<int>(l_.databases.size()); ++db) {
      if (server_may_end(p_, w_, id, db)) add(EventKind::EndSession, id, db);
    }
    if (w_[l_.cuts] == 0) continue;
    if ((status == kReady || status == kBlocked) && step_cut_off(p_, w_, id)) cut_step(id);
    if (status == kWaitsCall && call_of(id).has_timeout && answer_possible(id) && !answer_passes(p_, w_, id)) {
      add(EventKind::CallTimeout, id);
    }
  }
  if (w_[l_.cuts] == 0) return;
  for (int s = 0; s < l_.sender_count && !quiet; ++s) {
    if (waits(s) && reply_possible(s) && !reply_passes(p_, w_, s)) add(EventKind::ClientTimeout, s);
  }
  for (int m = 0; m < l_.message_slots && l_.message_hold >= 0; ++m) {
    if (!repeats_message(m) && holder_cut_off(m)) add(EventKind::Redeliver, m);
  }
}

// Whoever sent it hears nothing from the consumer, and takes it for dead.
bool Enabled::holder_cut_off(int m) const {
  const std::uint8_t* me = message(m);
  if (l_.cuts < 0 || me[0] == 0 || me[l_.message_hold] == kNotHeld) return false;
  if (me[l_.message_hold] == kHeldByNobody || me[l_.message_hold] == kDeadLetter) return false;
  return origin_cut_off(p_, w_, me[l_.message_hold] - 1, me);
}

void Enabled::cut_step(int t) {
  const std::uint8_t* me = task(t);
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
  const bool sent = w_[l_.tasks[static_cast<std::size_t>(t)].network + kSent] != 0;
  bool before = true, after = sent;
  if (instr.kind == InstrKind::Redis) {
    const int redis = p_.plan.redis_commands[static_cast<std::size_t>(instr.index)].redis;
    const RedisConnection connection(p_.plan, const_cast<std::uint8_t*>(w_), redis, t);  // only looked at
    // A library that sends again waits for the healing.
    before = !p_.scenario.redis[static_cast<std::size_t>(redis)].second.resends || connection.open() || connection.has(kBroken);
    after = false;
    const int ways = sent ? redis_ways(p_.plan, w_, t, instr.index) : 0;
    for (int way = 0; way < ways; ++way) add(EventKind::LoseConnection, t, 1, way);
  }
  if (instr.kind == InstrKind::Sql) {
    const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
    const int session = l_.tasks[static_cast<std::size_t>(t)].sessions[static_cast<std::size_t>(s.db)];
    // What waited for a lock goes on at the server when it has it.
    const bool woken = me[kStatus] == kBlocked && w_[l_.sessions[static_cast<std::size_t>(session)].offset + kWaits] == 0;
    // A pool that has no connection for it does not run it either.
    const int ways = connection_ways(p_, w_, t, s);
    const bool changes = s.kind == SqlKind::Commit || s.kind == SqlKind::Insert || s.kind == SqlKind::Update ||
                         s.kind == SqlKind::Delete || s.kind == SqlKind::SelectLock || s.kind == SqlKind::LockFunction;
    after = woken;
    for (int way = 0; me[kStatus] == kReady && sent && changes && way < ways; ++way) add(EventKind::LoseConnection, t, 1, way);
  }
  if (before) add(EventKind::LoseConnection, t, 0);
  if (after) add(EventKind::LoseConnection, t, 1);
}

void Enabled::cuts() {
  for (int cut = 0; l_.cuts >= 0 && cut < static_cast<int>(p_.network.cuts.size()); ++cut) {
    const int b = budget(FaultKind::Partition, FaultTarget::Network, cut);
    if (b >= 0 && (w_[l_.cuts] >> cut & 1) == 0) add(EventKind::CutNetwork, cut, 0, 0, b);
  }
}

}  // namespace oncecheck

#include <algorithm>

#include "model/step/connection_pool.hpp"
#include "model/step/enabled_list.hpp"
#include "model/step/partition.hpp"
#include "model/step/provider_run.hpp"
#include "model/world/redis.hpp"
#include "model/world/replication.hpp"
#include "model/world/statement.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

void Enabled::drain_timeouts(bool early) {
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    const int service = static_cast<int>(s);
    if (l_.instances[s] < 0 || !p_.services[s].drain_ends) continue;
    const int pays = timer_budget(early, FaultKind::Timeout, FaultTarget::Service, service);
    for (int i = 0; pays >= 0 && i < p_.services[s].instances; ++i) {
      if ((instance_flags(service, i) & kDraining) != 0) add(EventKind::DrainTimeout, service, i, 0, pays);
    }
  }
}

void Enabled::quiet_timers() {
  for (int s = 0; s < l_.sender_count; ++s) {
    if (waits(s) && runs_out_free(s)) add(EventKind::ClientTimeout, s);
  }
  // Who calls a service may wait for somebody who waits for it; behind a partition see network().
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const int id = static_cast<int>(t);
    if (task(id)[kStatus] != kWaitsCall || !call_of(id).has_timeout || !answer_possible(id)) continue;
    if (l_.cuts < 0 || w_[l_.cuts] == 0 || answer_passes(p_, w_, id)) add(EventKind::CallTimeout, id);
  }
  drain_timeouts(false);
  default_lock_timeouts(false);
  pool_timeouts(false);
  expiry(false);
}

void Enabled::pool_timeouts(bool early) {
  if (!p_.has_pools || (early && !pays(FaultKind::Timeout))) return;
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = task(static_cast<int>(t));
    if (me[kStatus] != kReady) continue;
    const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
    if (instr.kind != InstrKind::Sql) continue;
    const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
    if (connection_ways(p_, w_, static_cast<int>(t), s) > 0 || step_cut_off(p_, w_, static_cast<int>(t))) continue;
    const int pays = timer_budget(early, FaultKind::Timeout, FaultTarget::Database, s.db);
    if (pays >= 0) add(EventKind::PoolTimeout, static_cast<int>(t), 0, 0, pays);
  }
}

void Enabled::default_lock_timeouts(bool early) {
  if (!p_.has_innodb || (early && !pays(FaultKind::Timeout))) return;
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = task(static_cast<int>(t));
    if (me[kStatus] != kBlocked && me[kStatus] != kOrphaned) continue;
    if (me[kStatus] == kBlocked && step_cut_off(p_, w_, static_cast<int>(t))) continue;
    for (int s : l_.tasks[t].sessions) {
      if (s < 0) continue;
      const SessionLayout& session = l_.sessions[static_cast<std::size_t>(s)];
      const std::uint8_t* bytes = w_ + session.offset;
      const bool innodb = is_innodb(l_.databases[static_cast<std::size_t>(session.db)].engine);
      if (!innodb || bytes[kWaits] == 0 || bytes[kWaitKind] != kWaitLock) continue;
      if ((bytes[kSessionFlags] & kLockTimeoutOn) != 0) continue;  // it may fire anyway
      const int pays = timer_budget(early, FaultKind::Timeout, FaultTarget::Database, session.db);
      if (pays >= 0) add(EventKind::LockTimeout, static_cast<int>(t), 0, 0, pays);
    }
  }
}

void Enabled::expiry(bool early) {
  const int any = timer_budget(early, FaultKind::Expire, FaultTarget::Any, -1);
  for (int d = 0; any >= 0 && d < l_.deadline_slots; ++d) {
    const std::uint16_t state = deadline_state(l_, w_, d);
    if (state == kRunning) add(EventKind::PassDeadline, d, 0, 0, any);
    for (std::size_t s = 0; state != 0 && state != kRunning && s < l_.clocks.size(); ++s) {
      for (int i = 0; l_.clocks[s] >= 0 && i < l_.instance_counts[s]; ++i) {
        if ((state >> (l_.clocks[s] + i)) & 1) add(EventKind::PassDeadline, d, 1 + l_.clocks[s] + i, 0, any);
      }
    }
  }
  for (std::size_t p = 0; p < p_.providers.size(); ++p) {
    const int provider = static_cast<int>(p);
    const int pays = timer_budget(early, FaultKind::Expire, FaultTarget::Provider, provider);
    for (int k = 0; pays >= 0 && k < l_.providers[p].key_slots; ++k) {
      if (key_runs_out(provider, k)) add(EventKind::ForgetKey, provider, k, 0, pays);
    }
  }
  for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) {
    const int pays = timer_budget(early, FaultKind::Expire, FaultTarget::Redis, r);
    if (pays >= 0) redis_expiry(r, pays);
  }
}

// Of a world in which nothing else can happen only what is not free there.
void Enabled::early_expiry(bool quiet) {
  const bool never = std::any_of(p_.faults.begin(), p_.faults.end(), [](const FaultBudget& f) { return f.only && f.kind == FaultKind::Expire; });
  if (!quiet || never) expiry(true);
}

bool Enabled::key_runs_out(int provider, int slot) const {
  const KeyRecord record = read_key(p_.plan, w_, provider, slot);
  return record.operation >= 0 && record.state != KeyState::InFlight && record.state != KeyState::Cancelled &&
         p_.providers[static_cast<std::size_t>(provider)].operations[static_cast<std::size_t>(record.operation)].forgets;
}

void Enabled::message_faults() {
  const bool repeats = pays_one(bit_of(FaultKind::Redeliver) | bit_of(FaultKind::DuplicateRequest)), loses = pays(FaultKind::LoseRequest);
  for (int m = 0; (repeats || loses) && m < l_.message_slots; ++m) {
    const std::uint8_t* me = message(m);
    if (me[0] == 0 || repeats_message(m)) continue;
    const RouteInfo& route = p_.routes[static_cast<std::size_t>(me[0] - 1)];
    if (l_.message_hold >= 0 && me[l_.message_hold] != kNotHeld) {
      const bool held = me[l_.message_hold] != kDeadLetter && me[l_.message_hold] != kHeldByNobody;
      int b = route.queue >= 0 ? budget(FaultKind::Redeliver, FaultTarget::Queue, route.queue)
                               : budget(FaultKind::Redeliver, FaultTarget::Service, route.service);
      if (held && b >= 0 && !holder_cut_off(m)) add(EventKind::Redeliver, m, 0, 0, b);
      continue;
    }
    // A queue loses nothing that it has taken.
    int b = route.queue >= 0 ? -1 : budget(FaultKind::LoseRequest, FaultTarget::Service, route.service);
    if (b >= 0) add(EventKind::LoseRequest, m, 0, 0, b);
    b = route.queue >= 0 ? budget(FaultKind::DuplicateRequest, FaultTarget::Queue, route.queue)
                         : budget(FaultKind::DuplicateRequest, FaultTarget::Service, route.service);
    if (b >= 0) add(EventKind::Duplicate, m, 0, 0, b);
  }
  for (std::size_t p = 0; (repeats || loses) && p < p_.providers.size(); ++p) call_faults(static_cast<int>(p));
  if (!pays(FaultKind::LoseResponse)) return;
  for (int s = 0; s < l_.sender_count; ++s) {
    if (sender(s)[kSenderReply] == 0) continue;
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    const int route = sender_state(sender(s)) == kPolling ? info.poll_route : info.route;
    const int b = budget(FaultKind::LoseResponse, FaultTarget::Service, p_.routes[static_cast<std::size_t>(route)].service);
    if (b >= 0) add(EventKind::LoseResponse, s, 0, 0, b);
  }
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const int id = static_cast<int>(t);
    if (task(id)[kStatus] != kWaitsCall || task(id)[kAnswer] == 0) continue;
    const int b = call_budget(FaultKind::LoseResponse, call_of(id));
    if (b >= 0) add(EventKind::LoseAnswer, id, 0, 0, b);
  }
}

void Enabled::connection_faults() {
  if (!pays(FaultKind::LoseConnection)) return;
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = task(static_cast<int>(t));
    if (me[kStatus] != kReady && me[kStatus] != kBlocked) continue;
    if (step_cut_off(p_, w_, static_cast<int>(t))) continue;  // free
    const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
    if (instr.kind == InstrKind::Publish) {
      const Publication& publication = p_.publications[static_cast<std::size_t>(instr.index)];
      const int b = budget(FaultKind::LoseConnection, FaultTarget::Queue, p_.routes[static_cast<std::size_t>(publication.route)].queue);
      for (int after = 0; b >= 0 && after < 2; ++after) add(EventKind::LoseConnection, static_cast<int>(t), after, 0, b);
    }
    if (instr.kind == InstrKind::Redis) {
      const int redis = p_.plan.redis_commands[static_cast<std::size_t>(instr.index)].redis;
      const int b = budget(FaultKind::LoseConnection, FaultTarget::Redis, redis);
      if (b >= 0) add(EventKind::LoseConnection, static_cast<int>(t), 0, 0, b);
      const int ways = b >= 0 ? redis_ways(p_.plan, w_, static_cast<int>(t), instr.index) : 0;
      for (int way = 0; way < ways; ++way) add(EventKind::LoseConnection, static_cast<int>(t), 1, way, b);
    }
    if (instr.kind != InstrKind::Sql) continue;
    const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
    const int b = budget(FaultKind::LoseConnection, FaultTarget::Database, s.db);
    if (b < 0) continue;
    const int session = l_.tasks[t].sessions[static_cast<std::size_t>(s.db)];
    const std::uint8_t* bytes = w_ + l_.sessions[static_cast<std::size_t>(session)].offset;
    const bool in_block = bytes[kTx] == kOpenTx || bytes[kTx] == kFailedTx;
    if (s.kind != SqlKind::Begin || in_block) add(EventKind::LoseConnection, static_cast<int>(t), 0, 0, b);
    const bool runs = me[kStatus] == kReady || bytes[kWaits] == 0;
    const int ways = runs && may_last(p_.plan, w_, session, s) ? connection_ways(p_, w_, static_cast<int>(t), s) : 0;
    for (int way = 0; way < ways; ++way) add(EventKind::LoseConnection, static_cast<int>(t), 1, way, b);
  }
  for (std::size_t d = 0; d < l_.databases.size(); ++d) {
    const int b = budget(FaultKind::LoseConnection, FaultTarget::Database, static_cast<int>(d));
    for (int s : l_.databases[d].pool.idle) {
      if (b >= 0 && left_on_connection(p_.plan, w_, s)) add(EventKind::CloseIdle, s, 0, 0, b);
    }
  }
}

void Enabled::call_faults(int p) {
  const ProviderLayout& layout = l_.providers[static_cast<std::size_t>(p)];
  for (int i = 0; i < layout.inbox_slots; ++i) {
    if (!request_waiting(p_.plan, w_, p, i) || repeats_call(layout, i)) continue;
    if (read_request(p_.plan, w_, p, i).under_way) continue;  // it has arrived
    int b = budget(FaultKind::LoseRequest, FaultTarget::Provider, p);
    if (b >= 0) add(EventKind::LoseCall, p, i, 0, b);
    if (only_reads(read_request(p_.plan, w_, p, i).operation)) continue;  // a read twice is a read
    b = budget(FaultKind::DuplicateRequest, FaultTarget::Provider, p);
    if (b >= 0) add(EventKind::DuplicateCall, p, i, 0, b);
  }
}

void Enabled::early_timeouts() {
  if (!pays(FaultKind::Timeout)) return;
  default_lock_timeouts(true);
  pool_timeouts(true);
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const int id = static_cast<int>(t);
    if (task(id)[kStatus] != kWaitsCall || !call_of(id).has_timeout || !answer_passes(p_, w_, id)) continue;
    if (!answer_possible(id) && runs_out_free(call_of(id))) continue;  // free
    const int b = call_budget(FaultKind::Timeout, call_of(id));
    if (b >= 0) add(EventKind::CallTimeout, id, 0, 0, b);
  }
  drain_timeouts(true);
  for (int s = 0; s < l_.sender_count; ++s) {
    if (!waits(s) || (!reply_possible(s) && runs_out_free(s)) || !reply_passes(p_, w_, s)) continue;
    const int b = budget(FaultKind::Timeout, FaultTarget::Client, p_.senders[static_cast<std::size_t>(s)].client);
    if (b >= 0) add(EventKind::ClientTimeout, s, 0, 0, b);
  }
}

void Enabled::process_faults() {
  constexpr std::uint32_t kDeploys = bit_of(FaultKind::Deploy) | bit_of(FaultKind::RollingDeploy);
  if (!pays_one(bit_of(FaultKind::Crash) | bit_of(FaultKind::ClockJump) | kDeploys)) return;
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    const int service = static_cast<int>(s);
    const ServiceInfo& info = p_.services[s];
    int b = budget(FaultKind::Crash, FaultTarget::Service, service);
    if (b >= 0 && info.process_per_request) {
      for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
        const std::uint8_t* me = task(static_cast<int>(t));
        if (l_.tasks[t].service != service || me[kStatus] == kFree || me[kInstance] == kNobody) continue;
        add(EventKind::Crash, service, me[kInstance], static_cast<int>(t) + 1, b);
      }
    } else if (b >= 0) {
      for (int i = 0; i < info.instances; ++i) {
        // The restart of an idle instance matters only for its start-up program, and one stands for all.
        if (instance_idle(service, i) && (start_body(service, i) < 0 || stands_for_another(service, i))) continue;
        add(EventKind::Crash, service, i, 0, b);
      }
    }
    if (!pays_one(bit_of(FaultKind::ClockJump) | kDeploys)) continue;
    bool deploying = false, old = false, busy = false;
    for (int i = 0; i < info.instances; ++i) {
      const std::uint8_t flags = instance_flags(service, i);
      deploying = deploying || (flags & (kDraining | kToReplace)) != 0;
      old = old || (flags & kNewVersion) == 0;
      busy = busy || !instance_idle(service, i);
    }
    b = budget(FaultKind::ClockJump, FaultTarget::Service, service);
    for (int i = 0; b >= 0 && i < info.instances; ++i) {
      if (stands_for_another(service, i) || (instance_flags(service, i) & (kClockAhead | kClockBehind)) != 0) continue;
      add(EventKind::ClockJump, service, i, 0, b);
      add(EventKind::ClockJump, service, i, 1, b);
    }
    if (deploying) continue;
    // What changes nothing is left out.
    const bool matters = busy || (info.has_next && old) || info.start_body[0] >= 0 || info.start_body[1] >= 0;
    b = budget(FaultKind::Deploy, FaultTarget::Service, service);
    if (b >= 0 && matters) add(EventKind::Deploy, service, 0, 0, b);
    b = budget(FaultKind::RollingDeploy, FaultTarget::Service, service);
    if (b >= 0 && matters) add(EventKind::RollingDeploy, service, 0, 0, b);
  }
}

int Enabled::start_body(int service, int instance) const {
  return p_.services[static_cast<std::size_t>(service)].start_body[(instance_flags(service, instance) & kNewVersion) != 0 ? 1 : 0];
}

void Enabled::failovers() {
  for (std::size_t d = 0; d < l_.databases.size(); ++d) {
    const int db = static_cast<int>(d);
    const int b = has_replica(p_.plan, db) ? budget(FaultKind::Failover, FaultTarget::Database, db) : -1;
    if (b >= 0) add(EventKind::FailoverDatabase, db, 0, 0, b);
  }
  for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) redis_faults(r);
}

}  // namespace oncecheck

#include <algorithm>
#include <cstring>

#include "model/step/connection_pool.hpp"
#include "model/step/enabled_in_part.hpp"
#include "model/step/enabled_list.hpp"
#include "model/step/partition.hpp"
#include "model/step/provider_run.hpp"
#include "model/step/purge.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/replication.hpp"
#include "model/world/ssi.hpp"
#include "model/world/time.hpp"
#include "model/world/wait_graph.hpp"

namespace oncecheck {

void Enabled::list(bool busy) {
  sends();
  deliveries();
  tasks();
  providers();
  receipts();
  hopeless_timeouts();
  replication();
  queues();
  deploys();
  const bool quiet = out_.empty() && !busy;
  if (quiet) quiet_timers();
  list_purges(p_, w_, out_);  // in no hurry: time may run out while deleted rows wait for it
  jobs();
  network(quiet);
  if (faults_) {
    message_faults();
    early_timeouts();
    early_expiry(quiet);
    process_faults();
    connection_faults();
    failovers();
    cuts();
  }
}

int Enabled::budget(FaultKind kind, FaultTarget target, int index) const {
  if (!pays(kind)) return -1;
  // One that is meant for this place pays before one that is meant for any.
  int any = -1;
  for (std::size_t i = 0; i < p_.faults.size(); ++i) {
    const FaultBudget& f = p_.faults[i];
    if (!pays_for(f.kind, kind) || w_[l_.budgets + static_cast<int>(i)] == 0) continue;
    if (f.target == target && f.index == index && target != FaultTarget::Any) return static_cast<int>(i);
    if (f.target == FaultTarget::Any && any < 0) any = static_cast<int>(i);
  }
  return any;
}

bool Enabled::runs_out_free(FaultKind kind, FaultTarget target, int index) const {
  for (const FaultBudget& f : p_.faults) {
    if (f.only && f.kind == kind && (f.target == FaultTarget::Any || (f.target == target && f.index == index))) return false;
  }
  return true;
}

int Enabled::timer_budget(bool early, FaultKind kind, FaultTarget target, int index) const {
  if (early) return budget(kind, target, index);
  return runs_out_free(kind, target, index) ? kNoBudget : -1;
}

bool Enabled::runs_out_free(const CallSite& site) const {
  if (site.route < 0) return runs_out_free(FaultKind::Timeout, FaultTarget::Provider, site.provider);
  return runs_out_free(FaultKind::Timeout, FaultTarget::Service, p_.routes[static_cast<std::size_t>(site.route)].service);
}

bool Enabled::runs_out_free(int s) const {
  return runs_out_free(FaultKind::Timeout, FaultTarget::Client, p_.senders[static_cast<std::size_t>(s)].client);
}

void Enabled::sends() {
  for (int s = 0; s < l_.sender_count; ++s) {
    const std::uint8_t* me = sender(s);
    if (sender_state(me) == kToRetry || sender_state(me) == kToPoll) add(EventKind::Send, s);
    if (sender_state(me) != kNotSent) continue;
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    // Clicks are alike, so they go out in their order.
    bool ready = info.previous < 0 || sender_state(sender(info.previous)) != kNotSent;
    for (int other : info.needs_done) ready = ready && finished(sender(other));
    if (ready) add(EventKind::Send, s);
  }
}

bool Enabled::repeats_message(int m) const {
  return m > 0 && std::memcmp(message(m), message(m - 1), static_cast<std::size_t>(l_.message_stride)) == 0;
}

bool Enabled::instance_idle(int service, int instance) const {
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = task(static_cast<int>(t));
    if (l_.tasks[t].service == service && me[kStatus] != kFree && me[kInstance] == instance) return false;
  }
  return true;
}

bool Enabled::stands_for_another(int service, int instance) const {
  if (!instance_idle(service, instance)) return false;
  for (int i = 0; i < instance; ++i) {
    if (zone_of_instance(p_, service, i) != zone_of_instance(p_, service, instance)) continue;
    if (instance_idle(service, i) && instance_flags(service, i) == instance_flags(service, instance)) return true;
  }
  return false;
}

void Enabled::deliveries() {
  for (int m = 0; m < l_.message_slots; ++m) {
    const std::uint8_t* me = message(m);
    if (!deliverable(l_, me) || repeats_message(m)) continue;
    const int service = p_.routes[static_cast<std::size_t>(me[0] - 1)].service;
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    bool room = false;
    for (int t : info.request_tasks) room = room || task(t)[kStatus] == kFree;
    if (!room && info.pool) continue;  // all workers are busy: it waits
    const int origin = origin_zone(p_, me);
    each_instance(service, [&](int i) {
      if (!cut_off(p_, w_, origin, zone_of_instance(p_, service, i))) add(EventKind::Deliver, m, i);
    });
  }
}

void Enabled::tasks() {
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = task(static_cast<int>(t));
    switch (me[kStatus]) {
      case kReady: {
        if (step_cut_off(p_, w_, static_cast<int>(t))) break;
        const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
        if (instr.kind == InstrKind::Sql) {
          statements(static_cast<int>(t), p_.plan.statements[static_cast<std::size_t>(instr.index)]);
          break;
        }
        const int ways = instr.kind == InstrKind::Redis ? redis_ways(p_.plan, w_, static_cast<int>(t), instr.index) : 1;
        for (int c = 0; c < ways; ++c) add(EventKind::Step, static_cast<int>(t), 0, c);
        break;
      }
      case kBlocked:
        // Nothing that the server says gets through; what it does without being heard: cut_step.
        if (!step_cut_off(p_, w_, static_cast<int>(t))) blocked(static_cast<int>(t));
        break;
      case kOrphaned: blocked(static_cast<int>(t)); break;
      case kWaitsCall:
        if (me[kAnswer] != 0 && answer_passes(p_, w_, static_cast<int>(t))) add(EventKind::Answer, static_cast<int>(t));
        break;
      default: break;
    }
  }
}

void Enabled::statements(int t, const SqlStatement& s) {
  const int session = l_.tasks[static_cast<std::size_t>(t)].sessions[static_cast<std::size_t>(s.db)];
  const int ways = connection_ways(p_, w_, t, s);
  for (int b = 0; b < ways; ++b) {
    const int idle = connection_of_way(p_, w_, t, s, b);
    const int choices = ssi_choices(p_.plan, w_, session, idle < 0 ? session : idle, s);
    for (int c = 0; c < choices; ++c) add(EventKind::Step, t, b, c);
  }
}

void Enabled::blocked(int t) {
  for (int s : l_.tasks[static_cast<std::size_t>(t)].sessions) {
    if (s < 0) continue;
    const std::uint8_t* me = w_ + l_.sessions[static_cast<std::size_t>(s)].offset;
    if (me[kWaits] == 0) continue;
    if (in_deadlock(p_.plan, w_, s)) add(EventKind::Deadlock, t);
    const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(task(t)))];
    const SqlStatement& statement = p_.plan.statements[static_cast<std::size_t>(instr.index)];
    const bool named = statement.kind == SqlKind::LockFunction && statement.call == LockCall::GetLock && !statement.waits_for_ever;
    if (named || (me[kSessionFlags] & kLockTimeoutOn)) add(EventKind::LockTimeout, t);
    if (me[kSessionFlags] & kStatementTimeoutOn) add(EventKind::LockTimeout, t, 1);
    return;
  }
  add(EventKind::Step, t);
}

void Enabled::providers() {
  for (std::size_t p = 0; p < p_.providers.size(); ++p) {
    const ProviderLayout& layout = l_.providers[p];
    for (int i = 0; i < layout.inbox_slots; ++i) {
      if (!request_waiting(p_.plan, w_, static_cast<int>(p), i) || repeats_call(layout, i)) continue;
      const int provider = static_cast<int>(p);
      if (!request_arrives(provider, i)) continue;
      add(EventKind::Process, provider, i, static_cast<int>(ProcessChoice::Normal));
      process_choices(provider, i);
    }
    if (lookup_lags(p_.plan, w_, static_cast<int>(p))) add(EventKind::IndexEffects, static_cast<int>(p));
  }
}

bool Enabled::request_arrives(int provider, int slot) const {
  if (l_.cuts < 0) return true;
  const ProviderRequest request = read_request(p_.plan, w_, provider, slot);
  return request.under_way || !cut_off(p_, w_, request.zone, p_.network.providers[static_cast<std::size_t>(provider)]);
}

void Enabled::process_choices(int provider, int slot) {
  const ProviderRequest request = read_request(p_.plan, w_, provider, slot);
  if (only_reads(request.operation) || begins_first(p_, w_, provider, request)) return;
  const OperationInfo& o =
      p_.providers[static_cast<std::size_t>(provider)].operations[static_cast<std::size_t>(request.operation)];
  const bool no_key = o.cancels >= 0 || o.object != ObjectWrite::No;
  const KnownKey::Fate fate = request.under_way || no_key ? KnownKey::Fate::New : known_key(p_, w_, provider, request).fate;
  auto choice = [&](ProcessChoice c, int paid = kNoBudget) { add(EventKind::Process, provider, slot, static_cast<int>(c), paid); };
  const bool is_new = fate == KnownKey::Fate::New;
  // A key that had its effect gets the first answer again, never a refusal.
  if (o.may_decline && is_new && !no_key) choice(ProcessChoice::Decline);
  if (o.key == KeyPolicy::Sometimes && fate == KnownKey::Fate::Replayed) choice(ProcessChoice::AsNew);
  // An answer that was stored comes as it is.
  const bool may_fail = is_new || (fate == KnownKey::Fate::Replayed && !o.stores_everything);
  if (!faults_ || !may_fail) return;
  auto fault = [&](FaultKind kind, ProcessChoice c) {
    if (const int b = budget(kind, FaultTarget::Provider, provider); b >= 0) choice(c, b);
  };
  fault(FaultKind::ErrorAfterEffect, ProcessChoice::ErrorAfterEffect);
  fault(FaultKind::ErrorBeforeEffect, ProcessChoice::ErrorBeforeEffect);
  if (is_new) fault(FaultKind::OkWithoutEffect, ProcessChoice::OkWithoutEffect);
}

bool Enabled::repeats_call(const ProviderLayout& p, int i) const {
  const std::uint8_t* m = w_ + p.inbox + i * p.inbox_stride;
  return i > 0 && std::memcmp(m, m - p.inbox_stride, static_cast<std::size_t>(p.inbox_stride)) == 0;
}

void Enabled::replication() {
  for (std::size_t d = 0; d < l_.databases.size(); ++d) {
    const int db = static_cast<int>(d);
    if (has_replica(p_.plan, db) && replica_lags(p_.plan, w_, db)) add(EventKind::Replicate, db);
  }
  for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) redis_network(r);
}

void Enabled::queues() {
  for (int m = 0; m < l_.message_slots && l_.message_hold >= 0; ++m) {
    if (message(m)[0] != 0 && message(m)[l_.message_hold] == kHeldByNobody && !repeats_message(m)) add(EventKind::Redeliver, m);
  }
}

void Enabled::deploys() {
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    if (l_.instances[s] < 0) continue;
    const int service = static_cast<int>(s);
    bool draining = false;
    for (int i = 0; i < p_.services[s].instances; ++i) draining = draining || (instance_flags(service, i) & kDraining) != 0;
    for (int i = 0; !draining && i < p_.services[s].instances; ++i) {
      if ((instance_flags(service, i) & kToReplace) != 0 && !stands_for_another(service, i)) {
        add(EventKind::ReplaceInstance, service, i);
      }
    }
  }
}

void Enabled::receipts() {
  for (int s = 0; s < l_.sender_count; ++s) {
    if (sender(s)[kSenderReply] != 0 && reply_passes(p_, w_, s)) add(EventKind::Receive, s);
  }
}

bool Enabled::answer_possible(int t) const {
  if (task(t)[kAnswer] != 0) return true;
  if (call_of(t).route >= 0) return answer_under_way(p_.plan, w_, static_cast<std::uint8_t>(l_.sender_count + t));
  for (std::size_t p = 0; p < p_.providers.size(); ++p) {
    if (request_of(p_.plan, w_, static_cast<int>(p), t)) return true;
  }
  return false;
}

bool Enabled::reply_possible(int s) const {
  return sender(s)[kSenderReply] != 0 || answer_under_way(p_.plan, w_, static_cast<std::uint8_t>(s));
}

const CallSite& Enabled::call_of(int t) const {
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(task(t)))];
  return p_.calls[static_cast<std::size_t>(instr.index)];
}

int Enabled::call_budget(FaultKind kind, const CallSite& site) const {
  if (site.route < 0) return budget(kind, FaultTarget::Provider, site.provider);
  return budget(kind, FaultTarget::Service, p_.routes[static_cast<std::size_t>(site.route)].service);
}

void Enabled::hopeless_timeouts() {
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const int id = static_cast<int>(t);
    if (task(id)[kStatus] == kWaitsCall && call_of(id).has_timeout && !answer_possible(id) && runs_out_free(call_of(id))) {
      add(EventKind::CallTimeout, id);
    }
  }
  for (int s = 0; s < l_.sender_count; ++s) {
    if (waits(s) && !reply_possible(s) && runs_out_free(s)) add(EventKind::ClientTimeout, s);
  }
}

void Enabled::jobs() {
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    for (std::size_t j = 0; j < p_.services[s].job_tasks.size(); ++j) {
      const std::vector<int>& copies = p_.services[s].job_tasks[j];
      const auto free = std::find_if(copies.begin(), copies.end(), [&](int t) { return task(t)[kStatus] == kFree; });
      if (free == copies.end()) continue;
      each_instance(static_cast<int>(s), [&](int i) {
        const bool is_new = (instance_flags(static_cast<int>(s), i) & kNewVersion) != 0;
        if (p_.services[s].job_bodies[is_new ? 1 : 0][j] >= 0) add(EventKind::StartJob, *free, i);
      });
    }
  }
}

void enabled(const Program& program, const std::uint8_t* world, std::vector<Event>& events, bool faults) {
  events.clear();
  Enabled(program, world, events, faults).list();
}

void enabled_in_part(const Program& program, const std::uint8_t* world, std::vector<Event>& events) {
  events.clear();
  Enabled(program, world, events, true).list(true);
}

}  // namespace oncecheck

#include <cstring>

#include "model/step/relation.hpp"
#include "model/world/cells.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"
#include "model/world/replication.hpp"
#include "model/world/ssi.hpp"
#include "model/world/time.hpp"
#include "model/world/wait_graph.hpp"

namespace oncecheck {

namespace {

class Enabled {
 public:
  Enabled(const Program& program, const std::uint8_t* w, std::vector<Event>& out, bool faults)
      : p_(program), l_(program.plan.layout), w_(w), out_(out), faults_(faults) {}

  void list() {
    sends();
    deliveries();
    tasks();
    providers();
    receipts();
    hopeless_timeouts();
    replication();
    const bool quiet = out_.empty();
    if (quiet) quiet_timers();
    jobs();
    if (faults_) {
      message_faults();
      early_timeouts();
      if (!quiet) expiry(true);
      process_faults();
      connection_faults();
      failovers();
    }
  }

 private:
  void add(EventKind kind, int a, int b = 0, int c = 0, int fault = kNoBudget) {
    out_.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), static_cast<std::uint8_t>(c),
                    static_cast<std::uint8_t>(fault)});
  }

  // The budget that pays for a fault at this place, or -1.
  int budget(FaultKind kind, FaultTarget target, int index) const {
    // One that is meant for this place pays before one that is meant for any.
    int any = -1;
    for (std::size_t i = 0; i < p_.faults.size(); ++i) {
      const FaultBudget& f = p_.faults[i];
      if (f.kind != kind || w_[l_.budgets + static_cast<int>(i)] == 0) continue;
      if (f.target == target && f.index == index && target != FaultTarget::Any) return static_cast<int>(i);
      if (f.target == FaultTarget::Any && any < 0) any = static_cast<int>(i);
    }
    return any;
  }

  const std::uint8_t* sender(int s) const { return w_ + l_.senders + s * kSenderBytes; }
  const std::uint8_t* message(int m) const { return w_ + l_.messages + m * l_.message_stride; }
  const std::uint8_t* task(int t) const { return w_ + l_.tasks[static_cast<std::size_t>(t)].offset; }
  static bool finished(const std::uint8_t* s) { return s[kSenderState] == kDone || s[kSenderState] == kGaveUp; }

  void sends() {
    for (int s = 0; s < l_.sender_count; ++s) {
      const std::uint8_t* me = sender(s);
      if (me[kSenderState] == kToRetry) add(EventKind::Send, s);
      if (me[kSenderState] != kNotSent) continue;
      const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
      // Clicks are alike, so they go out in their order.
      bool ready = info.previous < 0 || sender(info.previous)[kSenderState] != kNotSent;
      for (int other : info.needs_done) ready = ready && finished(sender(other));
      if (ready) add(EventKind::Send, s);
    }
  }

  // Equal messages lead to equal worlds: the first stands for all (the bag is sorted).
  bool repeats_message(int m) const {
    return m > 0 && std::memcmp(message(m), message(m - 1), static_cast<std::size_t>(l_.message_stride)) == 0;
  }

  bool instance_idle(int service, int instance) const {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (l_.tasks[t].service == service && me[kStatus] != kFree && me[kInstance] == instance) return false;
    }
    return true;
  }

  // Instances keep nothing between tasks, so one idle instance stands for all idle ones.
  template <class Add>
  void each_instance(int service, Add add_for) {
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    bool idle_seen = false;
    for (int i = 0; i < info.instances; ++i) {
      if (!info.start_tasks.empty() && task(info.start_tasks[static_cast<std::size_t>(i)])[kStatus] != kFree) continue;
      if (instance_idle(service, i)) {
        if (idle_seen) continue;
        idle_seen = true;
      }
      add_for(i);
    }
  }

  void deliveries() {
    for (int m = 0; m < l_.message_slots; ++m) {
      const std::uint8_t* me = message(m);
      if (me[0] == 0 || repeats_message(m)) continue;
      const int service = p_.requests[static_cast<std::size_t>(me[0] - 1)].service;
      const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
      bool room = false;
      for (int t : info.request_tasks) room = room || task(t)[kStatus] == kFree;
      if (!room && info.pool) continue;  // all workers are busy: it waits
      each_instance(service, [&](int i) { add(EventKind::Deliver, m, i); });
    }
  }

  void tasks() {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      switch (me[kStatus]) {
        case kReady: {
          const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
          const int choices = choices_of(static_cast<int>(t), instr);
          for (int c = 0; c < choices; ++c) add(EventKind::Step, static_cast<int>(t), 0, c);
          break;
        }
        case kBlocked:
        case kOrphaned: blocked(static_cast<int>(t)); break;
        case kWaitsCall:
          if (me[kAnswer] != 0) add(EventKind::Answer, static_cast<int>(t));
          break;
        default: break;
      }
    }
  }

  // In how many ways the server may run the step (Event::c).
  int choices_of(int t, const Instr& instr) const {
    if (instr.kind == InstrKind::Redis) return redis_ways(p_.plan, w_, t, instr.index);
    if (instr.kind != InstrKind::Sql) return 1;
    const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
    const int session = l_.tasks[static_cast<std::size_t>(t)].sessions[static_cast<std::size_t>(s.db)];
    return ssi_choices(p_.plan, w_, session, s);
  }

  void blocked(int t) {
    for (int s : l_.tasks[static_cast<std::size_t>(t)].sessions) {
      if (s < 0) continue;
      const std::uint8_t* me = w_ + l_.sessions[static_cast<std::size_t>(s)].offset;
      if (me[kWaits] == 0) continue;
      if (in_deadlock(p_.plan, w_, s)) add(EventKind::Deadlock, t);
      const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(task(t)))];
      const SqlStatement& statement = p_.plan.statements[static_cast<std::size_t>(instr.index)];
      const bool named = statement.kind == SqlKind::LockFunction && statement.call == LockCall::GetLock;
      if (named || (me[kSessionFlags] & kLockTimeoutOn)) add(EventKind::LockTimeout, t);
      return;
    }
    add(EventKind::Step, t);
  }

  void providers() {
    for (std::size_t p = 0; p < p_.providers.size(); ++p) {
      const ProviderLayout& layout = l_.providers[p];
      for (int i = 0; i < layout.inbox_slots; ++i) {
        if (!request_waiting(p_.plan, w_, static_cast<int>(p), i) || repeats_call(layout, i)) continue;
        const int provider = static_cast<int>(p);
        add(EventKind::Process, provider, i, static_cast<int>(ProcessChoice::Normal));
        const ProviderRequest request = read_request(p_.plan, w_, provider, i);
        if (request.operation == kLookup) continue;
        if (p_.providers[p].may_decline[static_cast<std::size_t>(request.operation)] && !has_first_answer(provider, request)) {
          add(EventKind::Process, provider, i, static_cast<int>(ProcessChoice::Decline));
        }
        if (!faults_) continue;
        int b = budget(FaultKind::ErrorAfterEffect, FaultTarget::Provider, provider);
        if (b >= 0) add(EventKind::Process, provider, i, static_cast<int>(ProcessChoice::ErrorAfterEffect), b);
        b = budget(FaultKind::ErrorBeforeEffect, FaultTarget::Provider, provider);
        if (b >= 0) add(EventKind::Process, provider, i, static_cast<int>(ProcessChoice::ErrorBeforeEffect), b);
      }
    }
  }

  // A key that is honoured and has had its effect gets the first answer again, never a refusal.
  bool has_first_answer(int provider, const ProviderRequest& request) const {
    const ProviderInfo& info = p_.providers[static_cast<std::size_t>(provider)];
    return info.policies[static_cast<std::size_t>(request.operation)] == KeyPolicy::Honoured && request.key != kNullCell &&
           find_effect(p_.plan, w_, provider, request.operation, request.key) >= 0;
  }

  bool repeats_call(const ProviderLayout& p, int i) const {
    const std::uint8_t* m = w_ + p.inbox + i * p.inbox_stride;
    return i > 0 && std::memcmp(m, m - p.inbox_stride, static_cast<std::size_t>(p.inbox_stride)) == 0;
  }

  void replication() {
    for (std::size_t d = 0; d < l_.databases.size(); ++d) {
      const int db = static_cast<int>(d);
      if (has_replica(p_.plan, db) && replica_lags(p_.plan, w_, db)) add(EventKind::Replicate, db);
    }
    for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) redis_network(r);
  }

  void redis_network(int r) {
    const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
    if (!redis.stepped) return;
    for (int n = 0; n < static_cast<int>(redis.nodes.size()); ++n) {
      if (can_replicate(p_.plan, w_, r, n)) add(EventKind::ReplicateRedis, r, n);
    }
    if (can_notice_cut(p_.plan, w_, r)) add(EventKind::NoticeCut, r);
    if (is_cut(p_.plan, w_, r)) add(EventKind::HealRedis, r);
  }

  void receipts() {
    for (int s = 0; s < l_.sender_count; ++s) {
      if (sender(s)[kSenderReply] != 0) add(EventKind::Receive, s);
    }
  }

  // Whether the provider's answer may still come.
  bool answer_possible(int t) const {
    if (task(t)[kAnswer] != 0) return true;
    for (std::size_t p = 0; p < p_.providers.size(); ++p) {
      if (request_of(p_.plan, w_, static_cast<int>(p), t)) return true;
    }
    return false;
  }

  bool reply_possible(int s) const {
    if (sender(s)[kSenderReply] != 0) return true;
    for (int m = 0; m < l_.message_slots; ++m) {
      if (message(m)[0] != 0 && message(m)[1] == s) return true;
    }
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (me[kStatus] != kFree && me[kSender] == s) return true;
    }
    return false;
  }

  const CallSite& call_of(int t) const {
    const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(task(t)))];
    return p_.calls[static_cast<std::size_t>(instr.index)];
  }

  void hopeless_timeouts() {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const int id = static_cast<int>(t);
      if (task(id)[kStatus] == kWaitsCall && call_of(id).has_timeout && !answer_possible(id)) {
        add(EventKind::CallTimeout, id);
      }
    }
    for (int s = 0; s < l_.sender_count; ++s) {
      if (waits(s) && !reply_possible(s)) add(EventKind::ClientTimeout, s);
    }
  }

  bool waits(int s) const {
    return sender(s)[kSenderState] == kWaiting && p_.senders[static_cast<std::size_t>(s)].has_timeout;
  }

  // Nothing else can happen: time goes on until the next timer.
  void quiet_timers() {
    for (int s = 0; s < l_.sender_count; ++s) {
      if (waits(s)) add(EventKind::ClientTimeout, s);
    }
    expiry(false);
  }

  // Deadlines and times to live that run. early: a fault pays, and what nobody pays for does not happen.
  void expiry(bool early) {
    const int any = early ? budget(FaultKind::Expire, FaultTarget::Any, -1) : kNoBudget;
    for (int d = 0; any >= 0 && d < l_.deadline_slots; ++d) {
      if (deadline_state(l_, w_, d) == kRunning) add(EventKind::PassDeadline, d, 0, 0, any);
    }
    for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) {
      const int pays = early ? budget(FaultKind::Expire, FaultTarget::Redis, r) : kNoBudget;
      if (pays >= 0) redis_expiry(r, pays);
    }
  }

  void redis_expiry(int r, int pays) {
    const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
    // Numbers are given without gaps (make_redis_canonical).
    for (int d = 1; redis_key_of_deadline(p_.plan, w_, r, static_cast<std::uint8_t>(d)) != kNullCell; ++d) {
      if (redis.clocks < 0) {
        add(EventKind::ExpireKey, r, d, 0, pays);
        continue;
      }
      for (int n = 0; n < static_cast<int>(redis.nodes.size()); ++n) {
        if (redis_deadline_runs(p_.plan, w_, r, static_cast<std::uint8_t>(d), n)) add(EventKind::ExpireKey, r, d, n + 1, pays);
      }
    }
  }

  void jobs() {
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      for (int t : p_.services[s].job_tasks) {
        if (task(t)[kStatus] != kFree) continue;
        each_instance(static_cast<int>(s), [&](int i) { add(EventKind::StartJob, t, i); });
      }
    }
  }

  void message_faults() {
    for (int m = 0; m < l_.message_slots; ++m) {
      const std::uint8_t* me = message(m);
      if (me[0] == 0 || repeats_message(m)) continue;
      const int service = p_.requests[static_cast<std::size_t>(me[0] - 1)].service;
      int b = budget(FaultKind::LoseRequest, FaultTarget::Service, service);
      if (b >= 0) add(EventKind::LoseRequest, m, 0, 0, b);
      b = budget(FaultKind::DuplicateRequest, FaultTarget::Service, service);
      if (b >= 0) add(EventKind::Duplicate, m, 0, 0, b);
    }
    for (std::size_t p = 0; p < p_.providers.size(); ++p) call_faults(static_cast<int>(p));
    for (int s = 0; s < l_.sender_count; ++s) {
      if (sender(s)[kSenderReply] == 0) continue;
      const int request = p_.senders[static_cast<std::size_t>(s)].request;
      const int b = budget(FaultKind::LoseResponse, FaultTarget::Service,
                           p_.requests[static_cast<std::size_t>(request)].service);
      if (b >= 0) add(EventKind::LoseResponse, s, 0, 0, b);
    }
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const int id = static_cast<int>(t);
      if (task(id)[kStatus] != kWaitsCall || task(id)[kAnswer] == 0) continue;
      const int b = budget(FaultKind::LoseResponse, FaultTarget::Provider, call_of(id).provider);
      if (b >= 0) add(EventKind::LoseAnswer, id, 0, 0, b);
    }
  }

  // The answer matters where something became permanent; else the loss before the statement stands for both.
  void connection_faults() {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (me[kStatus] != kReady && me[kStatus] != kBlocked) continue;
      const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
      if (instr.kind != InstrKind::Sql) continue;
      const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
      const int b = budget(FaultKind::LoseConnection, FaultTarget::Database, s.db);
      if (b < 0) continue;
      const int session = l_.tasks[t].sessions[static_cast<std::size_t>(s.db)];
      const std::uint8_t tx = w_[l_.sessions[static_cast<std::size_t>(session)].offset + kTx];
      if (s.kind != SqlKind::Begin) add(EventKind::LoseConnection, static_cast<int>(t), 0, 0, b);
      const bool autocommit = tx == kNoTx || tx == kImplicitTx;
      const bool lasting = s.kind == SqlKind::Commit ||
                           (autocommit && (s.kind == SqlKind::Insert || s.kind == SqlKind::Update ||
                                           s.kind == SqlKind::Delete || s.kind == SqlKind::LockFunction));
      if (lasting && me[kStatus] == kReady) add(EventKind::LoseConnection, static_cast<int>(t), 1, 0, b);
    }
  }

  void call_faults(int p) {
    const ProviderLayout& layout = l_.providers[static_cast<std::size_t>(p)];
    for (int i = 0; i < layout.inbox_slots; ++i) {
      if (!request_waiting(p_.plan, w_, p, i) || repeats_call(layout, i)) continue;
      int b = budget(FaultKind::LoseRequest, FaultTarget::Provider, p);
      if (b >= 0) add(EventKind::LoseCall, p, i, 0, b);
      if (read_request(p_.plan, w_, p, i).operation == kLookup) continue;  // a read twice is a read
      b = budget(FaultKind::DuplicateRequest, FaultTarget::Provider, p);
      if (b >= 0) add(EventKind::DuplicateCall, p, i, 0, b);
    }
  }

  void early_timeouts() {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const int id = static_cast<int>(t);
      if (task(id)[kStatus] != kWaitsCall || !call_of(id).has_timeout || !answer_possible(id)) continue;
      const int b = budget(FaultKind::Timeout, FaultTarget::Provider, call_of(id).provider);
      if (b >= 0) add(EventKind::CallTimeout, id, 0, 0, b);
    }
    for (int s = 0; s < l_.sender_count; ++s) {
      if (!waits(s) || !reply_possible(s)) continue;
      const int b = budget(FaultKind::Timeout, FaultTarget::Client, p_.senders[static_cast<std::size_t>(s)].client);
      if (b >= 0) add(EventKind::ClientTimeout, s, 0, 0, b);
    }
  }

  void process_faults() {
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      const int service = static_cast<int>(s);
      const ServiceInfo& info = p_.services[s];
      int b = budget(FaultKind::Crash, FaultTarget::Service, service);
      if (b >= 0) {
        bool idle_seen = false;
        for (int i = 0; i < info.instances; ++i) {
          if (instance_idle(service, i)) {
            // The restart of an idle instance matters only for its start-up program, and one stands for all.
            if (info.start_body < 0 || idle_seen) continue;
            idle_seen = true;
          }
          add(EventKind::Crash, service, i, 0, b);
        }
      }
      b = budget(FaultKind::Deploy, FaultTarget::Service, service);
      if (b < 0) continue;
      bool matters = info.start_body >= 0;
      for (int i = 0; i < info.instances; ++i) matters = matters || !instance_idle(service, i);
      if (matters) add(EventKind::Deploy, service, 0, 0, b);
    }
  }

  void failovers() {
    for (std::size_t d = 0; d < l_.databases.size(); ++d) {
      const int db = static_cast<int>(d);
      const int b = has_replica(p_.plan, db) ? budget(FaultKind::Failover, FaultTarget::Database, db) : -1;
      if (b >= 0) add(EventKind::FailoverDatabase, db, 0, 0, b);
    }
    for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) redis_faults(r);
  }

  void redis_faults(int r) {
    auto* bytes = const_cast<std::uint8_t*>(w_);  // the views can write, nothing here does
    const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
    const int primary = current_primary(p_.plan, w_, r);
    int b = budget(FaultKind::Failover, FaultTarget::Redis, r);
    for (int n = 0; b >= 0 && redis.stepped && n < static_cast<int>(redis.nodes.size()); ++n) {
      if (can_take_over(r, n, primary)) add(EventKind::Failover, r, n, 0, b);
    }
    // With nothing to lose a failover changes nothing.
    for (int kept = 0; b >= 0 && kept < unreplicated_writes(p_.plan, w_, r); ++kept) {
      if (ends_transaction(queue_of(p_.plan, bytes, r, 1), kept)) add(EventKind::Failover, r, kept, 0, b);
    }
    b = budget(FaultKind::Partition, FaultTarget::Redis, r);
    if (b >= 0 && redis.stepped && !is_cut(p_.plan, w_, r)) add(EventKind::CutRedis, r, 0, 0, b);
    b = budget(FaultKind::RestartRedis, FaultTarget::Redis, r);
    if (b >= 0) restarts(r, primary, b);
    b = budget(FaultKind::Evict, FaultTarget::Redis, r);
    for (int i = 0; b >= 0 && i < redis.slots; ++i) {
      if (can_evict(p_.plan, w_, r, primary, i)) add(EventKind::Evict, r, i, 0, b);
    }
  }

  // A failover to a replica that has everything matters only during a partition, or where a connection has something open.
  bool can_take_over(int r, int n, int primary) const {
    if (primary_of(p_.plan, w_, r, n) != primary || link_of(p_.plan, w_, r, n) == kLinkSyncs) return false;
    if (old_primary(p_.plan, w_, r) >= 0) return false;
    return is_cut(p_.plan, w_, r) || can_replicate(p_.plan, w_, r, n) || has_open_connection(p_.plan, w_, r);
  }

  void restarts(int r, int primary, int pays) {
    const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
    const bool noticed = has_open_connection(p_.plan, w_, r);
    const RedisKeys keys = keys_of(p_.plan, const_cast<std::uint8_t*>(w_), r, primary);
    const int unsynced = unsynced_writes(p_.plan, w_, r, primary);
    if (redis.disks.empty()) {
      if (keys.count() > 0 || noticed) add(EventKind::RestartRedis, r, 0, 0, pays);
      return;
    }
    const RedisQueue queue = disk_queue_of(p_.plan, const_cast<std::uint8_t*>(w_), r, primary);
    for (int kept = 0; kept < unsynced + (noticed ? 1 : 0); ++kept) {
      if (ends_transaction(queue, kept)) add(EventKind::RestartRedis, r, kept, 0, pays);
    }
  }

  const Program& p_;
  const Layout& l_;
  const std::uint8_t* w_;
  std::vector<Event>& out_;
  bool faults_;
};

}  // namespace

void enabled(const Program& program, const std::uint8_t* world, std::vector<Event>& events, bool faults) {
  events.clear();
  Enabled(program, world, events, faults).list();
}

}  // namespace oncecheck

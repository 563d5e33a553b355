#include <cstring>

#include "model/step/purge.hpp"
#include "model/step/relation.hpp"
#include "model/world/cells.hpp"
#include "model/world/redis.hpp"
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
    list_purges(p_, w_, out_);  // in no hurry: time may run out while deleted rows wait for it
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
    if (instr.kind == InstrKind::Redis) {
      return p_.plan.redis_commands[static_cast<std::size_t>(instr.index)].kind == RedisKind::Wait ? 2 : 1;
    }
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
      if (me[kSessionFlags] & kStatementTimeoutOn) add(EventKind::LockTimeout, t, 1);
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
    default_lock_timeouts(false);
    expiry(false);
  }

  // InnoDB ends every wait for a lock in the end: innodb_lock_wait_timeout is 50 s when nobody sets it. early: a fault pays.
  void default_lock_timeouts(bool early) {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (me[kStatus] != kBlocked && me[kStatus] != kOrphaned) continue;
      for (int s : l_.tasks[t].sessions) {
        if (s < 0) continue;
        const SessionLayout& session = l_.sessions[static_cast<std::size_t>(s)];
        const std::uint8_t* bytes = w_ + session.offset;
        const bool innodb = is_innodb(l_.databases[static_cast<std::size_t>(session.db)].engine);
        if (!innodb || bytes[kWaits] == 0 || bytes[kWaitKind] != kWaitLock) continue;
        if ((bytes[kSessionFlags] & kLockTimeoutOn) != 0) continue;  // it may fire anyway
        const int pays = early ? budget(FaultKind::Timeout, FaultTarget::Database, session.db) : kNoBudget;
        if (pays >= 0) add(EventKind::LockTimeout, static_cast<int>(t), 0, 0, pays);
      }
    }
  }

  // Deadlines and times to live that run. early: a fault pays, and what nobody pays for does not happen.
  void expiry(bool early) {
    const int any = early ? budget(FaultKind::Expire, FaultTarget::Any, -1) : kNoBudget;
    for (int d = 0; any >= 0 && d < l_.deadline_slots; ++d) {
      if (deadline_state(l_, w_, d) == kRunning) add(EventKind::PassDeadline, d, 0, 0, any);
    }
    for (int r = 0; r < static_cast<int>(l_.redis.size()); ++r) {
      const int pays = early ? budget(FaultKind::Expire, FaultTarget::Redis, r) : kNoBudget;
      for (int i = 0; pays >= 0 && i < l_.redis[static_cast<std::size_t>(r)].slots; ++i) {
        if (ttl_running(p_.plan, w_, r, i)) add(EventKind::ExpireKey, r, i, 0, pays);
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
    default_lock_timeouts(true);
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
    for (std::size_t r = 0; r < l_.redis.size(); ++r) {
      if (l_.redis[r].log < 0) continue;
      const int b = budget(FaultKind::Failover, FaultTarget::Redis, static_cast<int>(r));
      if (b < 0) continue;
      // With nothing to lose a failover changes nothing.
      for (int kept = 0; kept < unreplicated_writes(p_.plan, w_, static_cast<int>(r)); ++kept) {
        add(EventKind::Failover, static_cast<int>(r), kept, 0, b);
      }
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

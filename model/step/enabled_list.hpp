// Lists what can happen in one world. Used by enabled.cpp (what the system does by itself) and enabled_faults.cpp (timers and
// faults), and by fairness.cpp, which asks for the timers.
#pragma once

#include <vector>

#include "model/step/relation.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

class Enabled {
 public:
  Enabled(const Program& program, const std::uint8_t* w, std::vector<Event>& out, bool faults)
      : p_(program), l_(program.plan.layout), w_(w), out_(out), faults_(faults) {}

  // busy: the rest of the system, which this world does not show, has something to do: it is not quiet.
  void list(bool busy = false);
  // Nothing else can happen: time goes on until the next timer.
  void quiet_timers();

 private:
  void add(EventKind kind, int a, int b = 0, int c = 0, int fault = kNoBudget) {
    out_.push_back({kind, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), static_cast<std::uint8_t>(c),
                    static_cast<std::uint8_t>(fault)});
  }
  // Whether some budget is for faults of this kind, or of one of these kinds (bit_of).
  bool pays(FaultKind kind) const { return pays_one(bit_of(kind)); }
  bool pays_one(std::uint32_t kinds) const { return (p_.paid_kinds & kinds) != 0; }
  // The budget that pays for a fault at this place, or -1.
  int budget(FaultKind kind, FaultTarget target, int index) const;
  // Not where a budget says "otherwise": "never".
  bool runs_out_free(FaultKind kind, FaultTarget target, int index) const;
  bool runs_out_free(const CallSite& site) const;
  bool runs_out_free(int s) const;  // the client of a sender
  // Who pays for a timer, kNoBudget for one that is free; -1: it does not run out.
  int timer_budget(bool early, FaultKind kind, FaultTarget target, int index) const;
  const std::uint8_t* sender(int s) const { return w_ + l_.senders + s * kSenderBytes; }
  const std::uint8_t* message(int m) const { return message_at(l_, w_, m); }
  const std::uint8_t* task(int t) const { return w_ + l_.tasks[static_cast<std::size_t>(t)].offset; }
  static bool finished(const std::uint8_t* s) { return sender_state(s) == kDone || sender_state(s) == kGaveUp; }

  void sends();
  // Equal messages lead to equal worlds: the first stands for all (the bag is sorted).
  bool repeats_message(int m) const;
  bool instance_idle(int service, int instance) const;
  std::uint8_t instance_flags(int service, int instance) const {
    const int at = l_.instances[static_cast<std::size_t>(service)];
    return at < 0 ? 0 : w_[at + instance];
  }
  // Instances keep nothing between tasks, so one idle instance stands for all idle ones of the same flags and zone.
  bool stands_for_another(int service, int instance) const;
  // Those that take work.
  template <class Add>
  void each_instance(int service, Add add_for) {
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    for (int i = 0; i < info.instances; ++i) {
      if (!info.start_tasks.empty() && task(info.start_tasks[static_cast<std::size_t>(i)])[kStatus] != kFree) continue;
      if ((instance_flags(service, i) & kDraining) == 0 && !stands_for_another(service, i)) add_for(i);
    }
  }
  void deliveries();
  void tasks();
  // Each connection that it can get, and each way in which the server may run it.
  void statements(int t, const SqlStatement& s);
  void blocked(int t);
  void providers();
  // Not while a cut holds it up.
  bool request_arrives(int provider, int slot) const;
  // What else the provider may do with a request than what it should.
  void process_choices(int provider, int slot);
  bool repeats_call(const ProviderLayout& p, int i) const;
  void replication();
  // A message whose consumer died comes again when its time to be hidden is over.
  void queues();
  // One instance after the other; the next one when the last has ended its work.
  void deploys();
  void drain_timeouts(bool early);
  void receipts();
  // Whether the provider's answer may still come.
  bool answer_possible(int t) const;
  bool reply_possible(int s) const;
  const CallSite& call_of(int t) const;
  int call_budget(FaultKind kind, const CallSite& site) const;
  void hopeless_timeouts();
  bool waits(int s) const {
    return (sender_state(sender(s)) == kWaiting || sender_state(sender(s)) == kPolling) && p_.senders[static_cast<std::size_t>(s)].has_timeout;
  }
  // InnoDB ends every wait for a lock in the end: innodb_lock_wait_timeout is 50 s when nobody sets it. early: a fault pays.
  void default_lock_timeouts(bool early);
  // Who waits for a connection of a pool gives up at some time (PgBouncer: query_wait_timeout). early: a fault pays.
  void pool_timeouts(bool early);
  // Deadlines and times to live that run. early: a fault pays, and what nobody pays for does not happen.
  void expiry(bool early);
  void early_expiry(bool quiet);
  bool key_runs_out(int provider, int slot) const;
  void jobs();
  void message_faults();
  // The answer matters where something became permanent; else the loss before the statement stands for both.
  void connection_faults();
  void call_faults(int p);
  void early_timeouts();
  void process_faults();
  int start_body(int service, int instance) const;
  void failovers();
  // Partitions between named groups: enabled_network.cpp.
  void network(bool quiet);
  void cut_step(int t);
  bool holder_cut_off(int m) const;
  void cuts();
  // What can happen to a Redis: enabled_redis.cpp.
  void redis_network(int r);
  void redis_expiry(int r, int pays);
  void redis_faults(int r);
  // A failover to a replica that has everything matters only during a partition, or where a connection has something open.
  bool can_take_over(int r, int n, int primary) const;
  void restarts(int r, int primary, int pays);

  const Program& p_;
  const Layout& l_;
  const std::uint8_t* w_;
  std::vector<Event>& out_;
  bool faults_;
};

}  // namespace oncecheck

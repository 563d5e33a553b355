#include "model/step/occurrence.hpp"

#include <algorithm>

#include "model/step/handler_work.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/redis_replication.hpp"
#include "model/world/replication.hpp"

namespace oncecheck {

namespace {

class Looker {
 public:
  Looker(const Program& program, const std::uint8_t* world, const Event& event, Workspace& workspace)
      : p_(program), l_(program.plan.layout), w_(world), e_(event), workspace_(workspace) {}

  bool sees(Occurrence what) {
    switch (what) {
      case Occurrence::DuplicateInFlight: return copy_arrives(false);
      case Occurrence::RetryInFlight: return copy_arrives(true);
      case Occurrence::AcknowledgedWriteLost: return loses_write();
      case Occurrence::AnswerLostAfterEffect: return loses_answer();
      case Occurrence::LateEffect: return late_effect();
      case Occurrence::CrashInFlight: return stops([](int) { return true; });
      case Occurrence::CrashAfterEffect: return stops([this](int t) { return has_effect(operation_of_task(p_, w_, t)); });
      case Occurrence::TimerPassesInFlight: return timer_passes();
      case Occurrence::Deadlock: return e_.kind == EventKind::Deadlock;
    }
    return false;
  }

 private:
  const std::uint8_t* task(int t) const { return w_ + l_.tasks[static_cast<std::size_t>(t)].offset; }
  bool handles(int t) const {
    const std::uint8_t status = task(t)[kStatus];
    return l_.tasks[static_cast<std::size_t>(t)].kind == TaskKind::Request && (status == kReady || status == kBlocked || status == kWaitsCall);
  }
  template <class Is>
  bool any_handler(const Is& is) const {
    for (int t = 0; t < static_cast<int>(l_.tasks.size()); ++t) {
      if (handles(t) && is(t)) return true;
    }
    return false;
  }

  bool copy_arrives(bool only_retries) const {
    if (e_.kind != EventKind::Deliver) return false;
    const std::uint8_t* m = message_at(l_, w_, e_.a);
    const RouteInfo& route = p_.routes[static_cast<std::size_t>(m[0] - 1)];
    const CellId key = load_cell(l_, m + 2);
    if (only_retries && !is_retry(m[1])) return false;
    return any_handler([&](int t) {
      if (!comes_to(p_, route, body_of(p_, w_, t))) return false;
      const int working_on = operation_of_task(p_, w_, t);
      if (route.kind == RouteKind::Client && working_on >= 0) return working_on == route.operation;
      return key != kNullCell && kept_key(p_, w_, t, route) == key;
    });
  }

  bool is_retry(int caller) const {
    if (caller >= l_.sender_count) return false;
    const std::uint8_t* me = w_ + l_.senders + caller * kSenderBytes;
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(caller)];
    // Without end nobody counts: then it is one when a handler goes on for nobody.
    if (info.retries == kUnlimited) return any_handler([&](int t) { return task(t)[kSender] == kNobody; });
    return me[kSenderAttempts] < info.retries;
  }

  bool loses_write() {
    if (e_.kind == EventKind::FailoverDatabase) return replica_lags(p_.plan, w_, e_.a);
    if (e_.kind != EventKind::Failover && e_.kind != EventKind::RestartRedis) return false;
    workspace_.world.assign(w_, w_ + l_.bytes);
    const int before = current_primary(p_.plan, w_, e_.a);
    std::vector<std::uint8_t> old(w_, w_ + l_.bytes);
    if (apply_raw(p_, workspace_.world.data(), e_, workspace_)) return false;
    const int after = current_primary(p_.plan, workspace_.world.data(), e_.a);
    if (before < 0 || after < 0) return false;
    const RedisKeys was = keys_of(p_.plan, old.data(), e_.a, before), is = keys_of(p_.plan, workspace_.world.data(), e_.a, after);
    return lacks(is, was) || lacks(was, is);  // a SET, or a DEL
  }

  // Whether a key of `of` is not there, or has another value.
  bool lacks(const RedisKeys& keys, const RedisKeys& of) const {
    for (int i = 0; i < of.count(); ++i) {
      const int slot = keys.find(of.key(i));
      if (slot < 0 || keys.value(slot) != of.value(i)) return true;
    }
    return false;
  }

  bool loses_answer() const {
    if (e_.kind != EventKind::LoseAnswer || static_cast<Answer>(task(e_.a)[kAnswer]) != Answer::Ok) return false;
    const Instr& i = p_.code[static_cast<std::size_t>(load_pc(task(e_.a)))];
    if (i.kind != InstrKind::Await) return false;
    const CallSite& site = p_.calls[static_cast<std::size_t>(i.index)];
    return site.route < 0 && !only_reads(site.operation);
  }

  bool late_effect() const {
    if (e_.kind != EventKind::Process) return false;
    const ProviderRequest r = read_request(p_.plan, w_, e_.a, e_.b);
    const auto choice = static_cast<ProcessChoice>(e_.c);
    const bool does_it = choice == ProcessChoice::Normal || choice == ProcessChoice::ErrorAfterEffect || choice == ProcessChoice::AsNew;
    return does_it && r.caller == kNobody && !only_reads(r.operation) && find_effect(p_.plan, w_, e_.a, r.operation, r.key) < 0;
  }

  template <class Which>
  bool stops(const Which& which) const {
    const bool one = e_.kind == EventKind::Crash;
    if (!one && e_.kind != EventKind::Deploy && e_.kind != EventKind::ReplaceInstance && e_.kind != EventKind::DrainTimeout) return false;
    if (e_.kind == EventKind::Deploy && p_.services[e_.a].drains) return false;
    if (e_.kind == EventKind::ReplaceInstance && p_.services[e_.a].drains) return false;
    return any_handler([&](int t) {
      return l_.tasks[static_cast<std::size_t>(t)].service == e_.a && (e_.kind == EventKind::Deploy || task(t)[kInstance] == e_.b) && which(t);
    });
  }

  bool has_effect(int operation) const {
    if (operation < 0) return false;
    const CellId identity = p_.plan.operation_identity[static_cast<std::size_t>(operation)];
    for (std::size_t i = 0; i < l_.providers.size(); ++i) {
      const ProviderLayout& provider = l_.providers[i];
      for (int entry = 0; entry < provider.ledger_slots; ++entry) {
        const std::uint8_t* at = w_ + provider.ledger + entry * provider.ledger_stride;
        if (at[0] != 0 && load_cell(l_, at + 2) == identity && effect_stands(p_.plan, w_, static_cast<int>(i), entry)) return true;
      }
    }
    return false;
  }

  bool timer_passes() const {
    if (e_.kind != EventKind::PassDeadline && e_.kind != EventKind::ExpireKey) return false;
    return any_handler([](int) { return true; });
  }

  const Program& p_;
  const Layout& l_;
  const std::uint8_t* w_;
  const Event& e_;
  Workspace& workspace_;
};

}  // namespace

bool occurs(const Program& program, Occurrence what, const std::uint8_t* world, const Event& event, Workspace& workspace) {
  return Looker(program, world, event, workspace).sees(what);
}

}  // namespace oncecheck

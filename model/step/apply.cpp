#include <algorithm>
#include <cstring>
#include <vector>

#include "model/step/canonical.hpp"
#include "model/step/partition.hpp"
#include "model/step/provider_run.hpp"
#include "model/step/task_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/message.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"
#include "model/world/replication.hpp"
#include "model/world/time.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

class Apply {
 public:
  Apply(const Program& program, std::uint8_t* w, Context& ctx) : p_(program), l_(program.plan.layout), w_(w), ctx_(ctx) {}

  void perform(const Event& e) {
    if (e.fault != kNoBudget && !p_.faults[e.fault].endless) --w_[l_.budgets + e.fault];
    switch (e.kind) {
      case EventKind::Send: send(e.a); break;
      case EventKind::Deliver: deliver(e.a, e.b); break;
      case EventKind::Step: TaskRun(p_, ctx_, e.a).step(e.b, e.c); break;
      case EventKind::Deadlock: TaskRun(p_, ctx_, e.a).fail_waiting(ErrorClass::Deadlock); break;
      case EventKind::Replicate: replicate(p_.plan, w_, e.a); break;
      case EventKind::Purge: innodb_purge_row(p_.plan, w_, e.a, e.b); break;
      case EventKind::FailoverDatabase: fail_over_database(e.a); break;
      case EventKind::LockTimeout:
        TaskRun(p_, ctx_, e.a).fail_waiting(e.b == 0 ? ErrorClass::LockTimeout : ErrorClass::StatementTimeout);
        break;
      case EventKind::PoolTimeout: TaskRun(p_, ctx_, e.a).give_up_connection(); break;
      case EventKind::LoseConnection: TaskRun(p_, ctx_, e.a).lose_connection(e.b == 1, e.c); break;
      case EventKind::CloseIdle: end_session(p_.plan, w_, e.a); break;
      case EventKind::Process: process_request(p_, ctx_, e.a, e.b, static_cast<ProcessChoice>(e.c)); break;
      case EventKind::IndexEffects: index_effects(p_.plan, w_, e.a); break;
      case EventKind::ForgetKey: forget_key(p_.plan, w_, e.a, e.b); break;
      case EventKind::Redeliver: redeliver(p_.plan, message(e.a)); break;
      case EventKind::Answer: TaskRun(p_, ctx_, e.a).take_answer(); break;
      case EventKind::Receive: receive(e.a); break;
      case EventKind::StartJob: start_job(e.a, e.b); break;
      case EventKind::CallTimeout: TaskRun(p_, ctx_, e.a).give_up_call(); break;
      case EventKind::ClientTimeout: client_timeout(e.a); break;
      case EventKind::PassDeadline:
        e.b == 0 ? pass_deadline(p_.plan, w_, e.a) : pass_deadline_for(p_.plan, w_, e.a, e.b - 1);
        break;
      case EventKind::ClockJump: *instance_flags(e.a, e.b) |= e.c == 0 ? kClockAhead : kClockBehind; break;
      case EventKind::ExpireKey: pass_redis_deadline(ctx_, e.a, e.b, static_cast<int>(e.c) - 1); break;
      case EventKind::LoseRequest: erase_message(l_, message(e.a)); break;
      case EventKind::LoseCall: drop_request(p_.plan, w_, e.a, e.b); break;
      case EventKind::LoseResponse: forget_reply(e.a); break;
      case EventKind::LoseAnswer:
        if (l_.cuts >= 0) w_[l_.tasks[e.a].network + kAnswerZone] = 0;
        task(e.a)[kAnswer] = 0;
        store_cell(l_, task(e.a) + kAnswerId, kNullCell);
        break;
      case EventKind::Duplicate: duplicate(e.a); break;
      case EventKind::DuplicateCall: {
        ProviderRequest copy = read_request(p_.plan, w_, e.a, e.b);
        copy.caller = kNobody;
        if (!post_request(p_.plan, w_, e.a, copy)) ctx_.fail(LimitKind::Messages, 1 + e.a);
        break;
      }
      case EventKind::Crash: e.c == 0 ? crash(e.a, e.b) : TaskRun(p_, ctx_, e.c - 1).die(); break;
      case EventKind::Deploy:
        for (int i = 0; i < p_.services[e.a].instances; ++i) replace(e.a, i);
        break;
      case EventKind::RollingDeploy:
        for (int i = 0; i < p_.services[e.a].instances; ++i) *instance_flags(e.a, i) |= kToReplace;
        break;
      case EventKind::ReplaceInstance: replace(e.a, e.b); break;
      case EventKind::DrainTimeout: start_anew(e.a, e.b); break;
      case EventKind::Failover: fail_over_redis(ctx_, e.a, e.b); break;
      case EventKind::RestartRedis: restart_redis(ctx_, e.a, current_primary(p_.plan, w_, e.a), e.b); break;
      case EventKind::CutRedis: cut_redis(p_.plan, w_, e.a); break;
      case EventKind::CutNetwork: cut_network(p_, w_, e.a); break;
      case EventKind::HealNetwork: heal_network(p_, w_, e.a); break;
      case EventKind::EndSession: server_ends_session(p_, w_, e.a, e.b); break;
      case EventKind::NoticeCut: notice_cut(p_.plan, w_, e.a); break;
      case EventKind::HealRedis: heal_redis(p_.plan, w_, e.a); break;
      case EventKind::ReplicateRedis: replicate_redis(ctx_, e.a, e.b); break;
      case EventKind::Evict: evict_key(ctx_, e.a, current_primary(p_.plan, w_, e.a), e.b); break;
    }
    finish_drains();
    for (int s : p_.instant_senders) take_at_once(s);
  }

 private:
  std::uint8_t* sender(int s) { return w_ + l_.senders + s * kSenderBytes; }
  std::uint8_t* message(int m) { return message_at(l_, w_, m); }
  std::uint8_t* task(int t) { return w_ + l_.tasks[static_cast<std::size_t>(t)].offset; }

  // Null for a service whose instances are all alike.
  std::uint8_t* instance_flags(int service, int instance) {
    const int at = l_.instances[static_cast<std::size_t>(service)];
    return at < 0 ? nullptr : w_ + at + instance;
  }
  std::size_t version_of(int service, int instance) {
    const std::uint8_t* flags = instance_flags(service, instance);
    return flags != nullptr && (*flags & kNewVersion) != 0 ? 1 : 0;
  }

  void send(int s) {
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    std::uint8_t* me = sender(s);
    const SenderState before = sender_state(me);
    const bool polls = before == kToPoll;
    int left = polls_left(me);
    if (before == kNotSent) {
      me[kSenderAttempts] = static_cast<std::uint8_t>(info.retries);
      left = info.polls;
    }
    set_sender(me, polls ? kPolling : kWaiting, left);
    const auto attempt = static_cast<std::size_t>(info.retries - me[kSenderAttempts]);
    const std::uint8_t* posted =
        post_message(ctx_, polls ? info.poll_route : info.route, static_cast<std::uint8_t>(s), info.keys[attempt], 0);
    if (info.instant && posted != nullptr) deliver_at_once(static_cast<int>(posted - message(0)) / l_.message_stride);
  }

  // To the one instance, when it can take work now. Otherwise the message waits as any other.
  void deliver_at_once(int m) {
    const int service = p_.routes[static_cast<std::size_t>(message(m)[0] - 1)].service;
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    if (info.instances > 1 || cut_off(p_, w_, origin_zone(p_, message(m)), zone_of_instance(p_, service, 0))) return;
    if (const std::uint8_t* flags = instance_flags(service, 0); flags != nullptr && (*flags & kDraining) != 0) return;
    if (!info.start_tasks.empty() && task(info.start_tasks[0])[kStatus] != kFree) return;
    const bool room = std::any_of(info.request_tasks.begin(), info.request_tasks.end(), [&](int t) { return task(t)[kStatus] == kFree; });
    if (room || !info.pool) deliver(m, 0);
  }

  // The client of an instant network hears its answer, and asks again, in the event that made it possible.
  void take_at_once(int s) {
    if (sender(s)[kSenderReply] != 0 && reply_passes(p_, w_, s)) receive(s);
    const SenderState state = sender_state(sender(s));
    if (state == kToRetry || state == kToPoll) send(s);
  }

  // It asks again.
  static void poll_again(std::uint8_t* me) {
    const int left = polls_left(me);
    set_sender(me, kToPoll, left == kEndlessPolls ? left : left - 1);
  }
  static void try_again(std::uint8_t* me) {
    if (me[kSenderAttempts] != kUnlimited) --me[kSenderAttempts];
    set_sender(me, kToRetry, polls_left(me));
  }

  void forget_reply(int s) {
    sender(s)[kSenderReply] = 0;
    if (l_.cuts >= 0) w_[l_.sender_zones + s] = 0;
  }

  static void set_sender(std::uint8_t* me, SenderState state, int polls) {
    me[kSenderState] = static_cast<std::uint8_t>(state | (polls << 4));
  }

  void deliver(int m, int instance) {
    std::uint8_t* me = message(m);
    const RouteInfo& route = p_.routes[static_cast<std::size_t>(me[0] - 1)];
    const ServiceInfo& service = p_.services[static_cast<std::size_t>(route.service)];
    int slot = -1;
    for (int t : service.request_tasks) {
      if (slot < 0 && task(t)[kStatus] == kFree) slot = t;
    }
    if (slot < 0) {
      ctx_.fail(LimitKind::Tasks, route.service);
      return;
    }
    const std::size_t version = version_of(route.service, instance);
    TaskRun run(p_, ctx_, slot);
    run.start(service.request_bodies[version][static_cast<std::size_t>(route.endpoint)], instance, me[1]);
    run.set_cell(route.key_cell[version], load_cell(l_, me + 2));
    for (const FieldCell& f : route.fields[version]) {
      run.set_cell(f.cell, f.payload < 0 ? f.value : load_cell(l_, me + payload_at(l_, f.payload)));
    }
    take_message(l_, me, slot);
    run.run_local();
  }

  void start_job(int t, int instance) {
    const TaskLayout& layout = l_.tasks[static_cast<std::size_t>(t)];
    const ServiceInfo& service = p_.services[static_cast<std::size_t>(layout.service)];
    TaskRun run(p_, ctx_, t);
    const std::size_t version = version_of(layout.service, instance);
    run.start(service.job_bodies[version][static_cast<std::size_t>(layout.index)], instance, kNobody);
    run.run_local();
  }

  void receive(int s) {
    std::uint8_t* me = sender(s);
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    const ReplySpec& reply = p_.replies[static_cast<std::size_t>(me[kSenderReply] - 1)];
    forget_reply(s);
    std::uint8_t told = 0;
    int retry = 0;
    switch (reply.outcome) {
      case Outcome::Ok: told = kToldOk; break;
      case Outcome::Failed: told = kToldFailed; retry = kRetryFailed; break;
      case Outcome::Accepted: told = kToldAccepted; retry = kRetryUnknown; break;
      case Outcome::Unknown: told = kToldUnknown; retry = reply.status >= 500 ? kRetry5xx : kRetryUnknown; break;
    }
    const bool polling = sender_state(me) == kPolling;
    if (polls_left(me) > 0 && (told == kToldAccepted || (polling && told == kToldUnknown))) {
      poll_again(me);
    } else if ((info.retry_on & retry) != 0 && me[kSenderAttempts] > 0) {
      // It tries again, so it does not take this answer as the last word.
      if (told == kToldFailed) told = kToldUnknown;
      try_again(me);
    } else {
      finish(me, kDone);
    }
    tell(info, told);
  }

  void client_timeout(int s) {
    std::uint8_t* me = sender(s);
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    forget_reply(s);
    abandon_caller(p_.plan, w_, static_cast<std::uint8_t>(s));
    if (sender_state(me) == kPolling && polls_left(me) > 0) {
      poll_again(me);
    } else if ((info.retry_on & kRetryTimeout) != 0 && me[kSenderAttempts] > 0) {
      try_again(me);
    } else {
      finish(me, kGaveUp);
    }
    tell(info, kToldUnknown);
  }

  static void finish(std::uint8_t* me, SenderState state) {
    me[kSenderState] = state;
    me[kSenderAttempts] = 0;
  }

  void tell(const SenderInfo& info, std::uint8_t told) {
    const int operation = p_.routes[static_cast<std::size_t>(info.route)].operation;
    w_[l_.told + operation] = static_cast<std::uint8_t>(w_[l_.told + operation] | told);
  }

  void duplicate(int m) {
    const std::uint8_t* me = message(m);
    const int deliveries = l_.message_hold < 0 ? 0 : me[l_.message_hold + 1];
    std::uint8_t* copy = post_message(ctx_, me[0] - 1, kNobody, kNullCell, deliveries);
    if (copy == nullptr) return;
    std::memcpy(copy + 2, me + 2, static_cast<std::size_t>((1 + l_.message_cells) * l_.cell));
    if (l_.message_zone >= 0) copy[l_.message_zone] = me[l_.message_zone];
  }

  // Every connection breaks. Whoever waits hears of it now; whoever had a transaction open, at the next statement; the others
  // connect anew without noticing.
  void fail_over_database(int db) {
    if (l_.databases[static_cast<std::size_t>(db)].synchronous) replicate(p_.plan, w_, db);
    std::vector<int> waiting;
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const int s = l_.tasks[t].sessions[static_cast<std::size_t>(db)];
      const std::uint8_t* me = task(static_cast<int>(t));
      if (s < 0 || me[kStatus] == kFree) continue;
      if (me[kStatus] == kLingering || (l_.cuts >= 0 && (w_[l_.tasks[t].network + kLeft] >> db & 1) != 0)) {
        server_ends_session(p_, w_, static_cast<int>(t), db);
        continue;
      }
      std::uint8_t* session = w_ + l_.sessions[static_cast<std::size_t>(s)].offset;
      const bool open = session[kTx] == kOpenTx || session[kTx] == kFailedTx;
      const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
      const bool here = instr.kind == InstrKind::Sql && p_.plan.statements[static_cast<std::size_t>(instr.index)].db == db;
      if ((me[kStatus] == kBlocked || me[kStatus] == kOrphaned) && here) waiting.push_back(static_cast<int>(t));
      end_session(p_.plan, w_, s);
      if (open) session[kSessionFlags] = kConnectionDead;
    }
    for (int s : l_.databases[static_cast<std::size_t>(db)].pool.idle) end_session(p_.plan, w_, s);
    fail_over(p_.plan, w_, db);
    for (int t : waiting) TaskRun(p_, ctx_, t).lose_connection(false, 0);
  }

  // A deploy comes to the instance: at once, or when what runs there has ended.
  void replace(int service, int instance) {
    std::uint8_t* flags = instance_flags(service, instance);
    if (flags != nullptr && p_.services[static_cast<std::size_t>(service)].drains) {
      *flags = static_cast<std::uint8_t>((*flags & ~kToReplace) | kDraining);  // finish_drains ends it if it is idle
    } else {
      start_anew(service, instance);
    }
  }

  void start_anew(int service, int instance) {
    std::uint8_t* flags = instance_flags(service, instance);
    if (flags != nullptr) {
      // The machine stays, with its clock.
      const int clock = *flags & (kClockAhead | kClockBehind);
      *flags = static_cast<std::uint8_t>(clock | (p_.services[static_cast<std::size_t>(service)].has_next ? kNewVersion : 0));
    }
    crash(service, instance);
  }

  void finish_drains() {
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      if (l_.instances[s] < 0) continue;
      for (int i = 0; i < p_.services[s].instances; ++i) {
        const int service = static_cast<int>(s);
        if ((*instance_flags(service, i) & kDraining) != 0 && !works(service, i)) start_anew(service, i);
      }
    }
  }

  bool works(int service, int instance) {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (l_.tasks[t].service == service && me[kStatus] != kFree && me[kInstance] == instance) return true;
    }
    return false;
  }

  void crash(int service, int instance) {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (l_.tasks[t].service == service && me[kStatus] != kFree && me[kInstance] == instance) {
        TaskRun(p_, ctx_, static_cast<int>(t)).die();
      }
    }
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    const int body = info.start_body[version_of(service, instance)];
    if (body < 0) return;
    TaskRun run(p_, ctx_, info.start_tasks[static_cast<std::size_t>(instance)]);
    run.start(body, instance, kNobody);
    run.run_local();
  }

  const Program& p_;
  const Layout& l_;
  std::uint8_t* w_;
  Context& ctx_;
};

}  // namespace

Limit apply_raw(const Program& program, std::uint8_t* world, const Event& event, Workspace& workspace, Observation* seen) {
  Context ctx(program.plan, world, workspace.scratch);
  ctx.seen = seen;
  ctx.visited = workspace.visited.empty() ? nullptr : workspace.visited.data();
  const std::size_t mark = workspace.scratch.mark();
  Apply(program, world, ctx).perform(event);
  workspace.scratch.release(mark);
  for (std::size_t db = 0; db < program.plan.layout.databases.size(); ++db) {
    const LockTableLayout& locks = program.plan.layout.databases[db].lock_table;
    if (locks.offset >= 0 && world[locks.offset] != 0) ctx.fail(LimitKind::Locks, static_cast<int>(db));
  }
  return ctx.limit;
}

Limit apply(const Program& program, std::uint8_t* world, const Event& event, Workspace& workspace, Observation* seen) {
  const Limit limit = apply_raw(program, world, event, workspace, seen);
  if (!limit) make_canonical(program, world, seen);
  return limit;
}

}  // namespace oncecheck

#include <cstring>
#include <vector>

#include "model/step/canonical.hpp"
#include "model/step/task_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/redis.hpp"
#include "model/world/replication.hpp"
#include "model/world/time.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

class Apply {
 public:
  Apply(const Program& program, std::uint8_t* w, Context& ctx) : p_(program), l_(program.plan.layout), w_(w), ctx_(ctx) {}

  void perform(const Event& e) {
    if (e.fault != kNoBudget) --w_[l_.budgets + e.fault];
    switch (e.kind) {
      case EventKind::Send: send(e.a); break;
      case EventKind::Deliver: deliver(e.a, e.b); break;
      case EventKind::Step: TaskRun(p_, ctx_, e.a).step(e.c); break;
      case EventKind::Deadlock: TaskRun(p_, ctx_, e.a).fail_waiting(ErrorClass::Deadlock); break;
      case EventKind::Replicate: replicate(p_.plan, w_, e.a); break;
      case EventKind::Purge: innodb_purge_row(p_.plan, w_, e.a, e.b); break;
      case EventKind::FailoverDatabase: fail_over_database(e.a); break;
      case EventKind::LockTimeout:
        TaskRun(p_, ctx_, e.a).fail_waiting(e.b == 0 ? ErrorClass::LockTimeout : ErrorClass::StatementTimeout);
        break;
      case EventKind::LoseConnection: TaskRun(p_, ctx_, e.a).lose_connection(e.b == 1); break;
      case EventKind::Process: process(e.a, e.b, static_cast<ProcessChoice>(e.c)); break;
      case EventKind::Answer: {
        const std::uint8_t* me = task(e.a);
        TaskRun(p_, ctx_, e.a).resume_call(static_cast<Answer>(me[kAnswer]), load_cell(l_, me + kAnswerId));
        break;
      }
      case EventKind::Receive: receive(e.a); break;
      case EventKind::StartJob: start_job(e.a, e.b); break;
      case EventKind::CallTimeout: TaskRun(p_, ctx_, e.a).resume_call(Answer::None, kNullCell); break;
      case EventKind::ClientTimeout: client_timeout(e.a); break;
      case EventKind::PassDeadline: pass_deadline(p_.plan, w_, e.a); break;
      case EventKind::ExpireKey: expire_key(p_.plan, w_, e.a, e.b); break;
      case EventKind::LoseRequest: std::memset(message(e.a), 0, static_cast<std::size_t>(l_.message_stride)); break;
      case EventKind::LoseCall: drop_request(p_.plan, w_, e.a, e.b); break;
      case EventKind::LoseResponse: sender(e.a)[kSenderReply] = 0; break;
      case EventKind::LoseAnswer:
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
      case EventKind::Crash: crash(e.a, e.b); break;
      case EventKind::Deploy:
        for (int i = 0; i < p_.services[e.a].instances; ++i) crash(e.a, i);
        break;
      case EventKind::Failover: {
        bool again = false;
        for (std::size_t f = 0; f < p_.faults.size(); ++f) {
          const FaultBudget& b = p_.faults[f];
          again = again || (b.kind == FaultKind::Failover && w_[l_.budgets + static_cast<int>(f)] > 0 &&
                            (b.target == FaultTarget::Any || b.index == e.a));
        }
        failover(p_.plan, w_, e.a, e.b, again);
        break;
      }
    }
  }

 private:
  std::uint8_t* sender(int s) { return w_ + l_.senders + s * kSenderBytes; }
  std::uint8_t* message(int m) { return w_ + l_.messages + m * l_.message_stride; }
  std::uint8_t* task(int t) { return w_ + l_.tasks[static_cast<std::size_t>(t)].offset; }

  std::uint8_t* free_message() {
    for (int m = 0; m < l_.message_slots; ++m) {
      if (message(m)[0] == 0) return message(m);
    }
    ctx_.fail(LimitKind::Messages);
    return nullptr;
  }

  void send(int s) {
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    std::uint8_t* me = sender(s);
    const bool first = me[kSenderState] == kNotSent;
    const int attempt = first ? 0 : info.retries - me[kSenderAttempts];
    if (first) me[kSenderAttempts] = static_cast<std::uint8_t>(info.retries);
    me[kSenderState] = kWaiting;
    std::uint8_t* m = free_message();
    if (m == nullptr) return;
    m[0] = static_cast<std::uint8_t>(info.request + 1);
    m[1] = static_cast<std::uint8_t>(s);
    store_cell(l_, m + 2, info.keys[static_cast<std::size_t>(attempt)]);
  }

  void deliver(int m, int instance) {
    const std::uint8_t* me = message(m);
    const RequestInfo& request = p_.requests[static_cast<std::size_t>(me[0] - 1)];
    const ServiceInfo& service = p_.services[static_cast<std::size_t>(request.service)];
    int slot = -1;
    for (int t : service.request_tasks) {
      if (slot < 0 && task(t)[kStatus] == kFree) slot = t;
    }
    if (slot < 0) {
      ctx_.fail(LimitKind::Tasks, request.service);
      return;
    }
    TaskRun run(p_, ctx_, slot);
    run.start(service.request_body, instance, me[1]);
    for (const auto& [cell, value] : request.fields) run.set_cell(cell, value);
    run.set_cell(request.key_cell, load_cell(l_, me + 2));
    run.set_cell(request.identity_cell, request.identity);
    std::memset(message(m), 0, static_cast<std::size_t>(l_.message_stride));
    run.run_local();
  }

  void start_job(int t, int instance) {
    const TaskLayout& layout = l_.tasks[static_cast<std::size_t>(t)];
    const ServiceInfo& service = p_.services[static_cast<std::size_t>(layout.service)];
    TaskRun run(p_, ctx_, t);
    run.start(service.job_bodies[static_cast<std::size_t>(layout.index)], instance, kNobody);
    run.run_local();
  }

  void process(int provider, int slot, ProcessChoice choice) {
    const ProviderRequest request = read_request(p_.plan, w_, provider, slot);
    drop_request(p_.plan, w_, provider, slot);
    const ProviderInfo& info = p_.providers[static_cast<std::size_t>(provider)];
    Answer answer = Answer::Ok;
    int entry = -1;
    if (request.operation == kLookup) {
      entry = find_effect(p_.plan, w_, provider, kLookup, request.key);
      if (entry < 0) answer = Answer::NotFound;
    } else if (choice == ProcessChoice::Decline) {
      answer = Answer::Declined;
    } else if (choice == ProcessChoice::ErrorBeforeEffect) {
      answer = Answer::Error;
    } else {
      if (info.policies[static_cast<std::size_t>(request.operation)] == KeyPolicy::Honoured && request.key != kNullCell) {
        entry = find_effect(p_.plan, w_, provider, request.operation, request.key);
      }
      if (entry < 0) entry = add_effect(p_.plan, w_, provider, request);
      if (entry < 0) {
        ctx_.fail(LimitKind::Effects, provider);
        return;
      }
      if (choice == ProcessChoice::ErrorAfterEffect) answer = Answer::Error;
    }
    if (request.caller == kNobody) return;
    std::uint8_t* caller = task(request.caller);
    caller[kAnswer] = static_cast<std::uint8_t>(answer);
    if (answer == Answer::Ok) store_cell(l_, caller + kAnswerId, info.effect_ids[static_cast<std::size_t>(entry)]);
  }

  void receive(int s) {
    std::uint8_t* me = sender(s);
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    const ReplySpec& reply = p_.replies[static_cast<std::size_t>(me[kSenderReply] - 1)];
    me[kSenderReply] = 0;
    std::uint8_t told = 0;
    int retry = 0;
    switch (reply.outcome) {
      case Outcome::Ok: told = kToldOk; break;
      case Outcome::Failed: told = kToldFailed; retry = kRetryFailed; break;
      case Outcome::Accepted: told = kToldAccepted; retry = kRetryUnknown; break;
      case Outcome::Unknown: told = kToldUnknown; retry = reply.status >= 500 ? kRetry5xx : kRetryUnknown; break;
    }
    if ((info.retry_on & retry) != 0 && me[kSenderAttempts] > 0) {
      // It tries again, so it does not take this answer as the last word.
      if (told == kToldFailed) told = kToldUnknown;
      --me[kSenderAttempts];
      me[kSenderState] = kToRetry;
    } else {
      finish(me, kDone);
    }
    tell(info, told);
  }

  void client_timeout(int s) {
    std::uint8_t* me = sender(s);
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(s)];
    me[kSenderReply] = 0;
    abandon(s);
    if ((info.retry_on & kRetryTimeout) != 0 && me[kSenderAttempts] > 0) {
      --me[kSenderAttempts];
      me[kSenderState] = kToRetry;
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
    const int operation = p_.requests[static_cast<std::size_t>(info.request)].operation;
    w_[l_.told + operation] = static_cast<std::uint8_t>(w_[l_.told + operation] | told);
  }

  // The client has hung up: what is on its way goes on, but its answer finds nobody.
  void abandon(int s) {
    for (int m = 0; m < l_.message_slots; ++m) {
      if (message(m)[0] != 0 && message(m)[1] == s) message(m)[1] = kNobody;
    }
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      std::uint8_t* me = task(static_cast<int>(t));
      if (me[kStatus] != kFree && me[kSender] == s) me[kSender] = kNobody;
    }
  }

  void duplicate(int m) {
    std::uint8_t* copy = free_message();
    if (copy == nullptr) return;
    std::memcpy(copy, message(m), static_cast<std::size_t>(l_.message_stride));
    copy[1] = kNobody;
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
      std::uint8_t* session = w_ + l_.sessions[static_cast<std::size_t>(s)].offset;
      const bool open = session[kTx] == kOpenTx || session[kTx] == kFailedTx;
      const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me))];
      const bool here = instr.kind == InstrKind::Sql && p_.plan.statements[static_cast<std::size_t>(instr.index)].db == db;
      if ((me[kStatus] == kBlocked || me[kStatus] == kOrphaned) && here) waiting.push_back(static_cast<int>(t));
      end_session(p_.plan, w_, s);
      if (open) session[kSessionFlags] = kConnectionDead;
    }
    fail_over(p_.plan, w_, db);
    for (int t : waiting) TaskRun(p_, ctx_, t).lose_connection(false);
  }

  void crash(int service, int instance) {
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = task(static_cast<int>(t));
      if (l_.tasks[t].service == service && me[kStatus] != kFree && me[kInstance] == instance) {
        TaskRun(p_, ctx_, static_cast<int>(t)).die();
      }
    }
    const ServiceInfo& info = p_.services[static_cast<std::size_t>(service)];
    if (info.start_body < 0) return;
    TaskRun run(p_, ctx_, info.start_tasks[static_cast<std::size_t>(instance)]);
    run.start(info.start_body, instance, kNobody);
    run.run_local();
  }

  const Program& p_;
  const Layout& l_;
  std::uint8_t* w_;
  Context& ctx_;
};

}  // namespace

Limit apply(const Program& program, std::uint8_t* world, const Event& event, Workspace& workspace, Observation* seen) {
  Context ctx(program.plan, world, workspace.scratch);
  ctx.seen = seen;
  const std::size_t mark = workspace.scratch.mark();
  Apply(program, world, ctx).perform(event);
  workspace.scratch.release(mark);
  for (std::size_t db = 0; db < program.plan.layout.databases.size(); ++db) {
    const LockTableLayout& locks = program.plan.layout.databases[db].lock_table;
    if (locks.offset >= 0 && world[locks.offset] != 0) ctx.fail(LimitKind::Locks, static_cast<int>(db));
  }
  if (!ctx.limit) make_canonical(program, world, seen);
  return ctx.limit;
}

}  // namespace oncecheck

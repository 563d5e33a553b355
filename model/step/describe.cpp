#include "model/step/describe.hpp"

#include <map>

#include "model/step/connection_pool.hpp"
#include "model/step/handler_work.hpp"
#include "model/step/provider_run.hpp"
#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* task_at(const Program& p, const std::uint8_t* w, int t) {
  return w + p.plan.layout.tasks[static_cast<std::size_t>(t)].offset;
}

std::string message_name(const Program& p, const std::uint8_t* w, int m) {
  const std::uint8_t* me = message_at(p.plan.layout, w, m);
  const CellId key = load_cell(p.plan.layout, me + 2);
  return origin_name(p, w, me[0] - 1, me[1]) + (key == kNullCell ? "" : " with key " + show_cell(p, key)) + " to " +
         endpoint_name(p, me[0] - 1);
}

std::string call_name(const Program& p, const std::uint8_t* w, int provider, int slot) {
  const ProviderRequest r = read_request(p.plan, w, provider, slot);
  const ProviderInfo& info = p.providers[static_cast<std::size_t>(provider)];
  const std::string operation = r.operation == kLookup ? (info.holds_objects ? "get" : "lookup") : r.operation == kList ? "list" : info.operations[static_cast<std::size_t>(r.operation)].name;
  const std::string from = r.caller == kNobody ? "a caller that is gone" : task_name(p, w, r.caller);
  return info.name + "." + operation + (r.key == kNullCell ? "" : " with key " + show_cell(p, r.key)) + " from " + from;
}

std::string step_text(const Program& p, const std::uint8_t* w, int t) {
  const StepInfo* step = step_of(p, w, t);
  if (step == nullptr) return "";
  // The text too: after an edit of the scenario another step may stand in the same place.
  return (step->label.empty() ? step->place : step->label) + " " + step->text;
}

std::string node_name(const RedisLayout& r, int node) { return r.name + "/" + std::to_string(node + 1); }

// By what is left on it: that tells idle connections apart.
std::string idle_name(const Program& p, const std::uint8_t* w, int session) {
  std::string locks;
  each_advisory(p.plan, w, p.plan.layout.sessions[static_cast<std::size_t>(session)].db, [&](int owner, CellId key) {
    if (owner == session) locks += (locks.empty() ? "" : ", ") + show_cell(p, key);
  });
  const std::uint8_t* s = w + p.plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  const bool set = s[kSessionFlags] != 0 || s[kIsolation] != 0;
  return "an idle connection with " + (locks.empty() ? "" : "lock " + locks) + (set && !locks.empty() ? " and " : "") +
         (set ? "settings of an earlier client" : "");
}

std::string choice_words(const Program& p, const std::uint8_t* w, const Event& e) {
  const Instr& instr = p.code[static_cast<std::size_t>(load_pc(task_at(p, w, e.a)))];
  if (instr.kind == InstrKind::Redis) return redis_way_words(p, w, e.a, instr.index, e.c);
  const std::string connection = connection_words(p, w, e.a, e.b);
  if (e.c == 0) return connection;
  return connection + (e.c == 1 ? " (SSI remembers the index page)" : " (SSI remembers the whole table)");
}

std::string clock_name(const Program& p, int clock) {
  const Layout& l = p.plan.layout;
  for (std::size_t s = 0; s < l.clocks.size(); ++s) {
    const int instance = clock - l.clocks[s];
    if (l.clocks[s] >= 0 && instance >= 0 && instance < l.instance_counts[s]) {
      return p.services[s].name + "/" + std::to_string(instance + 1);
    }
  }
  return "?";
}

std::string bare_name(const Program& p, const std::uint8_t* w, const Event& e) {
  switch (e.kind) {
    case EventKind::Send: {
      const std::uint8_t* s = w + p.plan.layout.senders + e.a * kSenderBytes;
      const SenderState state = sender_state(s);
      return sender_name(p, e.a) + (state == kNotSent ? ": send" : state == kToPoll ? ": poll" : ": send again");
    }
    case EventKind::Deliver:
      return "deliver " + message_name(p, w, e.a) + "/" + std::to_string(e.b + 1);
    case EventKind::Step:
      return task_name(p, w, e.a) + ": " + step_text(p, w, e.a) + choice_words(p, w, e);
    case EventKind::Purge: return "purge of " + purged_words(p, w, e.a, e.b);
    case EventKind::Replicate: return "the replica of " + p.plan.layout.databases[e.a].name + " catches up";
    case EventKind::FailoverDatabase: return "failover of " + p.plan.layout.databases[e.a].name;
    case EventKind::LockTimeout:
      return task_name(p, w, e.a) + (e.b == 0 ? ": lock time-out at " : ": statement time-out at ") + step_text(p, w, e.a);
    case EventKind::PoolTimeout: return task_name(p, w, e.a) + ": no connection in time for " + step_text(p, w, e.a);
    case EventKind::LoseConnection:
      return task_name(p, w, e.a) + (e.b == 0 ? ": connection lost before " : ": connection lost after ") + step_text(p, w, e.a) +
             lost_way_words(p, w, e);
    case EventKind::CloseIdle: {
      const SessionLayout& s = p.plan.layout.sessions[e.a];
      return "the pool of " + p.plan.layout.databases[static_cast<std::size_t>(s.db)].name + " loses " + idle_name(p, w, e.a);
    }
    case EventKind::Deadlock: return task_name(p, w, e.a) + ": deadlock at " + step_text(p, w, e.a);
    case EventKind::Process: {
      static const char* how[] = {"", " declined", " done but answered 500", " refused with 500", " answered 200 but not done", " as if the key were new"};
      const bool begins = e.c == 0 && begins_first(p, w, e.a, read_request(p.plan, w, e.a, e.b));
      return (begins ? "begin " : "process ") + call_name(p, w, e.a, e.b) + how[e.c];
    }
    case EventKind::Answer: return task_name(p, w, e.a) + ": answer to " + step_text(p, w, e.a);
    case EventKind::Receive: return sender_name(p, e.a) + ": receive the answer";
    case EventKind::StartJob: {
      const TaskLayout& t = p.plan.layout.tasks[e.a];
      const ServiceInfo& s = p.services[static_cast<std::size_t>(t.service)];
      return "start job " + s.job_names[static_cast<std::size_t>(t.index)] + " on " + s.name + "/" + std::to_string(e.b + 1);
    }
    case EventKind::CallTimeout: return task_name(p, w, e.a) + ": time-out of " + step_text(p, w, e.a);
    case EventKind::ClientTimeout: return sender_name(p, e.a) + ": time-out";
    case EventKind::PassDeadline: return e.b == 0 ? "a deadline passes" : "a deadline passes by the clock of " + clock_name(p, e.b - 1);
    case EventKind::ClockJump:
      return "the clock of " + p.services[e.a].name + "/" + std::to_string(e.b + 1) + (e.c == 0 ? " jumps ahead" : " falls behind");
    case EventKind::ExpireKey: {
      const RedisLayout& r = p.plan.layout.redis[e.a];
      const CellId key = redis_key_of_deadline(p.plan, w, e.a, e.b);
      return "key " + show_cell(p, key) + " expires in " + (e.c == 0 ? r.name : node_name(r, e.c - 1));
    }
    case EventKind::ReplicateRedis: return node_name(p.plan.layout.redis[e.a], e.b) + " follows its primary";
    case EventKind::NoticeCut: return "the primary of " + p.plan.layout.redis[e.a].name + " misses its replicas";
    case EventKind::HealRedis: return "the network of " + p.plan.layout.redis[e.a].name + " is whole again";
    case EventKind::CutNetwork: return "cut between " + p.network.cuts[e.a];
    case EventKind::HealNetwork: return "the network between " + p.network.cuts[e.a] + " is whole again";
    case EventKind::EndSession: return p.plan.layout.databases[e.b].name + " ends the session of " + task_name(p, w, e.a);
    case EventKind::CutRedis: return "the primary of " + p.plan.layout.redis[e.a].name + " is cut off";
    case EventKind::RestartRedis: {
      const int unsynced = unsynced_writes(p.plan, w, e.a, current_primary(p.plan, w, e.a));
      return "restart of " + p.plan.layout.redis[e.a].name +
             (unsynced > 0 ? ", " + std::to_string(e.b) + " of " + std::to_string(unsynced) + " writes survive" : "");
    }
    case EventKind::Evict: {
      const RedisKeys keys = keys_of(p.plan, const_cast<std::uint8_t*>(w), e.a, current_primary(p.plan, w, e.a));
      return "evict key " + show_cell(p, keys.key(e.b)) + " of " + p.plan.layout.redis[e.a].name;
    }
    case EventKind::ForgetKey: {
      const KeyRecord k = read_key(p.plan, w, e.a, e.b);
      return p.providers[e.a].name + " forgets key " + show_cell(p, k.key) + " of " +
             p.providers[e.a].operations[static_cast<std::size_t>(k.operation)].name;
    }
    case EventKind::IndexEffects: return "the look-up of " + p.providers[e.a].name + " catches up";
    case EventKind::Redeliver: return "redeliver " + message_name(p, w, e.a);
    case EventKind::ReplaceInstance: return "the rolling deploy replaces " + p.services[e.a].name + "/" + std::to_string(e.b + 1);
    case EventKind::DrainTimeout: return "time-out of draining " + p.services[e.a].name + "/" + std::to_string(e.b + 1);
    case EventKind::RollingDeploy: return "rolling deploy of " + p.services[e.a].name;
    case EventKind::LoseRequest: return "lose " + message_name(p, w, e.a);
    case EventKind::LoseCall: return "lose " + call_name(p, w, e.a, e.b);
    case EventKind::LoseResponse: return "lose the answer to " + sender_name(p, e.a);
    case EventKind::LoseAnswer: return "lose the answer to " + task_name(p, w, e.a) + " " + step_text(p, w, e.a);
    case EventKind::Duplicate: return "duplicate " + message_name(p, w, e.a);
    case EventKind::DuplicateCall: return "duplicate " + call_name(p, w, e.a, e.b);
    case EventKind::Crash:
      return "crash " + (e.c == 0 ? p.services[e.a].name + "/" + std::to_string(e.b + 1) : task_name(p, w, e.c - 1));
    case EventKind::Deploy: return "deploy " + p.services[e.a].name;
    case EventKind::Failover:
      if (p.plan.layout.redis[e.a].stepped) return "failover to " + node_name(p.plan.layout.redis[e.a], e.b);
      return "failover of " + p.plan.layout.redis[e.a].name + ", " + std::to_string(e.b) + " of " +
             std::to_string(unreplicated_writes(p.plan, w, e.a)) + " writes survive";
  }
  return "?";
}

}  // namespace

std::string redis_way_words(const Program& program, const std::uint8_t* world, int task, int command, int number) {
  const RedisCommand& c = program.plan.redis_commands[static_cast<std::size_t>(command)];
  const RedisLayout& r = program.plan.layout.redis[static_cast<std::size_t>(c.redis)];
  const RedisWay way = redis_way(program.plan, world, task, command, number);
  std::string out;
  if (is_old_primary(program.plan, world, c.redis, way.node)) out = " at the old primary";
  if (c.on_replica && r.nodes.size() > 2) out = " at " + node_name(r, way.node);
  if (way.choice == 0) return out;
  if (c.call.op == RedisOp::Expire) return out + " (the other time is the later one)";
  if (c.call.op == RedisOp::Exec) return out + " (way " + std::to_string(way.choice + 1) + " of what its commands leave open)";
  return out + (r.replicas == 1 ? " (not confirmed in time)" : " (not confirmed by " + std::to_string(way.choice) + ")");
}

std::string connection_words(const Program& program, const std::uint8_t* world, int task, int way) {
  const Instr& instr = program.code[static_cast<std::size_t>(load_pc(task_at(program, world, task)))];
  if (instr.kind != InstrKind::Sql) return "";
  const SqlStatement& s = program.plan.statements[static_cast<std::size_t>(instr.index)];
  const int idle = connection_of_way(program, world, task, s, way);
  return idle < 0 ? "" : " on " + idle_name(program, world, idle);
}

std::string lost_way_words(const Program& program, const std::uint8_t* world, const Event& e) {
  if (e.b == 0) return "";
  const Instr& instr = program.code[static_cast<std::size_t>(load_pc(task_at(program, world, e.a)))];
  if (instr.kind == InstrKind::Redis) return redis_way_words(program, world, e.a, instr.index, e.c);
  return connection_words(program, world, e.a, e.c);
}

std::string show_cell(const Program& program, CellId id) {
  const Val v = program.plan.domain.decode(id);
  if (v.kind == Kind::Text) return std::string(program.plan.domain.text(v.n));
  return program.plan.domain.show(v);
}

std::string purged_words(const Program& program, const std::uint8_t* world, int table, int slot) {
  const TableLayout& t = program.plan.layout.tables[static_cast<std::size_t>(table)];
  const std::uint8_t* v = slot_of(t, world, slot);
  std::string cells;
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    const CellId id = column_of(program.plan.layout, t, v, static_cast<int>(c));
    if (id != kNullCell) cells += (cells.empty() ? "" : ", ") + t.columns[c] + " " + show_cell(program, id);
  }
  return t.name + " (" + cells + ")";
}

std::string sender_name(const Program& program, int sender) {
  const SenderInfo& info = program.senders[static_cast<std::size_t>(sender)];
  std::string name = program.clients[static_cast<std::size_t>(info.client)];
  int requests = 0, number = 0, clicks = 0;
  for (std::size_t s = 0; s < program.senders.size(); ++s) {
    const SenderInfo& other = program.senders[s];
    clicks += other.route == info.route ? 1 : 0;
    if (other.client != info.client || other.click != 0) continue;
    if (other.route == info.route) number = requests;
    ++requests;
  }
  if (requests > 1) name += " request " + std::to_string(number + 1);
  if (clicks > 1) name += " click " + std::to_string(info.click + 1);
  return name;
}

std::string task_name(const Program& program, const std::uint8_t* world, int task) {
  const TaskLayout& t = program.plan.layout.tasks[static_cast<std::size_t>(task)];
  const std::uint8_t* me = task_at(program, world, task);
  const ServiceInfo& s = program.services[static_cast<std::size_t>(t.service)];
  if (me[kStatus] == kOrphaned) return s.name + " (process gone)";
  if (me[kStatus] == kLingering) return s.name + " (cut off and gone)";
  std::string name = s.name + "/" + std::to_string(me[kInstance] + 1);
  if (t.kind == TaskKind::Job) return name + " job " + s.job_names[static_cast<std::size_t>(t.index)];
  if (t.kind == TaskKind::Start) return name + " start-up";
  const std::string endpoint = body_of(program, world, task).endpoint;
  if (!endpoint.empty()) name += " " + endpoint;
  return name + (me[kSender] == kNobody ? " for nobody" : " for " + caller_name(program, world, me[kSender]));
}

std::string caller_name(const Program& program, const std::uint8_t* world, std::uint8_t caller) {
  const int senders = program.plan.layout.sender_count;
  if (caller < senders) return sender_name(program, caller);
  // Not the whole name: services may call each other in a circle.
  const int task = caller - senders;
  const TaskLayout& t = program.plan.layout.tasks[static_cast<std::size_t>(task)];
  return program.services[static_cast<std::size_t>(t.service)].name + "/" + std::to_string(task_at(program, world, task)[kInstance] + 1);
}

std::string endpoint_name(const Program& program, int route) {
  const RouteInfo& r = program.routes[static_cast<std::size_t>(route)];
  const ServiceInfo& s = program.services[static_cast<std::size_t>(r.service)];
  const std::string& endpoint = s.endpoints[static_cast<std::size_t>(r.endpoint)];
  return s.name + (endpoint.empty() ? "" : "." + endpoint);
}

std::string origin_name(const Program& program, const std::uint8_t* world, int route, std::uint8_t caller) {
  const RouteInfo& r = program.routes[static_cast<std::size_t>(route)];
  switch (r.kind) {
    case RouteKind::Webhook: return "webhook of " + program.providers[static_cast<std::size_t>(r.provider)].name;
    case RouteKind::Queue: return "message of queue " + program.message_queues[static_cast<std::size_t>(r.queue)].name;
    case RouteKind::Call: return caller == kNobody ? "call (nobody waits)" : "call of " + caller_name(program, world, caller);
    case RouteKind::Client: break;
  }
  return "request of " + (caller == kNobody ? program.clients[static_cast<std::size_t>(r.client)] + " (nobody waits)"
                                            : sender_name(program, caller));
}

std::string session_name(const Program& program, const std::uint8_t* world, int session) {
  if (program.plan.layout.sessions[static_cast<std::size_t>(session)].task < 0) return idle_name(program, world, session);
  return task_name(program, world, program.plan.layout.sessions[static_cast<std::size_t>(session)].task);
}

const StepInfo* step_of(const Program& program, const std::uint8_t* world, int task) {
  const Instr& instr = program.code[static_cast<std::size_t>(load_pc(task_at(program, world, task)))];
  return instr.step < 0 ? nullptr : &program.steps[static_cast<std::size_t>(instr.step)];
}

std::string lane_of(const Program& program, const std::uint8_t* world, const Event& e) {
  auto instance = [&](int task) {
    const TaskLayout& t = program.plan.layout.tasks[static_cast<std::size_t>(task)];
    if (task_at(program, world, task)[kInstance] == kNobody) return program.services[static_cast<std::size_t>(t.service)].name;
    return program.services[static_cast<std::size_t>(t.service)].name + "/" + std::to_string(task_at(program, world, task)[kInstance] + 1);
  };
  switch (e.kind) {
    case EventKind::Send:
    case EventKind::Receive:
    case EventKind::ClientTimeout:
      return program.clients[static_cast<std::size_t>(program.senders[e.a].client)];
    case EventKind::Deliver: {
      const std::uint8_t* m = message_at(program.plan.layout, world, e.a);
      return program.services[static_cast<std::size_t>(program.routes[static_cast<std::size_t>(m[0] - 1)].service)].name + "/" +
             std::to_string(e.b + 1);
    }
    case EventKind::Step:
    case EventKind::Deadlock:
    case EventKind::LockTimeout:
    case EventKind::PoolTimeout:
    case EventKind::LoseConnection:
    case EventKind::Answer:
    case EventKind::CallTimeout: return instance(e.a);
    case EventKind::StartJob:
      return program.services[static_cast<std::size_t>(program.plan.layout.tasks[e.a].service)].name + "/" + std::to_string(e.b + 1);
    case EventKind::Process:
    case EventKind::IndexEffects:
    case EventKind::ForgetKey: return program.providers[e.a].name;
    case EventKind::PassDeadline: return "time";
    case EventKind::Purge: return program.plan.layout.databases[static_cast<std::size_t>(program.plan.layout.tables[e.a].db)].name;
    case EventKind::EndSession: return program.plan.layout.databases[e.b].name;
    case EventKind::CloseIdle:
      return program.plan.layout.databases[static_cast<std::size_t>(program.plan.layout.sessions[e.a].db)].name;
    case EventKind::Replicate:
    case EventKind::FailoverDatabase: return program.plan.layout.databases[e.a].name;
    case EventKind::ExpireKey:
    case EventKind::ReplicateRedis:
    case EventKind::NoticeCut:
    case EventKind::HealRedis:
    case EventKind::CutRedis:
    case EventKind::RestartRedis:
    case EventKind::Evict:
    case EventKind::Failover: return program.plan.layout.redis[e.a].name;
    case EventKind::Crash:
    case EventKind::ReplaceInstance:
    case EventKind::ClockJump:
    case EventKind::DrainTimeout: return program.services[e.a].name + "/" + std::to_string(e.b + 1);
    case EventKind::RollingDeploy:
    case EventKind::Deploy: return program.services[e.a].name;
    default: return "network";
  }
}

std::vector<std::string> choice_names(const Program& program, const std::uint8_t* world, const std::vector<Event>& events) {
  std::vector<std::string> names;
  std::map<std::string, int> used;
  for (const Event& e : events) {
    std::string name = bare_name(program, world, e);
    // Who pays is part of the choice: a time-out that nobody waits for any more is not the same as an early one.
    if (e.fault != kNoBudget) name = "fault " + std::string(fault_name(program.faults[e.fault].kind)) + ": " + name;
    if (const int n = ++used[name]; n > 1) name += " #" + std::to_string(n);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace oncecheck

#include "model/step/describe.hpp"

#include <map>

#include "model/world/cells.hpp"
#include "model/world/redis.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* task_at(const Program& p, const std::uint8_t* w, int t) {
  return w + p.plan.layout.tasks[static_cast<std::size_t>(t)].offset;
}

std::string message_name(const Program& p, const std::uint8_t* w, int m) {
  const std::uint8_t* me = w + p.plan.layout.messages + m * p.plan.layout.message_stride;
  const RequestInfo& request = p.requests[static_cast<std::size_t>(me[0] - 1)];
  const std::string to = p.services[static_cast<std::size_t>(request.service)].name;
  const CellId key = load_cell(p.plan.layout, me + 2);
  std::string who = me[1] == kNobody ? p.clients[static_cast<std::size_t>(request.client)] + " (nobody waits)"
                                     : sender_name(p, me[1]);
  return "request of " + who + (key == kNullCell ? "" : " with key " + show_cell(p, key)) + " to " + to;
}

std::string call_name(const Program& p, const std::uint8_t* w, int provider, int slot) {
  const ProviderRequest r = read_request(p.plan, w, provider, slot);
  const ProviderInfo& info = p.providers[static_cast<std::size_t>(provider)];
  const std::string operation = r.operation == kLookup ? "lookup" : info.operations[static_cast<std::size_t>(r.operation)];
  const std::string from = r.caller == kNobody ? "a caller that is gone" : task_name(p, w, r.caller);
  return info.name + "." + operation + (r.key == kNullCell ? "" : " with key " + show_cell(p, r.key)) + " from " + from;
}

std::string step_text(const Program& p, const std::uint8_t* w, int t) {
  const StepInfo* step = step_of(p, w, t);
  if (step == nullptr) return "";
  // The text too: after an edit of the scenario another step may stand in the same place.
  return (step->label.empty() ? step->place : step->label) + " " + step->text;
}

std::string choice_words(const Program& p, const std::uint8_t* w, const Event& e) {
  if (e.c == 0) return "";
  const Instr& instr = p.code[static_cast<std::size_t>(load_pc(task_at(p, w, e.a)))];
  if (instr.kind == InstrKind::Redis) return " (not confirmed in time)";
  return e.c == 1 ? " (SSI remembers the index page)" : " (SSI remembers the whole table)";
}

std::string bare_name(const Program& p, const std::uint8_t* w, const Event& e) {
  switch (e.kind) {
    case EventKind::Send: {
      const std::uint8_t* s = w + p.plan.layout.senders + e.a * kSenderBytes;
      return sender_name(p, e.a) + (s[kSenderState] == kNotSent ? ": send" : ": send again");
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
    case EventKind::LoseConnection:
      return task_name(p, w, e.a) + (e.b == 0 ? ": connection lost before " : ": connection lost after ") + step_text(p, w, e.a);
    case EventKind::Deadlock: return task_name(p, w, e.a) + ": deadlock at " + step_text(p, w, e.a);
    case EventKind::Process: {
      static const char* how[] = {"", " declined", " done but answered 500", " refused with 500"};
      return "process " + call_name(p, w, e.a, e.b) + how[e.c];
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
    case EventKind::PassDeadline: return "a deadline passes";
    case EventKind::ExpireKey: {
      const RedisLayout& r = p.plan.layout.redis[e.a];
      return "key " + show_cell(p, load_cell(p.plan.layout, w + r.offset + e.b * r.stride)) + " expires in " + r.name;
    }
    case EventKind::LoseRequest: return "lose " + message_name(p, w, e.a);
    case EventKind::LoseCall: return "lose " + call_name(p, w, e.a, e.b);
    case EventKind::LoseResponse: return "lose the answer to " + sender_name(p, e.a);
    case EventKind::LoseAnswer: return "lose the answer to " + task_name(p, w, e.a) + " " + step_text(p, w, e.a);
    case EventKind::Duplicate: return "duplicate " + message_name(p, w, e.a);
    case EventKind::DuplicateCall: return "duplicate " + call_name(p, w, e.a, e.b);
    case EventKind::Crash: return "crash " + p.services[e.a].name + "/" + std::to_string(e.b + 1);
    case EventKind::Deploy: return "deploy " + p.services[e.a].name;
    case EventKind::Failover:
      return "failover of " + p.plan.layout.redis[e.a].name + ", " + std::to_string(e.b) + " of " +
             std::to_string(unreplicated_writes(p.plan, w, e.a)) + " writes survive";
  }
  return "?";
}

}  // namespace

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
  for (std::size_t r = 0; r < program.requests.size(); ++r) {
    if (program.requests[r].client != info.client) continue;
    if (static_cast<int>(r) == info.request) number = requests;
    ++requests;
  }
  for (const SenderInfo& other : program.senders) clicks += other.request == info.request ? 1 : 0;
  if (requests > 1) name += " request " + std::to_string(number + 1);
  if (clicks > 1) name += " click " + std::to_string(info.click + 1);
  return name;
}

std::string task_name(const Program& program, const std::uint8_t* world, int task) {
  const TaskLayout& t = program.plan.layout.tasks[static_cast<std::size_t>(task)];
  const std::uint8_t* me = task_at(program, world, task);
  const ServiceInfo& s = program.services[static_cast<std::size_t>(t.service)];
  if (me[kStatus] == kOrphaned) return s.name + " (process gone)";
  std::string name = s.name + "/" + std::to_string(me[kInstance] + 1);
  if (t.kind == TaskKind::Job) return name + " job " + s.job_names[static_cast<std::size_t>(t.index)];
  if (t.kind == TaskKind::Start) return name + " start-up";
  return name + (me[kSender] == kNobody ? " for nobody" : " for " + sender_name(program, me[kSender]));
}

std::string session_name(const Program& program, const std::uint8_t* world, int session) {
  return task_name(program, world, program.plan.layout.sessions[static_cast<std::size_t>(session)].task);
}

const StepInfo* step_of(const Program& program, const std::uint8_t* world, int task) {
  const Instr& instr = program.code[static_cast<std::size_t>(load_pc(task_at(program, world, task)))];
  return instr.step < 0 ? nullptr : &program.steps[static_cast<std::size_t>(instr.step)];
}

std::string lane_of(const Program& program, const std::uint8_t* world, const Event& e) {
  auto instance = [&](int task) {
    const TaskLayout& t = program.plan.layout.tasks[static_cast<std::size_t>(task)];
    if (task_at(program, world, task)[kStatus] == kOrphaned) return program.services[static_cast<std::size_t>(t.service)].name;
    return program.services[static_cast<std::size_t>(t.service)].name + "/" + std::to_string(task_at(program, world, task)[kInstance] + 1);
  };
  switch (e.kind) {
    case EventKind::Send:
    case EventKind::Receive:
    case EventKind::ClientTimeout:
      return program.clients[static_cast<std::size_t>(program.senders[e.a].client)];
    case EventKind::Deliver: {
      const std::uint8_t* m = world + program.plan.layout.messages + e.a * program.plan.layout.message_stride;
      return program.services[static_cast<std::size_t>(program.requests[static_cast<std::size_t>(m[0] - 1)].service)].name + "/" +
             std::to_string(e.b + 1);
    }
    case EventKind::Step:
    case EventKind::Deadlock:
    case EventKind::LockTimeout:
    case EventKind::LoseConnection:
    case EventKind::Answer:
    case EventKind::CallTimeout: return instance(e.a);
    case EventKind::StartJob:
      return program.services[static_cast<std::size_t>(program.plan.layout.tasks[e.a].service)].name + "/" + std::to_string(e.b + 1);
    case EventKind::Process: return program.providers[e.a].name;
    case EventKind::PassDeadline: return "time";
    case EventKind::Purge: return program.plan.layout.databases[static_cast<std::size_t>(program.plan.layout.tables[e.a].db)].name;
    case EventKind::Replicate:
    case EventKind::FailoverDatabase: return program.plan.layout.databases[e.a].name;
    case EventKind::ExpireKey:
    case EventKind::Failover: return program.plan.layout.redis[e.a].name;
    case EventKind::Crash: return program.services[e.a].name + "/" + std::to_string(e.b + 1);
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

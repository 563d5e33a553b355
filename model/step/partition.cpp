#include "model/step/partition.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* task_at(const Layout& l, const std::uint8_t* w, int task) {
  return w + l.tasks[static_cast<std::size_t>(task)].offset;
}
std::uint8_t* network_of(const Layout& l, std::uint8_t* w, int task) {
  return w + l.tasks[static_cast<std::size_t>(task)].network;
}
const std::uint8_t* network_of(const Layout& l, const std::uint8_t* w, int task) {
  return w + l.tasks[static_cast<std::size_t>(task)].network;
}

// The other end of the visible step at hand; -1 when it needs nobody else.
int far_end(const Program& p, const std::uint8_t* w, int task) {
  const Instr& instr = p.code[static_cast<std::size_t>(load_pc(task_at(p.plan.layout, w, task)))];
  const auto index = static_cast<std::size_t>(instr.index);
  switch (instr.kind) {
    case InstrKind::Sql: return p.network.databases[static_cast<std::size_t>(p.plan.statements[index].db)];
    case InstrKind::Redis: return p.network.redis[static_cast<std::size_t>(p.plan.redis_commands[index].redis)];
    case InstrKind::Publish: {
      const RouteInfo& route = p.routes[static_cast<std::size_t>(p.publications[index].route)];
      return p.network.queues[static_cast<std::size_t>(route.queue)];
    }
    default: return -1;
  }
}

// Whether the task's session on the database is in the middle of a statement.
bool in_the_middle(const Program& p, const std::uint8_t* w, int task, int db) {
  const std::uint8_t* me = task_at(p.plan.layout, w, task);
  if (me[kStatus] != kBlocked && me[kStatus] != kOrphaned) return false;
  const Instr& instr = p.code[static_cast<std::size_t>(load_pc(me))];
  return p.plan.statements[static_cast<std::size_t>(instr.index)].db == db;
}

bool stands_behind_cut(const Program& p, const std::uint8_t* w, int task) {
  const std::uint8_t status = task_at(p.plan.layout, w, task)[kStatus];
  if (status == kReady || status == kBlocked) return step_cut_off(p, w, task);
  return status == kWaitsCall && !answer_passes(p, w, task);
}

// Whether a message of `caller` that nobody has taken yet, or the work on one, can lead to an answer that reaches the zone.
bool service_answers(const Program& p, const std::uint8_t* w, std::uint8_t caller, int zone) {
  const Layout& l = p.plan.layout;
  for (int m = 0; m < l.message_slots; ++m) {
    const std::uint8_t* message = message_at(l, w, m);
    if (message[0] == 0 || message[1] != caller) continue;
    const int service = p.routes[static_cast<std::size_t>(message[0] - 1)].service;
    for (std::uint8_t there : p.network.instances[static_cast<std::size_t>(service)]) {
      if (!cut_off(p, w, zone, there)) return true;
    }
  }
  for (std::size_t t = 0; t < l.tasks.size(); ++t) {
    const std::uint8_t* me = w + l.tasks[t].offset;
    if (me[kStatus] == kFree || me[kSender] != caller) continue;
    const int id = static_cast<int>(t);
    // Callers that wait for each other in a circle do not exist: each call has a task of its own.
    if (!cut_off(p, w, zone, zone_of_task(p, w, id)) && !stands_behind_cut(p, w, id)) return true;
  }
  return false;
}

}  // namespace

bool cut_off(const Program& program, const std::uint8_t* w, int zone, int other) {
  const int cuts = program.plan.layout.cuts;
  if (cuts < 0 || w[cuts] == 0) return false;
  const NetworkPlan& n = program.network;
  return (w[cuts] & n.separated_by[static_cast<std::size_t>(zone * n.zones + other)]) != 0;
}

int zone_of_instance(const Program& program, int service, int instance) {
  if (program.plan.layout.cuts < 0 || instance == kNobody) return 0;
  return program.network.instances[static_cast<std::size_t>(service)][static_cast<std::size_t>(instance)];
}

int zone_of_task(const Program& program, const std::uint8_t* w, int task) {
  const Layout& l = program.plan.layout;
  return zone_of_instance(program, l.tasks[static_cast<std::size_t>(task)].service, task_at(l, w, task)[kInstance]);
}

int origin_zone(const Program& program, const std::uint8_t* message) {
  if (program.plan.layout.cuts < 0) return 0;
  const RouteInfo& route = program.routes[static_cast<std::size_t>(message[0] - 1)];
  switch (route.kind) {
    case RouteKind::Client: return program.network.clients[static_cast<std::size_t>(route.client)];
    case RouteKind::Webhook: return program.network.providers[static_cast<std::size_t>(route.provider)];
    case RouteKind::Queue: return program.network.queues[static_cast<std::size_t>(route.queue)];
    case RouteKind::Call: break;
  }
  return message[program.plan.layout.message_zone];
}

bool step_cut_off(const Program& program, const std::uint8_t* w, int task) {
  const int cuts = program.plan.layout.cuts;
  if (cuts < 0 || w[cuts] == 0) return false;
  const int there = far_end(program, w, task);
  return there >= 0 && cut_off(program, w, zone_of_task(program, w, task), there);
}

bool origin_cut_off(const Program& program, const std::uint8_t* w, int task, const std::uint8_t* message) {
  return cut_off(program, w, zone_of_task(program, w, task), origin_zone(program, message));
}

bool answer_passes(const Program& program, const std::uint8_t* w, int task) {
  const Layout& l = program.plan.layout;
  if (l.cuts < 0 || w[l.cuts] == 0) return true;
  const std::uint8_t* me = task_at(l, w, task);
  const CallSite& site = program.calls[static_cast<std::size_t>(program.code[static_cast<std::size_t>(load_pc(me))].index)];
  const int here = zone_of_task(program, w, task);
  if (site.route < 0) return !cut_off(program, w, here, program.network.providers[static_cast<std::size_t>(site.provider)]);
  if (me[kAnswer] != 0) return !cut_off(program, w, here, network_of(l, w, task)[kAnswerZone]);
  return service_answers(program, w, static_cast<std::uint8_t>(l.sender_count + task), here);
}

bool reply_passes(const Program& program, const std::uint8_t* w, int sender) {
  const Layout& l = program.plan.layout;
  if (l.cuts < 0 || w[l.cuts] == 0) return true;
  const int here = program.network.clients[static_cast<std::size_t>(program.senders[static_cast<std::size_t>(sender)].client)];
  if (w[l.senders + sender * kSenderBytes + kSenderReply] != 0) return !cut_off(program, w, here, w[l.sender_zones + sender]);
  return service_answers(program, w, static_cast<std::uint8_t>(sender), here);
}

bool session_open(const Plan& plan, const std::uint8_t* w, int session) {
  const SessionLayout& layout = plan.layout.sessions[static_cast<std::size_t>(session)];
  const bool locks = plan.layout.databases[static_cast<std::size_t>(layout.db)].advisory.offset >= 0;
  return w[layout.offset + kTx] != kNoTx || (locks && first_advisory(plan, w, session) != kNullCell);
}

bool session_outlives(const Program& program, const std::uint8_t* w, int task, int db) {
  const Layout& l = program.plan.layout;
  const TaskLayout& layout = l.tasks[static_cast<std::size_t>(task)];
  const int session = layout.sessions[static_cast<std::size_t>(db)];
  // A start-up program needs its only slot when the instance starts again.
  if (l.cuts < 0 || layout.kind == TaskKind::Start || session < 0 || !session_open(program.plan, w, session)) return false;
  if (in_the_middle(program, w, task, db)) return false;
  const bool left = (network_of(l, w, task)[kLeft] >> db & 1) != 0;
  return left || cut_off(program, w, zone_of_task(program, w, task), program.network.databases[static_cast<std::size_t>(db)]);
}

bool server_may_end(const Program& program, const std::uint8_t* w, int task, int db) {
  const Layout& l = program.plan.layout;
  const std::uint8_t* me = task_at(l, w, task);
  const int session = l.tasks[static_cast<std::size_t>(task)].sessions[static_cast<std::size_t>(db)];
  if (me[kStatus] == kFree || session < 0 || !session_open(program.plan, w, session)) return false;
  if (me[kStatus] == kLingering || (network_of(l, w, task)[kLeft] >> db & 1) != 0) return true;
  if (!cut_off(program, w, zone_of_task(program, w, task), program.network.databases[static_cast<std::size_t>(db)])) return false;
  return !in_the_middle(program, w, task, db);  // while a statement waits for a lock the server does not look at the socket
}

void server_ends_session(const Program& program, std::uint8_t* w, int task, int db) {
  const Layout& l = program.plan.layout;
  const TaskLayout& layout = l.tasks[static_cast<std::size_t>(task)];
  const int session = layout.sessions[static_cast<std::size_t>(db)];
  end_session(program.plan, w, session);
  if (w[layout.offset + kStatus] == kLingering) {
    const bool more = std::ranges::any_of(layout.sessions, [&](int s) { return s >= 0 && session_open(program.plan, w, s); });
    if (!more) std::memset(w + layout.offset, 0, static_cast<std::size_t>(layout.bytes));
    return;
  }
  std::uint8_t& left = network_of(l, w, task)[kLeft];
  if ((left >> db & 1) != 0) {
    left = static_cast<std::uint8_t>(left & ~(1u << db));
  } else {
    w[l.sessions[static_cast<std::size_t>(session)].offset + kSessionFlags] = kConnectionDead;
  }
}

void cut_network(const Program& program, std::uint8_t* w, int cut) {
  const Layout& l = program.plan.layout;
  const std::uint8_t before = w[l.cuts];
  const auto after = static_cast<std::uint8_t>(before | (1u << cut));
  for (std::size_t t = 0; t < l.tasks.size(); ++t) {
    const int task = static_cast<int>(t);
    w[l.cuts] = before;
    if (w[l.tasks[t].offset + kStatus] != kReady || step_cut_off(program, w, task)) continue;
    w[l.cuts] = after;
    if (step_cut_off(program, w, task)) network_of(l, w, task)[kSent] = 1;
  }
  w[l.cuts] = after;
}

void heal_network(const Program& program, std::uint8_t* w, int cut) {
  const Layout& l = program.plan.layout;
  w[l.cuts] = static_cast<std::uint8_t>(w[l.cuts] & ~(1u << cut));
  for (std::size_t t = 0; t < l.tasks.size(); ++t) {
    if (w[l.tasks[t].offset + kStatus] == kReady && !step_cut_off(program, w, static_cast<int>(t))) {
      network_of(l, w, static_cast<int>(t))[kSent] = 0;
    }
  }
}

}  // namespace oncecheck

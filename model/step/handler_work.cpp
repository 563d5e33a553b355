#include "model/step/handler_work.hpp"

#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* task_at(const Program& p, const std::uint8_t* w, int t) { return w + p.plan.layout.tasks[static_cast<std::size_t>(t)].offset; }

}  // namespace

const Body& body_of(const Program& p, const std::uint8_t* w, int task) {
  const int pc = load_pc(task_at(p, w, task));
  std::size_t body = 0;
  while (body + 1 < p.bodies.size() && p.bodies[body + 1].entry <= pc) ++body;
  return p.bodies[body];
}

bool comes_to(const Program& p, const RouteInfo& route, const Body& body) {
  return body.kind == TaskKind::Request && route.service == body.service &&
         p.services[static_cast<std::size_t>(route.service)].endpoints[static_cast<std::size_t>(route.endpoint)] == body.endpoint;
}

int operation_of_sender(const Program& p, int sender) {
  return p.routes[static_cast<std::size_t>(p.senders[static_cast<std::size_t>(sender)].route)].operation;
}

int operation_of_task(const Program& p, const std::uint8_t* w, int task) {
  const int caller = task_at(p, w, task)[kSender];
  if (caller < p.plan.layout.sender_count) return operation_of_sender(p, caller);
  if (caller != kNobody) return -1;
  const Body& body = body_of(p, w, task);
  int only = -1;
  for (const RouteInfo& route : p.routes) {
    if (!comes_to(p, route, body)) continue;
    if (route.kind != RouteKind::Client || (only >= 0 && route.operation != only)) return -1;
    only = route.operation;
  }
  return only;
}

CellId kept_key(const Program& p, const std::uint8_t* w, int task, const RouteInfo& route) {
  const int cell = route.key_cell[body_of(p, w, task).next_version ? 1 : 0];
  if (cell < 0) return kNullCell;
  return load_cell(p.plan.layout, w + p.plan.layout.tasks[static_cast<std::size_t>(task)].locals + cell * p.plan.layout.cell);
}

}  // namespace oncecheck

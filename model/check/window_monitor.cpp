#include "model/check/window_monitor.hpp"

#include "model/step/handler_work.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* task_at(const Program& p, const std::uint8_t* w, int t) { return w + p.plan.layout.tasks[static_cast<std::size_t>(t)].offset; }

const RouteInfo& route_of(const Program& p, const std::uint8_t* message) { return p.routes[static_cast<std::size_t>(message[0] - 1)]; }

// A request is not known to be of another operation than this one (-1: which is not known).
bool may_ask_for(const RouteInfo& route, int operation) {
  return operation < 0 || route.kind != RouteKind::Client || route.operation < 0 || route.operation == operation;
}

// A request is delivered to the body of the task, and it is not known to be another than the one that the task works on.
bool arrives_again(const Program& p, const std::uint8_t* w, const Event& e, const Body& body, int t) {
  const std::uint8_t* message = message_at(p.plan.layout, w, e.a);
  const RouteInfo& route = route_of(p, message);
  if (!comes_to(p, route, body)) return false;
  const CellId key = load_cell(p.plan.layout, message + 2), mine = kept_key(p, w, t, route);
  if (key != kNullCell && mine != kNullCell && key != mine) return false;
  return may_ask_for(route, operation_of_task(p, w, t));
}

// The same of a task that has replied to the sender, and is not looked at any more.
bool arrives_again_after_reply(const Program& p, const std::uint8_t* w, const Event& e, const Body& body, int sender) {
  const RouteInfo& route = route_of(p, message_at(p.plan.layout, w, e.a));
  return comes_to(p, route, body) && may_ask_for(route, operation_of_sender(p, sender));
}

// Of those in the window: what an event means for a task.
bool concerns_task(const Program& p, const std::uint8_t* w, const Event& e, const Body& body, int t) {
  const std::uint8_t* me = task_at(p, w, t);
  const TaskLayout& layout = p.plan.layout.tasks[static_cast<std::size_t>(t)];
  switch (e.kind) {
    case EventKind::Crash: return e.a == layout.service && e.b == me[kInstance] && (e.c == 0 || e.c - 1 == t);
    case EventKind::DrainTimeout: return e.a == layout.service && e.b == me[kInstance];
    case EventKind::Deploy: return e.a == layout.service;
    case EventKind::CallTimeout: return e.a == t || me[kSender] == p.plan.layout.sender_count + e.a;
    case EventKind::ClientTimeout: return me[kSender] == e.a;
    case EventKind::LockTimeout:
    case EventKind::LoseAnswer: return e.a == t;
    case EventKind::Deliver: return arrives_again(p, w, e, body, t);
    case EventKind::DuplicateCall: return read_request(p.plan, w, e.a, e.b).caller == t;
    case EventKind::PassDeadline:
    case EventKind::ExpireKey:
    case EventKind::ForgetKey:
    case EventKind::Failover:
    case EventKind::FailoverDatabase: return true;
    default: return false;
  }
}

bool concerns_reply(const Program& p, const std::uint8_t* w, const Event& e, const Body& body, int sender) {
  switch (e.kind) {
    case EventKind::Crash:
    case EventKind::Deploy: return e.a == body.service;
    case EventKind::ClientTimeout:
    case EventKind::LoseResponse: return e.a == sender;
    case EventKind::Deliver: return arrives_again_after_reply(p, w, e, body, sender);
    case EventKind::PassDeadline:
    case EventKind::ExpireKey:
    case EventKind::ForgetKey:
    case EventKind::Failover:
    case EventKind::FailoverDatabase: return true;
    default: return false;
  }
}

}  // namespace

bool WindowMonitor::is_disturbance(const Program& program, const Event& e) const {
  if (disturbance_ == FaultKind::DuplicateRequest) return e.kind == EventKind::Deliver || e.kind == EventKind::DuplicateCall;
  return e.fault != kNoBudget && program.faults[e.fault].kind == disturbance_;
}

int WindowMonitor::next(const Program& program, const std::uint8_t* world, int state, const Event& event) const {
  const bool paid = event.fault != kNoBudget;
  if (state == kDisturbed && window_ != kAnyWindow) return paid && !keep_faults_ ? kForbidden : kDisturbed;
  bool hit = false;
  if (is_disturbance(program, event)) {
    for (int w = 0; w < static_cast<int>(windows_.size()); ++w) {
      if ((window_ != kAnyWindow && window_ != w) || !in_window(program, world, event, w)) continue;
      hit = true;
      happened_[static_cast<std::size_t>(w)].store(true, std::memory_order_relaxed);
    }
  }
  // In one of several windows a run may be disturbed by a retry and then by a copy: each window asks for one of them.
  if (hit || state == kDisturbed) return kDisturbed;
  // The copy is on its way; it disturbs when it arrives.
  if (event.kind == EventKind::Duplicate || keep_faults_) return kUndisturbed;
  return paid ? kForbidden : kUndisturbed;
}

bool WindowMonitor::in_window(const Program& program, const std::uint8_t* world, const Event& event, int w) const {
  const Window& window = windows_[static_cast<std::size_t>(w)];
  const Body& body = program.bodies[static_cast<std::size_t>(window.body)];
  if (window.kind == WindowKind::Replied) {
    for (int s = 0; s < program.plan.layout.sender_count; ++s) {
      if (replied_to(program, world, s, window) && concerns_reply(program, world, event, body, s)) return true;
    }
    return false;
  }
  for (int t = 0; t < static_cast<int>(program.plan.layout.tasks.size()); ++t) {
    if (stands_in(program, world, t, window) && concerns_task(program, world, event, body, t)) return true;
  }
  return false;
}

}  // namespace oncecheck

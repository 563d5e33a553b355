#include "model/program/capacity.hpp"

#include <algorithm>

namespace oncecheck {

namespace {

constexpr int kMaxDefaultTasks = 6;

int fault_total(const Program& p, FaultKind kind) {
  int n = 0;
  for (const FaultBudget& f : p.faults) n += f.kind == kind ? f.max : 0;
  return n;
}

// How many more requests a client may have under way, of those that it sends when it tries again or polls. One without end
// sends the next when it has an answer, or when none can come any more, or when a fault lets it give up early.
int more_at_once(const Program& p, int times, int without_end) {
  return times == without_end ? 1 + fault_total(p, FaultKind::Timeout) : times;
}

int client_requests(const Program& p, int service) {
  int n = fault_total(p, FaultKind::DuplicateRequest);
  for (const SenderInfo& s : p.senders) {
    if (p.routes[static_cast<std::size_t>(s.route)].service == service) n += 1 + more_at_once(p, s.retries, kUnlimited);
    if (s.poll_route >= 0 && p.routes[static_cast<std::size_t>(s.poll_route)].service == service) n += more_at_once(p, s.polls, kEndlessPolls);
  }
  return n;
}

}  // namespace

int most_messages(const Program& p, const Bounds& bounds) {
  int n = fault_total(p, FaultKind::DuplicateRequest);
  for (const SenderInfo& s : p.senders) n += 1 + more_at_once(p, s.retries, kUnlimited) + more_at_once(p, s.polls, kEndlessPolls);
  for (const RouteInfo& r : p.routes) {
    if (r.kind != RouteKind::Client) return bounds.messages;
  }
  return std::max(n, 1);
}

std::optional<int> most_requests(const Program& p, int service) {
  for (const RouteInfo& r : p.routes) {
    if (r.kind != RouteKind::Client && r.service == service) return std::nullopt;
  }
  return client_requests(p, service);
}

int default_handlers(const Program& p, int service) {
  int n = client_requests(p, service);
  for (const RouteInfo& r : p.routes) {
    if (r.kind != RouteKind::Client && r.service == service) n += 2 + fault_total(p, FaultKind::Redeliver);
  }
  return std::min(n, kMaxDefaultTasks);
}

}  // namespace oncecheck

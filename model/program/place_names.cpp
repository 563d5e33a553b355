#include "model/program/place_names.hpp"

#include <algorithm>

namespace oncecheck {

namespace {

const char* target_kind(FaultTarget t) {
  switch (t) {
    case FaultTarget::Any: return "";
    case FaultTarget::Service: return "service";
    case FaultTarget::Provider: return "provider";
    case FaultTarget::Client: return "client";
    case FaultTarget::Redis: return "redis";
    case FaultTarget::Database: return "database";
    case FaultTarget::Queue: return "queue";
    case FaultTarget::Network: return "between";
  }
  return "";
}

std::string target_name(const Program& p, const FaultBudget& f) {
  const auto i = static_cast<std::size_t>(std::max(f.index, 0));
  switch (f.target) {
    case FaultTarget::Service: return p.services[i].name;
    case FaultTarget::Provider: return p.providers[i].name;
    case FaultTarget::Client: return p.clients[i];
    case FaultTarget::Queue: return p.message_queues[i].name;
    case FaultTarget::Database: return p.scenario.databases[i].first;
    case FaultTarget::Network: return p.network.cuts[i];
    case FaultTarget::Redis: return p.scenario.redis[i].first;
    case FaultTarget::Any: break;
  }
  return "";
}

}  // namespace

std::string full_place(const StepInfo& step) { return step.service + " " + step.place; }
std::string full_place(const BranchInfo& branch) { return branch.service + " " + branch.place; }

std::string fault_words(const Program& p, const FaultBudget& f) {
  const std::string name = target_name(p, f);
  return fault_name(f.kind) + (name.empty() ? std::string() : std::string(" (") + target_kind(f.target) + " " + name + ")");
}

bool lies_in(const std::string& place, const std::string& whole) {
  return place.compare(0, whole.size(), whole) == 0 && (place.size() == whole.size() || place[whole.size()] == '/');
}

}  // namespace oncecheck

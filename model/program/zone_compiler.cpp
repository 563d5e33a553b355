#include "model/program/zone_compiler.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace oncecheck {

namespace {

constexpr std::size_t kMostDatabases = 8;  // kLeft has a bit for each
constexpr std::size_t kMostZones = 200;

using Groups = std::vector<std::vector<Text>>;

// 0: in no group. `service` is what an instance belongs to, "" for others.
std::uint8_t group_of(const Groups& groups, const std::string& name, const std::string& service) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Text& member : groups[g]) {
      if (member.value == name || (!service.empty() && member.value == service)) return static_cast<std::uint8_t>(g + 1);
    }
  }
  return 0;
}

std::string words_of(const Groups& groups) {
  std::string out;
  for (const auto& group : groups) {
    if (!out.empty()) out += " and ";
    for (std::size_t m = 0; m < group.size(); ++m) out += (m == 0 ? "" : " + ") + group[m].value;
  }
  return out;
}

class ZoneCompiler {
 public:
  explicit ZoneCompiler(CompileState& state) : state_(state), plan_(state.program.network) {
    for (const Fault& fault : state.scenario.faults) {
      if (fault.max > 0 && !fault.groups.empty()) cuts_.push_back(&fault.groups);
    }
    zones_.push_back(std::vector<std::uint8_t>(cuts_.size(), 0));
  }

  void compile() {
    const Scenario& s = state_.scenario;
    for (const auto& [name, service] : s.services) {
      plan_.instances.emplace_back();
      for (int i = 1; i <= service.instances; ++i) plan_.instances.back().push_back(zone_of(name + "/" + std::to_string(i), name));
    }
    all(s.clients, plan_.clients);
    all(s.databases, plan_.databases);
    all(s.redis, plan_.redis);
    all(s.providers, plan_.providers);
    all(s.queues, plan_.queues);
    if (zones_.size() > kMostZones) state_.errors.add({s.file, "", 1, 1}, "the groups of partitions have too many members");
    plan_.zones = static_cast<int>(zones_.size());
    for (const auto& a : zones_) {
      for (const auto& b : zones_) plan_.separated_by.push_back(between(a, b));
    }
  }

 private:
  template <class T>
  void all(const Named<T>& parts, std::vector<std::uint8_t>& out) {
    for (const auto& [name, spec] : parts) out.push_back(zone_of(name, ""));
  }

  std::uint8_t zone_of(const std::string& name, const std::string& service) {
    std::vector<std::uint8_t> groups;
    for (const Groups* cut : cuts_) groups.push_back(group_of(*cut, name, service));
    const auto at = std::find(zones_.begin(), zones_.end(), groups);
    const auto zone = static_cast<std::uint8_t>(at - zones_.begin());
    if (at == zones_.end()) zones_.push_back(std::move(groups));
    return zone;
  }

  static std::uint8_t between(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    std::uint8_t mask = 0;
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (a[c] != 0 && b[c] != 0 && a[c] != b[c]) mask = static_cast<std::uint8_t>(mask | (1u << c));
    }
    return mask;
  }

  CompileState& state_;
  NetworkPlan& plan_;
  std::vector<const Groups*> cuts_;
  std::vector<std::vector<std::uint8_t>> zones_;  // by zone: its group in each cut
};

}  // namespace

void compile_partition(CompileState& state, const Fault& fault) {
  Program& p = state.program;
  if (p.network.cuts.size() >= kMostCuts) {
    state.errors.add(fault.at, "a scenario has at most " + std::to_string(kMostCuts) + " partitions between named groups");
    return;
  }
  if (state.scenario.databases.size() > kMostDatabases) {
    state.errors.add(fault.at, "a scenario with partitions between named groups has at most " + std::to_string(kMostDatabases) + " databases");
  }
  FaultBudget budget;
  budget.kind = FaultKind::Partition;
  budget.target = FaultTarget::Network;
  budget.index = static_cast<int>(p.network.cuts.size());
  budget.max = fault.max;
  p.faults.push_back(budget);
  p.network.cuts.push_back(words_of(fault.groups));
}

void compile_zones(CompileState& state) {
  if (!state.program.network.cuts.empty() && state.errors.empty()) ZoneCompiler(state).compile();
}

}  // namespace oncecheck

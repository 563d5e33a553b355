#include "sim/conform/path.hpp"

#include <algorithm>

namespace oncecheck {

namespace {
constexpr std::size_t kMostDivergences = 8;
}

std::string key_of(const Path& p) {
  std::string key(p.world.begin(), p.world.end());
  for (const SessionRun& s : p.sessions) {
    for (std::int64_t n : {std::int64_t{s.step}, std::int64_t{s.statement}, std::int64_t{s.wait_step}, s.wait_since, s.since,
                           std::int64_t{s.paused}, std::int64_t{s.lost}, s.timeouts.lock, s.timeouts.statement, s.timeouts.idle}) {
      key += std::to_string(n) + ",";
    }
    key += s.result.dump() + ";";
  }
  for (std::int64_t d : p.deadlines) key += std::to_string(d) + ",";
  key += std::to_string(p.clock) + "," + std::to_string(p.closer);
  for (const StepOutcome& o : p.returned) {
    key += "|" + std::to_string(o.step) + " " + std::to_string(static_cast<int>(o.error)) + " " + o.result.dump();
  }
  return key;
}

void leave(std::vector<Divergence>& divergences, Divergence d) {
  std::stable_sort(d.lines.begin(), d.lines.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  auto same = [&](const Divergence& other) {
    return other.step == d.step && std::equal(other.lines.begin(), other.lines.end(), d.lines.begin(), d.lines.end(),
                                              [](const auto& a, const auto& b) { return a.step == b.step && a.got == b.got; });
  };
  if (std::none_of(divergences.begin(), divergences.end(), same)) divergences.push_back(std::move(d));
}

void keep_latest(std::vector<Divergence>& divergences) {
  std::stable_sort(divergences.begin(), divergences.end(),
                   [](const Divergence& a, const Divergence& b) { return a.step > b.step; });
  if (divergences.size() > kMostDivergences) divergences.resize(kMostDivergences);
}

}  // namespace oncecheck

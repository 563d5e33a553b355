#include "sim/conform/divergence.hpp"

#include <algorithm>

namespace oncecheck {

namespace {
constexpr std::size_t kMostDivergences = 8;
}

Divergence differences(Engine engine, const Recording& recording, int step, const std::vector<StepOutcome>& returned) {
  Divergence d;
  d.step = step;
  std::vector<bool> seen(static_cast<std::size_t>(step) + 1, false);
  for (const StepOutcome& o : returned) {
    seen[static_cast<std::size_t>(o.step)] = true;
    const RecordedOutcome& expected = recording.outcomes[static_cast<std::size_t>(o.step)];
    if (!same_outcome(engine, o, expected))
      d.lines.push_back({o.step, describe(expected, o.step), describe(engine, o)});
  }
  for (int i = 0; i <= step; ++i) {
    const RecordedOutcome& expected = recording.outcomes[static_cast<std::size_t>(i)];
    if (expected.until == step && !seen[static_cast<std::size_t>(i)])
      d.lines.push_back({i, describe(expected, i), "blocked"});
  }
  std::stable_sort(d.lines.begin(), d.lines.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return d;
}

void add_divergence(std::vector<Divergence>& all, Divergence d) {
  auto same = [&](const Divergence& other) {
    return other.step == d.step &&
           std::equal(other.lines.begin(), other.lines.end(), d.lines.begin(), d.lines.end(),
                      [](const auto& a, const auto& b) { return a.step == b.step && a.got == b.got; });
  };
  if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(d));
}

void keep_latest(std::vector<Divergence>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Divergence& a, const Divergence& b) { return a.step > b.step; });
  if (all.size() > kMostDivergences) all.resize(kMostDivergences);
}

}  // namespace oncecheck

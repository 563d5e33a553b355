#include "sim/strategy.hpp"

#include <algorithm>

#include "model/world/check.hpp"
#include "model/world/message.hpp"
#include "model/world/provider.hpp"

namespace oncecheck {

namespace {

enum class Who : std::uint64_t { Client = 1, Task, Message, Call, Kind };

std::uint64_t named(Who who, std::uint64_t a, std::uint64_t b = 0) { return static_cast<std::uint64_t>(who) << 32 | a << 16 | b; }

std::uint64_t mixed(std::uint64_t z) {  // splitmix64
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

}  // namespace

const char* strategy_name(Strategy s) {
  switch (s) {
    case Strategy::Uniform: return "uniform";
    case Strategy::Pct: return "pct";
    case Strategy::Swarm: return "swarm";
  }
  return "";
}

void Scheduler::begin(Rng& rng) {
  if (strategy_ == Strategy::Uniform) return;
  salt_ = rng.next();
  lowered_.clear();
  changes_.clear();
  due_.clear();
  if (strategy_ == Strategy::Swarm) {
    left_out_.assign(p_.faults.size(), false);
    for (std::size_t f = 0; f < left_out_.size(); ++f) left_out_[f] = rng.below(2) == 0;
    fault_shift_ = static_cast<int>(rng.below(5));
    return;
  }
  const std::uint32_t changes = rng.below(kMostChanges + 1);
  for (std::uint32_t i = 0; i < changes; ++i) changes_.push_back(static_cast<int>(rng.below(static_cast<std::uint32_t>(usual_steps_))));
  for (std::size_t f = 0; f < p_.faults.size(); ++f) {
    // Not always all of a budget.
    for (int i = 0; i < p_.faults[f].max; ++i) {
      if (rng.below(4) > 0) due_.push_back({static_cast<int>(rng.below(static_cast<std::uint32_t>(usual_steps_))), static_cast<int>(f)});
    }
  }
  std::stable_sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.step < b.step; });
}

std::size_t Scheduler::pick(const std::uint8_t* world, const std::vector<Event>& events, int step, Rng& rng) {
  if (events.size() == 1) return 0;
  switch (strategy_) {
    case Strategy::Uniform: break;
    case Strategy::Pct:
      if (step < usual_steps_) return by_priority(world, events, step, rng);
      break;
    case Strategy::Swarm: return by_weight(world, events, rng);
  }
  return uniform(events, rng);
}

std::size_t Scheduler::by_priority(const std::uint8_t* world, const std::vector<Event>& events, int step, Rng& rng) {
  for (std::size_t d = 0; d < due_.size() && due_[d].step <= step; ++d) {
    candidates_.clear();
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].fault == due_[d].fault) candidates_.push_back(i);
    }
    if (candidates_.empty()) continue;
    due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(d));
    return candidates_[rng.below(static_cast<std::uint32_t>(candidates_.size()))];
  }
  std::uint64_t who = highest(world, events);
  if (const auto change = std::find(changes_.begin(), changes_.end(), step); change != changes_.end()) {
    changes_.erase(change);
    lower(who);
    who = highest(world, events);
  }
  if (candidates_.empty()) return uniform(events, rng);  // only faults are left
  const std::size_t chosen = candidates_[rng.below(static_cast<std::uint32_t>(candidates_.size()))];
  // A job that begins anew each time would leave nobody else a turn.
  if (events[chosen].kind == EventKind::StartJob) lower(who);
  return chosen;
}

// The participant that goes first, with its events in candidates_. Faults have no part in it.
std::uint64_t Scheduler::highest(const std::uint8_t* world, const std::vector<Event>& events) {
  std::uint64_t best = 0, who = 0;
  candidates_.clear();
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].fault != kNoBudget) continue;
    const std::uint64_t one = participant(world, events[i]), high = priority(one);
    if (high < best) continue;
    if (high > best) candidates_.clear();
    best = high;
    who = one;
    candidates_.push_back(i);
  }
  return who;
}

std::size_t Scheduler::by_weight(const std::uint8_t* world, const std::vector<Event>& events, Rng& rng) {
  weights_.clear();
  std::uint64_t total = 0;
  for (const Event& e : events) {
    weights_.push_back(weight(world, e));
    total += weights_.back();
  }
  if (total == 0) return uniform(events, rng);  // only faults that this run leaves out
  std::uint64_t at = rng.next() % total;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (at < weights_[i]) return i;
    at -= weights_[i];
  }
  CHECK_THAT(!"a weight was drawn");
  return 0;
}

std::uint64_t Scheduler::weight(const std::uint8_t* world, const Event& e) const {
  constexpr std::uint64_t kOne = 1 << 10;
  if (e.fault != kNoBudget) return left_out_[e.fault] ? 0 : kOne >> fault_shift_;
  return kOne >> (2 * (mixed(salt_ ^ participant(world, e)) & 3));
}

std::uint64_t Scheduler::priority(std::uint64_t who) const {
  const auto it = std::find(lowered_.begin(), lowered_.end(), who);
  if (it != lowered_.end()) return static_cast<std::uint64_t>(lowered_.end() - it);
  return mixed(salt_ ^ who) | 1ull << 63;
}

void Scheduler::lower(std::uint64_t who) {
  lowered_.erase(std::remove(lowered_.begin(), lowered_.end(), who), lowered_.end());
  lowered_.push_back(who);
}

std::uint64_t Scheduler::participant(const std::uint8_t* world, const Event& e) const {
  const Layout& l = p_.plan.layout;
  switch (e.kind) {
    case EventKind::Send:
    case EventKind::Receive:
    case EventKind::ClientTimeout: return named(Who::Client, e.a);
    case EventKind::Step:
    case EventKind::Deadlock:
    case EventKind::Answer:
    case EventKind::LockTimeout:
    case EventKind::PoolTimeout:
    case EventKind::CallTimeout:
    case EventKind::StartJob: return named(Who::Task, e.a);
    case EventKind::Deliver:
    case EventKind::Redeliver: {
      const std::uint8_t* m = message_at(l, world, e.a);
      return named(Who::Message, m[0], m[1]);
    }
    case EventKind::Process: return named(Who::Call, e.a, read_request(p_.plan, world, e.a, e.b).caller);
    default: return named(Who::Kind, static_cast<std::uint64_t>(e.kind), e.a);
  }
}

}  // namespace oncecheck

#include "model/step/fairness.hpp"

#include <algorithm>

#include "model/step/enabled_list.hpp"
#include "model/world/mixer.hpp"

namespace oncecheck {

namespace {

constexpr int kRedisNumbers = 256;  // Observation::deadlines_renumbered

constexpr int kActionBits = 48;

// `count` cells; what is renumbered from world to world counts as equal.
void mix_cells(Mixer& mix, const Program& program, const std::uint8_t* at, int count) {
  for (int i = 0; i < count; ++i) {
    const CellId id = load_cell(program.plan.layout, at + i * program.plan.layout.cell);
    const Kind kind = program.plan.domain.decode(id).kind;
    const bool moves = kind == Kind::Fresh || kind == Kind::Deadline || kind == Kind::Recent;
    mix.add(moves ? 0xFFFF0000u + static_cast<std::uint64_t>(kind) : id);
  }
}

std::uint64_t key_identity(const Program& program, const std::uint8_t* world, int provider, int slot) {
  const ProviderLayout& p = program.plan.layout.providers[static_cast<std::size_t>(provider)];
  const std::uint8_t* key = world + p.keys + slot * p.key_stride;
  Mixer mix;
  mix.add(key[0]);
  mix_cells(mix, program, key + 3, 1);
  return mix.done();
}

Timer timer_of(const Program& program, const std::uint8_t* world, const Event& e) {
  Timer t{e.kind, e.a, e.b, e.c, 0};
  if (e.kind == EventKind::ForgetKey) {
    t.what = key_identity(program, world, e.a, e.b);
    t.b = 0;
  }
  return t;
}

// In the numbers after a step, or nothing when nothing names it any more.
std::optional<Timer> carried(const Program& program, const Timer& timer, const Observation& seen) {
  Timer out = timer;
  const int databases = program.plan.layout.deadline_slots;
  int at = -1;
  if (timer.kind == EventKind::PassDeadline) at = timer.a;
  if (timer.kind == EventKind::ExpireKey) at = databases + kRedisNumbers * timer.a + timer.b;
  if (at < 0) return out;
  // A number that this very step has given away again.
  for (const auto& [number, length] : seen.deadlines_set) {
    if (timer.kind == EventKind::ExpireKey && number == timer.b) return std::nullopt;
  }
  CHECK_THAT(at < static_cast<int>(seen.deadlines_renumbered.size()));
  const int to = seen.deadlines_renumbered[static_cast<std::size_t>(at)];
  if (to < 0) return std::nullopt;
  (timer.kind == EventKind::PassDeadline ? out.a : out.b) = static_cast<std::uint8_t>(to);
  return out;
}

}  // namespace

std::uint64_t action_of(const Program& program, const std::uint8_t* world, const Event& e) {
  if (e.fault != kNoBudget) return 0;
  const Layout& l = program.plan.layout;
  Mixer mix;
  mix.add(static_cast<std::uint64_t>(e.kind));
  switch (e.kind) {
    case EventKind::PassDeadline:
    case EventKind::ExpireKey:
    case EventKind::ForgetKey:
    case EventKind::Purge: return 0;
    case EventKind::Deliver:
    case EventKind::Redeliver: {
      const std::uint8_t* m = message_at(l, world, e.a);
      mix.add(m[0]).add(m[1]);
      mix_cells(mix, program, m + 2, 1 + l.message_cells);
      break;
    }
    case EventKind::Process: {
      const ProviderLayout& p = l.providers[e.a];
      const std::uint8_t* r = world + p.inbox + e.b * p.inbox_stride;
      mix.add(e.a).add(r[0]).add(r[1]);
      mix_cells(mix, program, r + 2, p.targets ? 4 : 3);
      break;
    }
    case EventKind::StartJob: {
      const TaskLayout& t = l.tasks[e.a];
      mix.add(static_cast<std::uint64_t>(t.service)).add(static_cast<std::uint64_t>(t.index));
      break;
    }
    case EventKind::Step: mix.add(e.a); break;  // b and c: which connection it gets, which way it goes
    default: mix.add(e.a).add(e.b);
  }
  return mix.done(kActionBits);
}

std::vector<Timer> running_timers(const Program& program, const std::uint8_t* world) {
  std::vector<Event> events;
  Enabled(program, world, events, false).quiet_timers();
  std::vector<Timer> out;
  for (const Event& e : events) out.push_back(timer_of(program, world, e));
  return out;
}

std::optional<Timer> still_runs(const Program& program, const Timer& timer, const std::uint8_t* before, const Event& event,
                                const Observation& seen, const std::uint8_t* after) {
  if (ends_timer(program, before, event, timer)) return std::nullopt;
  std::optional<Timer> same = carried(program, timer, seen);
  if (!same) return std::nullopt;
  const std::vector<Timer> now = running_timers(program, after);
  if (std::find(now.begin(), now.end(), *same) == now.end()) return std::nullopt;
  return same;
}

bool ends_timer(const Program& program, const std::uint8_t* world, const Event& e, const Timer& timer) {
  return e.kind == timer.kind && timer_of(program, world, e) == timer;
}

}  // namespace oncecheck

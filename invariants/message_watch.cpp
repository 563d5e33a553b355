#include "invariants/message_watch.hpp"

#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

namespace {

constexpr std::uint64_t kFreshCell = 1ull << 32;  // with the number of the value

void add_cells(std::vector<std::uint64_t>& out, const Program& p, const std::uint8_t* at, int count) {
  for (int i = 0; i < count; ++i) {
    const CellId id = load_cell(p.plan.layout, at + i * p.plan.layout.cell);
    const Val v = p.plan.domain.decode(id);
    const bool time = v.kind == Kind::Deadline || v.kind == Kind::Recent;
    out.push_back(v.kind == Kind::Fresh ? kFreshCell | static_cast<std::uint64_t>(v.n) : time ? static_cast<std::uint64_t>(v.kind) << 16 : id);
  }
}

}  // namespace

MessageWatch::MessageWatch(const Program& program, const std::uint8_t* world) : p_(program) {
  for (const Thing& t : takable(world)) now_[t] = t;
}

std::vector<MessageWatch::Thing> MessageWatch::takable(const std::uint8_t* world) {
  enabled(p_, world, events_, false);
  std::vector<Thing> out;
  for (const Event& e : events_) {
    if (Thing t = thing_of(world, e); !t.empty()) out.push_back(std::move(t));
  }
  return out;
}

// Empty for other events.
MessageWatch::Thing MessageWatch::thing_of(const std::uint8_t* world, const Event& e) const {
  const Layout& l = p_.plan.layout;
  Thing out;
  if (e.fault != kNoBudget) return out;
  if (e.kind == EventKind::Deliver) {
    const std::uint8_t* m = message_at(l, world, e.a);
    out = {static_cast<std::uint64_t>(e.kind), m[0], m[1]};
    add_cells(out, p_, m + 2, 1 + l.message_cells);
  } else if (e.kind == EventKind::Process) {
    const ProviderLayout& p = l.providers[e.a];
    const std::uint8_t* r = world + p.inbox + e.b * p.inbox_stride;
    out = {static_cast<std::uint64_t>(e.kind), e.a, r[0], r[1]};
    add_cells(out, p_, r + 2, p.targets ? 4 : 3);
  }
  return out;
}

std::optional<MessageWatch::Thing> MessageWatch::renumbered(const Thing& thing, const Observation& seen) const {
  if (seen.fresh_renumbered.empty()) return thing;
  Thing out = thing;
  for (std::uint64_t& cell : out) {
    if (cell < kFreshCell) continue;
    const auto number = static_cast<std::size_t>(cell - kFreshCell);
    if (number >= seen.fresh_renumbered.size() || seen.fresh_renumbered[number] < 0) return std::nullopt;
    cell = kFreshCell | static_cast<std::uint64_t>(seen.fresh_renumbered[number]);
  }
  return out;
}

void MessageWatch::before(const std::uint8_t* world, const Event& event) {
  const Thing taken = thing_of(world, event);
  for (auto& [first, thing] : now_) {
    if (thing && *thing == taken) thing.reset();
  }
}

void MessageWatch::after(const std::uint8_t* world, const Observation& seen) {
  const std::vector<Thing> there = takable(world);
  for (auto& [first, thing] : now_) {
    if (thing) thing = renumbered(*thing, seen);
    if (thing && std::find(there.begin(), there.end(), *thing) == there.end()) thing.reset();
  }
}

// One that has become what another was at the beginning fares as that one does, next time round.
bool MessageWatch::one_is_left_out() const {
  for (const auto& [first, unused] : now_) {
    std::optional<Thing> at = first;
    for (std::size_t round = 0; at && round <= now_.size(); ++round) {
      const auto next = now_.find(*at);
      at = next == now_.end() ? std::nullopt : next->second;
    }
    if (at) return true;
  }
  return false;
}

}  // namespace oncecheck

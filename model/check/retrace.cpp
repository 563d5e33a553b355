#include "model/check/retrace.hpp"

#include <algorithm>
#include <optional>

#include "invariants/evaluate.hpp"
#include "model/step/relation.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMostLinks = 100'000;

// What the search calls a state, by world (and a monitor's byte).
struct Names {
  const Program& program;
  std::vector<std::uint8_t> first;
  std::function<bool(const std::uint8_t* world, const Event& e, std::uint8_t* child)> allows;
  std::function<std::uint64_t(const std::uint8_t* state)> fingerprint;
};

// The first event that leads into the orbit of the next link, again and again. `broken`, unless null, is broken by the last
// step: then it is the first event that breaks it, since others may lead into the same orbit. Nothing: there is no such way.
std::optional<std::vector<Event>> path_along(const Names& space, const std::vector<std::uint64_t>& chain, const Invariant* broken) {
  const Program& p = space.program;
  std::vector<Event> trace;
  std::vector<std::uint8_t> world = space.first, child;
  std::vector<Event> events;
  Workspace workspace;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    enabled(p, world.data(), events);
    bool found = false;
    for (const Event& e : events) {
      child = world;
      if (!space.allows(world.data(), e, child.data())) continue;
      if (apply(p, child.data(), e, workspace)) continue;
      if (space.fingerprint(child.data()) != chain[i]) continue;
      Limit limit;
      if (broken != nullptr && i + 1 == chain.size() && !step_breaks(p, *broken, world.data(), e, workspace, limit)) continue;
      trace.push_back(e);
      world = child;
      found = true;
      break;
    }
    if (!found) return std::nullopt;
  }
  return trace;
}

// The parents that the set has kept. A link that is ambiguous (SeenSet) is tried with each of its meanings.
std::optional<std::vector<Event>> follow(const Names& space, const SeenSet& seen, std::uint64_t first, const std::vector<std::uint64_t>& states,
                          const Invariant* broken) {
  std::vector<std::vector<std::uint64_t>> meanings;  // of each link; the last one is meant
  std::vector<std::uint64_t> chain;
  for (;;) {
    chain.clear();
    for (auto s = states.rbegin(); s != states.rend(); ++s) chain.push_back(*s);
    for (const auto& m : meanings) chain.push_back(m.back());
    while (chain.back() != first) {
      CHECK_THAT(meanings.size() <= kMostLinks);
      meanings.push_back(seen.parents(chain.back()));
      std::reverse(meanings.back().begin(), meanings.back().end());
      chain.push_back(meanings.back().back());
    }
    std::reverse(chain.begin(), chain.end());
    if (std::optional<std::vector<Event>> trace = path_along(space, chain, broken)) return trace;
    while (!meanings.empty() && meanings.back().size() == 1) meanings.pop_back();
    if (meanings.empty()) return std::nullopt;
    meanings.back().pop_back();
  }
}


}  // namespace

std::vector<Event> retrace(const StateSpace& space, const SeenSet& seen, std::uint64_t first, const std::vector<std::uint64_t>& states,
                           const Invariant* broken) {
  Symmetry::Scratch scratch(space.program());
  std::vector<std::uint8_t> represented;
  const Names names{space.program(), space.first(),
                    [&](const std::uint8_t* world, const Event& e, std::uint8_t* child) { return space.allows(world, e, child); },
                    [&](const std::uint8_t* state) {
                      represented.assign(state, state + space.bytes());
                      space.represent(represented.data(), scratch);
                      return space.fingerprint(represented.data());
                    }};
  const std::optional<std::vector<Event>> trace = follow(names, seen, first, states, broken);
  CHECK_THAT(trace.has_value());
  return *trace;
}

std::optional<std::vector<Event>> retrace(const Program& program, const std::function<std::uint64_t(const std::uint8_t*)>& known_as, const SeenSet& seen,
                           std::uint64_t first, const std::vector<std::uint64_t>& states) {
  return follow({program, program.initial, [](const std::uint8_t*, const Event&, std::uint8_t*) { return true; }, known_as}, seen, first, states, nullptr);
}

}  // namespace oncecheck

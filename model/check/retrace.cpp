#include "model/check/retrace.hpp"

#include <algorithm>
#include <optional>

#include "invariants/evaluate.hpp"
#include "model/step/relation.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMostLinks = 100'000;

// The first event that leads into the orbit of the next link, again and again. `broken`, unless null, is broken by the last
// step: then it is the first event that breaks it, since others may lead into the same orbit. Nothing: there is no such way.
std::optional<std::vector<Event>> path_along(const StateSpace& space, const std::vector<std::uint64_t>& chain, const Invariant* broken) {
  const Program& p = space.program();
  std::vector<Event> trace;
  std::vector<std::uint8_t> world = space.first(), child, represented;
  std::vector<Event> events;
  Workspace workspace;
  Symmetry::Scratch scratch(p);
  for (std::size_t i = 1; i < chain.size(); ++i) {
    enabled(p, world.data(), events);
    bool found = false;
    for (const Event& e : events) {
      child = world;
      if (!space.allows(world.data(), e, child.data())) continue;
      if (apply(p, child.data(), e, workspace)) continue;
      represented = child;
      space.represent(represented.data(), scratch);
      if (space.fingerprint(represented.data()) != chain[i]) continue;
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

}  // namespace

// The parents that the set has kept. A link that is ambiguous (SeenSet) is tried with each of its meanings.
std::vector<Event> retrace(const StateSpace& space, const SeenSet& seen, std::uint64_t first, const std::vector<std::uint64_t>& states,
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
    if (std::optional<std::vector<Event>> trace = path_along(space, chain, broken)) return *trace;
    while (!meanings.empty() && meanings.back().size() == 1) meanings.pop_back();
    CHECK_THAT(!meanings.empty());
    meanings.back().pop_back();
  }
}

}  // namespace oncecheck

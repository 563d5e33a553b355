#include "sim/replay.hpp"

#include <algorithm>

#include "invariants/evaluate.hpp"
#include "invariants/liveness.hpp"
#include "model/program/diagnostic.hpp"
#include "model/step/describe.hpp"

namespace oncecheck {

namespace {

// Of the offered choices the one that shares most with the wanted one: by edit distance, else by common words.
std::string most_alike(const std::string& wanted, const std::vector<std::string>& offered) {
  if (std::string near = nearest_name(wanted, offered); !near.empty()) return near;
  std::size_t best = 0;
  std::string found;
  for (const std::string& o : offered) {
    std::size_t common = 0;
    while (common < std::min(o.size(), wanted.size()) && o[common] == wanted[common]) ++common;
    if (common > best) {
      best = common;
      found = o;
    }
  }
  return found;
}

}  // namespace

Replay replay(const Program& program, const std::vector<std::string>& choices) {
  Replay result;
  std::vector<std::uint8_t> world = program.initial;
  std::vector<Event> events;
  Workspace workspace;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    enabled(program, world.data(), events);
    const std::vector<std::string> names = choice_names(program, world.data(), events);
    const auto it = std::find(names.begin(), names.end(), choices[i]);
    if (it == names.end()) {
      result.divergence = ReplayDivergence{i, choices[i], most_alike(choices[i], names), names, ""};
      return result;
    }
    const Event e = events[static_cast<std::size_t>(it - names.begin())];
    if (apply(program, world.data(), e, workspace)) {
      result.divergence = ReplayDivergence{i, choices[i], "", names, "the model cannot follow this step within its bounds"};
      return result;
    }
    result.events.push_back(e);
  }
  return result;
}

std::vector<std::string> choices_of(const Program& program, const std::vector<Event>& run) {
  std::vector<std::string> out;
  std::vector<std::uint8_t> world = program.initial;
  std::vector<Event> events;
  Workspace workspace;
  for (const Event& e : run) {
    enabled(program, world.data(), events);
    const auto it = std::find(events.begin(), events.end(), e);
    CHECK_THAT(it != events.end());
    out.push_back(choice_names(program, world.data(), events)[static_cast<std::size_t>(it - events.begin())]);
    CHECK_THAT(!apply(program, world.data(), e, workspace));
  }
  return out;
}

bool breaks_at_end(const Program& program, const std::vector<Event>& run, const std::string& invariant,
                   std::optional<std::size_t> cycle_from, std::string* why) {
  for (const Invariant& i : program.invariants) {
    if (i.spec.name != invariant || !is_liveness(i.spec.kind)) continue;
    std::string reason;
    const bool broken = breaks_for_ever(program, i, run, std::min(cycle_from.value_or(run.size()), run.size()), reason);
    if (why != nullptr) *why = reason;
    return broken;
  }
  std::vector<std::uint8_t> world = program.initial, before = world;
  Workspace workspace;
  for (const Event& e : run) {
    before = world;
    CHECK_THAT(!apply(program, world.data(), e, workspace));
  }
  for (const Invariant& i : program.invariants) {
    if (i.spec.name != invariant) continue;
    Limit limit;
    if (judges_steps(i) && !run.empty() && step_breaks(program, i, before.data(), run.back(), workspace, limit)) return true;
    if (i.spec.kind == InvariantKind::NeverStep) return false;
    if (i.spec.kind == InvariantKind::FinallyEmpty && !at_rest(program, world.data(), workspace)) return false;
    return breaks(program, i, world.data(), workspace, limit);
  }
  return false;
}

}  // namespace oncecheck

#include "model/check/reference.hpp"

#include <map>
#include <queue>

#include "invariants/evaluate.hpp"
#include "model/step/relation.hpp"

namespace oncecheck {

CheckResult reference_check(const Program& program, std::uint64_t max_states) {
  using Bytes = std::vector<std::uint8_t>;
  std::map<Bytes, int> depth_of;
  std::queue<Bytes> queue;
  Workspace workspace;
  std::vector<bool> broken(program.invariants.size(), false);
  CheckResult r;
  bool limited = false;
  auto judge = [&](const Bytes& world, InvariantKind kind) {
    for (std::size_t i = 0; i < program.invariants.size(); ++i) {
      if (program.invariants[i].spec.kind != kind) continue;
      Limit limit;
      if (breaks(program, program.invariants[i], world.data(), workspace, limit)) broken[i] = true;
      limited = limited || static_cast<bool>(limit);
    }
  };
  depth_of[program.initial] = 0;
  queue.push(program.initial);
  judge(program.initial, InvariantKind::AlwaysEmpty);
  std::vector<Event> events;
  while (!queue.empty() && depth_of.size() <= max_states) {
    const Bytes world = queue.front();
    queue.pop();
    const int depth = depth_of[world];
    r.depth = std::max(r.depth, depth);
    enabled(program, world.data(), events);
    for (const Event& e : std::vector<Event>(events)) {
      ++r.transitions;
      Bytes next = world;
      if (apply(program, next.data(), e, workspace)) {
        limited = true;
        continue;
      }
      for (std::size_t i = 0; i < program.invariants.size(); ++i) {
        Limit limit;
        if (judges_steps(program.invariants[i]) &&
            step_breaks(program, program.invariants[i], world.data(), e, workspace, limit)) {
          broken[i] = true;
        }
      }
      if (depth_of.emplace(next, depth + 1).second) {
        judge(next, InvariantKind::AlwaysEmpty);
        queue.push(next);
      }
    }
    if (at_rest(program, world.data(), workspace)) {
      ++r.rest_states;
      judge(world, InvariantKind::FinallyEmpty);
    }
  }
  r.complete = queue.empty() && !limited;
  r.states = depth_of.size();
  for (std::size_t i = 0; i < program.invariants.size(); ++i) {
    const bool live = is_liveness(program.invariants[i].spec.kind);
    r.invariants.push_back({program.invariants[i].spec.name,
                            broken[i] ? Verdict::Violated
                            : r.complete && !live && (r.rest_states > 0 || program.invariants[i].spec.kind != InvariantKind::FinallyEmpty)
                                ? Verdict::Holds
                                : Verdict::Inconclusive,
                            {},
                            false,
                            std::nullopt});
  }
  return r;
}

}  // namespace oncecheck

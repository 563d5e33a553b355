#include <cstring>
#include <set>

#include "model/step/relation.hpp"
#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxJobStates = 2000;

using Bytes = std::vector<std::uint8_t>;

bool only_jobs(const std::vector<Event>& events) {
  for (const Event& e : events) {
    if (e.kind != EventKind::StartJob) return false;
  }
  return true;
}

// Whether every way in which the job that `start` begins can run by itself leads back to the same world.
bool job_changes_nothing(const Program& program, const Bytes& world, const Event& start, Workspace& workspace) {
  Bytes first = world;
  if (apply(program, first.data(), start, workspace)) return false;
  std::set<Bytes> seen{first};
  std::vector<Bytes> stack{first};
  std::vector<Event> events;
  while (!stack.empty()) {
    const Bytes here = std::move(stack.back());
    stack.pop_back();
    if (here == world) continue;
    enabled(program, here.data(), events, false);
    bool moved = false;
    for (const Event& e : std::vector<Event>(events)) {
      if (e.kind == EventKind::StartJob) continue;
      moved = true;
      Bytes next = here;
      if (apply(program, next.data(), e, workspace)) return false;
      if (seen.insert(next).second) stack.push_back(next);
    }
    if (!moved || seen.size() > kMaxJobStates) return false;  // it ended elsewhere, or goes on for ever
  }
  return true;
}

}  // namespace

bool at_rest(const Program& program, const std::uint8_t* world, Workspace& workspace) {
  std::vector<Event> events;
  enabled(program, world, events, false);
  if (!only_jobs(events)) return false;
  const Bytes bytes(world, world + program.plan.layout.bytes);
  for (const Event& e : std::vector<Event>(events)) {
    if (!job_changes_nothing(program, bytes, e, workspace)) return false;
  }
  return true;
}

}  // namespace oncecheck

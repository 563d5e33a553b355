// One thread's share of a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "model/check/frontier.hpp"
#include "model/check/live_graph.hpp"
#include "model/step/coverage.hpp"
#include "model/step/relation.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

// A place where a promise breaks: the state `child`, reached by a step from `parent` (0: by any). Of several in one level
// the one with the fewest faults wins, then the smallest fingerprint.
struct Break {
  std::uint64_t child = 0, parent = 0;
  bool at_rest = false;
  int faults = 0;
  bool found() const { return child != 0; }
  void offer(const Break& b) {
    if (!found() || std::tie(b.faults, b.child, b.parent) < std::tie(faults, child, parent)) *this = b;
  }
};

// A step that has been taken, and whose target has not been looked up yet.
struct Reached {
  const std::uint8_t* parent;
  std::uint64_t parent_fingerprint, fingerprint;
  Event event;
};

struct Worker {
  static constexpr std::size_t kBatch = 64;  // steps that wait for their place in the set of states

  Worker(const Program& program, std::size_t bytes)
      : coverage(program), symmetry(program), children(bytes * kBatch), represented(bytes * kBatch), next(bytes), breaks(program.invariants.size()),
        state_bytes(bytes) {
    coverage.watch(workspace);
  }
  virtual ~Worker() = default;

  std::uint8_t* child(std::size_t i) { return children.data() + i * state_bytes; }
  std::uint8_t* representative(std::size_t i) { return represented.data() + i * state_bytes; }

  // The smallest, so that the words do not depend on which thread met one first.
  void note_limit(const Limit& met) {
    if (met && (!limit || std::tie(met.kind, met.arg) < std::tie(limit.kind, limit.arg))) limit = met;
  }

  Workspace workspace;
  Coverage coverage;
  std::vector<Event> events;
  Symmetry::Scratch symmetry;
  Reached reached[kBatch];
  std::size_t waiting = 0;                          // of `reached`
  std::vector<std::uint8_t> children, represented;  // by number in `reached`: the state that it leads to, and what stands for it
  Frontier next;
  std::size_t added = 0;
  std::vector<std::pair<std::uint64_t, int>> depths;  // of the states that it has expanded, for promises of liveness
  std::vector<Break> breaks;                          // by promise: found since they were last gathered
  LiveRecorder live;
  std::uint64_t transitions = 0, rest_states = 0, renamed = 0;
  Limit limit;
  bool full = false;
  std::size_t state_bytes;
};

}  // namespace oncecheck

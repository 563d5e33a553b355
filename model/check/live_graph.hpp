// The explored graph as promises of liveness need it: for each state its edges without faults that cost something, the
// actions that can happen there (model/step/fairness.hpp), and the subjects that are open (invariants/liveness.hpp). A state of the
// graph is one of the search (search_states.hpp): beside a monitor, subjects count as open only where it judges.
// Worlds are not kept. About 32 bytes a state and 16 an edge while it grows, and half as much again once it is put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "invariants/liveness.hpp"
#include "model/program/program.hpp"

namespace oncecheck {

inline constexpr std::uint32_t kNoState = UINT32_MAX;

// What else an edge is, beside an action.
enum class EdgeKind : std::uint8_t {
  Plain,
  Endless,  // a fault without end: it need not happen
  Send,     // a client sends
  Settles,  // a client gets its last word
};

// 48 bits of the action, then the kind, then the sender.
struct EdgeLabel {
  std::uint64_t bits = 0;
  std::uint64_t action() const { return bits >> 16; }
  EdgeKind kind() const { return static_cast<EdgeKind>((bits >> 8) & 0xFF); }
  int sender() const { return static_cast<int>(bits & 0xFF); }
};

EdgeLabel edge_label(std::uint64_t action, EdgeKind kind, int sender);

// One thread's share, in the order in which it expanded states.
class LiveRecorder {
 public:
  // The state that the next calls are about. judged: a promise can break there.
  void begin(std::uint64_t fingerprint, bool judged) {
    states_.push_back({fingerprint, edges_.size(), marks_.size()});
    judged_.push_back(judged);
  }
  // An event without a fault, or of a fault without end. to 0: the model cannot follow it.
  void edge(std::uint64_t to, EdgeLabel label) { edges_.push_back({to, label}); }
  void open(std::size_t invariant, Subject subject) { marks_.push_back({static_cast<std::uint32_t>(invariant), subject}); }
  std::size_t bytes() const {
    return states_.capacity() * sizeof(State) + edges_.capacity() * sizeof(Edge) + marks_.capacity() * sizeof(Mark);
  }

 private:
  friend class LiveGraph;
  struct State {
    std::uint64_t fingerprint = 0;
    std::size_t first_edge = 0, first_mark = 0;
  };
  struct Edge {
    std::uint64_t to = 0;
    EdgeLabel label;
  };
  struct Mark {
    std::uint32_t invariant = 0;
    Subject subject = 0;
  };
  std::vector<State> states_;
  std::vector<bool> judged_;  // by state
  std::vector<Edge> edges_;
  std::vector<Mark> marks_;
};

class LiveGraph {
 public:
  struct Edge {
    std::uint32_t to = kNoState;  // kNoState: the model cannot follow it, or the state was not expanded
    EdgeLabel label;
  };

  // Empties the recorders. States are numbered by fingerprint, so that the graph is the same for any number of threads.
  explicit LiveGraph(std::vector<LiveRecorder*> recorders);

  std::uint32_t size() const { return static_cast<std::uint32_t>(fingerprints_.size()); }
  std::uint64_t fingerprint(std::uint32_t state) const { return fingerprints_[state]; }
  // kNoState when it was not expanded.
  std::uint32_t find(std::uint64_t fingerprint) const;
  bool judged(std::uint32_t state) const { return judged_[state]; }
  const Edge* begin(std::uint32_t state) const { return edges_.data() + first_edge_[state]; }
  const Edge* end(std::uint32_t state) const { return edges_.data() + first_edge_[state + 1]; }

  // All subjects that are open somewhere, ascending.
  std::vector<Subject> subjects(std::size_t invariant) const;
  // The states in which a subject is open, ascending.
  std::vector<std::uint32_t> states_with(std::size_t invariant, Subject subject) const;

  std::size_t bytes() const;

 private:
  struct Mark {
    std::uint32_t invariant = 0;
    std::uint32_t state = 0;
    Subject subject = 0;
  };
  std::vector<std::uint64_t> fingerprints_;
  std::vector<bool> judged_;
  std::vector<std::size_t> first_edge_;
  std::vector<Edge> edges_;
  std::vector<Mark> marks_;
};

}  // namespace oncecheck

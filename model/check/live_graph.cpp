#include "model/check/live_graph.hpp"

#include <algorithm>
#include <tuple>

namespace oncecheck {

EdgeLabel edge_label(std::uint64_t action, EdgeKind kind, int sender) {
  return {(action << 16) | (static_cast<std::uint64_t>(kind) << 8) | static_cast<std::uint64_t>(sender & 0xFF)};
}

LiveGraph::LiveGraph(std::vector<LiveRecorder*> recorders) {
  struct Place {
    std::uint64_t fingerprint;
    std::uint32_t recorder, state;
  };
  std::vector<Place> places;
  std::size_t edges = 0, marks = 0;
  for (std::size_t r = 0; r < recorders.size(); ++r) {
    for (std::size_t s = 0; s < recorders[r]->states_.size(); ++s) {
      places.push_back({recorders[r]->states_[s].fingerprint, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(s)});
    }
    edges += recorders[r]->edges_.size();
    marks += recorders[r]->marks_.size();
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.fingerprint < b.fingerprint; });
  fingerprints_.reserve(places.size());
  for (const Place& p : places) fingerprints_.push_back(p.fingerprint);
  first_edge_.reserve(places.size() + 1);
  edges_.reserve(edges);
  marks_.reserve(marks);
  for (std::uint32_t state = 0; state < size(); ++state) {
    const LiveRecorder& r = *recorders[places[state].recorder];
    const std::size_t s = places[state].state;
    const bool last = s + 1 == r.states_.size();
    first_edge_.push_back(edges_.size());
    judged_.push_back(r.judged_[s]);
    for (std::size_t e = r.states_[s].first_edge; e < (last ? r.edges_.size() : r.states_[s + 1].first_edge); ++e) {
      edges_.push_back({r.edges_[e].to == 0 ? kNoState : find(r.edges_[e].to), r.edges_[e].label});
    }
    for (std::size_t m = r.states_[s].first_mark; m < (last ? r.marks_.size() : r.states_[s + 1].first_mark); ++m) {
      marks_.push_back({r.marks_[m].invariant, state, r.marks_[m].subject});
    }
  }
  first_edge_.push_back(edges_.size());
  for (LiveRecorder* r : recorders) *r = {};
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) {
    return std::tie(a.invariant, a.subject, a.state) < std::tie(b.invariant, b.subject, b.state);
  });
}

std::uint32_t LiveGraph::find(std::uint64_t fingerprint) const {
  const auto it = std::lower_bound(fingerprints_.begin(), fingerprints_.end(), fingerprint);
  if (it == fingerprints_.end() || *it != fingerprint) return kNoState;
  return static_cast<std::uint32_t>(it - fingerprints_.begin());
}

std::vector<Subject> LiveGraph::subjects(std::size_t invariant) const {
  std::vector<Subject> out;
  for (const Mark& m : marks_) {
    if (m.invariant == invariant && (out.empty() || out.back() != m.subject)) out.push_back(m.subject);
  }
  return out;
}

std::vector<std::uint32_t> LiveGraph::states_with(std::size_t invariant, Subject subject) const {
  std::vector<std::uint32_t> out;
  for (const Mark& m : marks_) {
    if (m.invariant == invariant && m.subject == subject) out.push_back(m.state);
  }
  return out;
}

std::size_t LiveGraph::bytes() const {
  return fingerprints_.capacity() * 8 + first_edge_.capacity() * sizeof(std::size_t) +
         edges_.capacity() * sizeof(Edge) + marks_.capacity() * sizeof(Mark);
}

}  // namespace oncecheck

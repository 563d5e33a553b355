#include "model/check/liveness.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "model/check/cycle.hpp"
#include "model/check/search_states.hpp"
#include "model/step/relation.hpp"

namespace oncecheck {

namespace {

using State = std::uint32_t;
using Edge = LiveGraph::Edge;
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

constexpr int kFar = INT32_MAX;

// A place where the system may stay for ever with the subject open.
struct End {
  std::vector<State> states;  // ascending; one without edges: nothing is left to happen
  bool stopped = false;
  int distance = kFar;        // steps to its nearest state
  State nearest = kNoState;
};

class Search {
 public:
  Search(const LivenessInput& in, std::size_t invariant)
      : in_(in), g_(in.graph), number_(invariant), promise_(in.program.invariants[invariant]), local_(g_.size(), kNoState) {}

  LivenessVerdict run() {
    LivenessVerdict out;
    for (const Subject subject : g_.subjects(number_)) {
      sender_ = promise_.spec.kind == InvariantKind::Answered ? static_cast<int>(subject) - 1 : -1;
      take_region(subject);
      for (const End& end : ends()) {
        if (best_.nearest != kNoState && std::tie(best_.distance, best_.nearest) <= std::tie(end.distance, end.nearest)) break;
        if (!end.stopped && !fair(end)) continue;
        if (end.stopped || goes_round(end)) {
          best_ = end;
          out.verdict = Verdict::Violated;
          out.trace = stem(end);
          out.cycle_from = out.trace.size();
          if (!end.stopped) out.trace.insert(out.trace.end(), cycle_.begin(), cycle_.end());
          break;
        }
      }
      drop_region();
    }
    if (out.verdict == Verdict::Violated) {
      std::string why;
      CHECK_THAT(breaks_for_ever(in_.program, promise_, out.trace, out.cycle_from, why));
    } else if (in_.complete) {
      out.verdict = time_stands_ ? Verdict::Inconclusive : Verdict::Holds;
      if (time_stands_) {
        out.why = "work goes on for ever while a timer runs, and the model lets it fire only when nothing else can happen: allow the "
                  "fault \"expire\" or \"timeout\", best with \"heals\": false";
      }
    }
    return out;
  }

 private:
  // ---- where the subject is open

  void take_region(Subject subject) {
    waiting_ = g_.states_with(number_, subject);
    region_ = waiting_;
    if (sender_ >= 0) {
      follow_requests();
      std::vector<State> further;
      std::set_difference(sent_.begin(), sent_.end(), waiting_.begin(), waiting_.end(), std::back_inserter(further));
      std::copy_if(further.begin(), further.end(), std::back_inserter(region_), [&](State s) { return g_.judged(s); });
      std::sort(region_.begin(), region_.end());
    }
    for (std::size_t i = 0; i < region_.size(); ++i) local_[region_[i]] = static_cast<State>(i);
  }

  void drop_region() {
    for (const State s : region_) local_[s] = kNoState;
    for (const State s : sent_) way_[s] = {};
    sent_.clear();
  }

  bool settled_by(const Edge& e) const { return sender_ >= 0 && e.label.kind() == EdgeKind::Settles && e.label.sender() == sender_; }

  // Whatever a request of the sender leads to without a fault, until it is settled; by the shortest way.
  void follow_requests() {
    way_.resize(g_.size());
    using Next = std::tuple<int, State, State, bool>;  // distance, state, from, by sending
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    for (State from = 0; from < g_.size(); ++from) {
      for (const Edge* e = g_.begin(from); e != g_.end(from); ++e) {
        const bool sends = e->label.kind() == EdgeKind::Send && e->label.sender() == sender_;
        if (sends && e->to != kNoState) queue.emplace(depth(from) + 1, e->to, from, true);
      }
    }
    while (!queue.empty()) {
      const auto [distance, state, from, sends] = queue.top();
      queue.pop();
      if (way_[state].distance != kFar) continue;
      way_[state] = {distance, from, sends};
      sent_.push_back(state);
      for (const Edge* e = g_.begin(state); e != g_.end(state); ++e) {
        if (e->to != kNoState && !settled_by(*e)) queue.emplace(distance + 1, e->to, state, false);
      }
    }
    std::sort(sent_.begin(), sent_.end());
  }

  int depth(State s) const { return in_.depth(g_.fingerprint(s)); }

  // How far the nearest run is on which the subject is open here. Where the sender still waits, it does not matter when it sent.
  int distance(State s) const {
    const bool waits = sender_ < 0 || std::binary_search(waiting_.begin(), waiting_.end(), s);
    return waits ? depth(s) : way_[s].distance;
  }

  // ---- where it may stay so for ever

  std::vector<End> ends() {
    Graph graph(region_.size());
    std::vector<bool> loops(region_.size(), false);
    std::vector<End> out;
    for (State i = 0; i < region_.size(); ++i) {
      bool stopped = true;
      for (const Edge* e = g_.begin(region_[i]); e != g_.end(region_[i]); ++e) {
        stopped = stopped && e->label.kind() == EdgeKind::Endless;
        if (!inner(*e)) continue;
        boost::add_edge(i, local_[e->to], graph);
        loops[i] = loops[i] || local_[e->to] == i;
      }
      if (stopped) out.push_back(end_of({region_[i]}, true));
    }
    std::vector<State> component(region_.size());
    const auto index = boost::get(boost::vertex_index, graph);
    const State count = region_.empty() ? 0 : boost::strong_components(graph, boost::make_iterator_property_map(component.begin(), index));
    std::vector<State> sizes(count, 0);
    for (State i = 0; i < region_.size(); ++i) sizes[component[i]] += loops[i] ? 2 : 1;
    std::map<State, std::vector<State>> members;  // of those that have an edge
    for (State i = 0; i < region_.size(); ++i) {
      if (sizes[component[i]] > 1) members[component[i]].push_back(region_[i]);
    }
    for (auto& [number, states] : members) out.push_back(end_of(std::move(states), false));
    std::sort(out.begin(), out.end(), [](const End& a, const End& b) {
      return std::tie(a.distance, a.nearest, b.stopped) < std::tie(b.distance, b.nearest, a.stopped);
    });
    return out;
  }

  bool inner(const Edge& e) const { return e.to != kNoState && local_[e.to] != kNoState && !settled_by(e); }

  End end_of(std::vector<State> states, bool stopped) const {
    End out;
    out.states = std::move(states);
    out.stopped = stopped;
    for (const State s : out.states) {
      const int far = distance(s);
      if (std::tie(far, s) < std::tie(out.distance, out.nearest)) {
        out.distance = far;
        out.nearest = s;
      }
    }
    return out;
  }

  static bool holds_state(const End& end, State s) { return std::binary_search(end.states.begin(), end.states.end(), s); }

  // Each action is taken inside, or cannot happen in some state.
  bool fair(const End& end) const {
    std::vector<std::uint64_t> able = actions(end.states[0]), taken;
    for (const State s : end.states) {
      std::vector<std::uint64_t> both;
      const std::vector<std::uint64_t> here = actions(s);
      std::set_intersection(able.begin(), able.end(), here.begin(), here.end(), std::back_inserter(both));
      able = std::move(both);
      for (const Edge* e = g_.begin(s); e != g_.end(s); ++e) {
        if (inner(*e) && holds_state(end, e->to)) taken.push_back(e->label.action());
      }
      if (able.empty()) return true;
    }
    std::sort(taken.begin(), taken.end());
    return std::all_of(able.begin(), able.end(), [&](std::uint64_t a) { return std::binary_search(taken.begin(), taken.end(), a); });
  }

  std::vector<std::uint64_t> actions(State s) const {
    std::vector<std::uint64_t> out;
    for (const Edge* e = g_.begin(s); e != g_.end(s); ++e) {
      if (e->label.action() != 0) out.push_back(e->label.action());
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Time goes on in it: no timer runs for ever. Leaves a fair way round in cycle_.
  bool goes_round(const End& end) {
    const auto inside = [&](std::uint64_t fingerprint) {
      const State s = g_.find(fingerprint);
      return s != kNoState && holds_state(end, s);
    };
    const CycleQuestion question{in_.states, state_after(stem(end)), inside, sender_};
    Cycle cycle = find_cycle(in_.program, question);
    if (!cycle.time_stands) {
      cycle_ = std::move(cycle.events);
      return true;
    }
    time_stands_ = time_stands_ || !cycle.may_end;
    return false;
  }

  // ---- how to get there

  std::vector<Event> stem(const End& end) const {
    std::vector<std::uint64_t> states{g_.fingerprint(end.nearest)};
    const bool waits = sender_ < 0 || std::binary_search(waiting_.begin(), waiting_.end(), end.nearest);
    for (State s = end.nearest; !waits; s = way_[s].from) {
      states.push_back(g_.fingerprint(way_[s].from));
      if (way_[s].sends) break;
    }
    std::reverse(states.begin(), states.end());
    return in_.path(states);
  }

  std::vector<std::uint8_t> state_after(const std::vector<Event>& events) const {
    std::vector<std::uint8_t> state = in_.states.first();
    Workspace workspace;
    for (const Event& e : events) {
      CHECK_THAT(in_.states.allows(state.data(), e, state.data()));
      CHECK_THAT(!apply(in_.program, state.data(), e, workspace));
    }
    return state;
  }

  struct Way {
    int distance = kFar;
    State from = kNoState;
    bool sends = false;
  };

  const LivenessInput& in_;
  const LiveGraph& g_;
  std::size_t number_;
  const Invariant& promise_;
  int sender_ = -1;                  // Answered: whose requests
  std::vector<State> region_;        // ascending
  std::vector<State> local_;         // by state: its place in region_
  std::vector<State> waiting_;       // Answered: where the sender waits; else region_
  std::vector<State> sent_;          // Answered: what its requests lead to, ascending
  std::vector<Way> way_;             // by state, of those
  End best_;
  std::vector<Event> cycle_;
  bool time_stands_ = false;
};

}  // namespace

LivenessVerdict judge_liveness(const LivenessInput& input, std::size_t invariant) { return Search(input, invariant).run(); }

}  // namespace oncecheck

#include "model/check/cycle.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "invariants/liveness.hpp"
#include "model/check/search_states.hpp"
#include "model/step/fairness.hpp"

namespace oncecheck {

namespace {

using Bytes = std::vector<std::uint8_t>;
using Actions = std::vector<std::uint64_t>;  // ascending, each once

class Finder {
 public:
  Finder(const Program& program, const CycleQuestion& question) : p_(program), q_(question) {}

  Cycle run() {
    explore();
    pending_ = nodes_[0].able;
    timers_ = running_timers(p_, nodes_[0].state.data());
    for (const Timer& t : timers_) {
      if (!way_to_end(0, t).empty()) continue;
      cycle_.time_stands = true;
      cycle_.may_end = cycle_.may_end || somebody_ends(0, t);
    }
    if (cycle_.time_stands) return cycle_;
    while (!pending_.empty()) walk(way([&](int node, int edge) { return settles_an_action(node, edge); }));
    while (!timers_.empty()) walk(way_to_end(here_, timers_.front()));
    if (here_ != 0 || cycle_.events.empty()) walk(way([&](int node, int edge) { return edge >= 0 && nodes_[at(node)].edges[at(edge)].to == 0; }));
    return cycle_;
  }

 private:
  struct Edge {
    Event event;
    std::uint64_t action = 0;
    int to = 0;
  };
  struct Node {
    Bytes state;
    std::vector<Edge> edges;  // inside
    Actions able;
  };
  using Way = std::vector<std::pair<int, int>>;  // node, edge

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void explore() {
    add(q_.start);
    std::vector<Event> events;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      enabled(p_, nodes_[n].state.data(), events);
      for (const Event& e : events) {
        if (e.fault != kNoBudget && !p_.faults[e.fault].endless) continue;
        const std::uint64_t action = action_of(p_, nodes_[n].state.data(), e);
        if (action != 0) nodes_[n].able.push_back(action);
        Bytes next = nodes_[n].state;
        CHECK_THAT(q_.states.allows(nodes_[n].state.data(), e, next.data()));
        if (apply(p_, next.data(), e, workspace_)) continue;
        if (!q_.inside(q_.states.fingerprint(next.data()))) continue;
        if (q_.sender >= 0 && e.a == q_.sender && settles(p_, nodes_[n].state.data(), e, next.data())) continue;
        const int to = add(std::move(next));
        nodes_[n].edges.push_back({e, action, to});
      }
      Actions& able = nodes_[n].able;
      std::sort(able.begin(), able.end());
      able.erase(std::unique(able.begin(), able.end()), able.end());
    }
  }

  int add(Bytes state) {
    const auto [it, is_new] = index_.emplace(q_.states.fingerprint(state.data()), static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({std::move(state), {}, {}});
    return it->second;
  }

  // An action that could happen all along so far does, or cannot happen here.
  bool settles_an_action(int node, int edge) const {
    const Node& n = nodes_[at(node)];
    if (edge >= 0) return std::binary_search(pending_.begin(), pending_.end(), n.edges[at(edge)].action);
    return !std::includes(n.able.begin(), n.able.end(), pending_.begin(), pending_.end());
  }

  // The shortest way from here to a node (edge -1) or over an edge that is wanted.
  template <class Wanted>
  Way way(Wanted wanted) const {
    std::map<int, std::pair<int, int>> from{{here_, {-1, -1}}};
    std::vector<int> queue{here_};
    auto back = [&](int node, Way tail) {
      for (std::pair<int, int> step = from.at(node); step.first >= 0; step = from.at(step.first)) tail.insert(tail.begin(), step);
      return tail;
    };
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const int node = queue[i];
      if (node != here_ && wanted(node, -1)) return back(node, {});
      for (int e = 0; e < static_cast<int>(nodes_[at(node)].edges.size()); ++e) {
        if (wanted(node, e)) return back(node, {{node, e}});
        const int to = nodes_[at(node)].edges[at(e)].to;
        if (from.emplace(to, std::pair{node, e}).second) queue.push_back(to);
      }
    }
    CHECK_THAT(!"a strongly connected part has a way from anywhere to anywhere");
    return {};
  }

  // The shortest way over whose last edge the timer ends; empty when there is none.
  Way way_to_end(int start, const Timer& timer) {
    return follow(start, timer, [](const Node&, const Timer&) { return false; });
  }

  bool somebody_ends(int start, const Timer& timer) {
    bool found = false;
    std::vector<Event> events;
    follow(start, timer, [&](const Node& node, const Timer& now) {
      enabled(p_, node.state.data(), events);
      found = found || std::any_of(events.begin(), events.end(), [&](const Event& e) {
        Bytes next = node.state;
        return ends_timer(p_, node.state.data(), e, now) && q_.states.allows(node.state.data(), e, next.data());
      });
      return found;
    });
    return found;
  }

  template <class Visit>
  Way follow(int start, const Timer& timer, Visit stop) {
    struct Place {
      int node;
      Timer timer;
      int from, edge;  // place, edge of its node
    };
    std::vector<Place> places{{start, timer, -1, -1}};
    std::set<std::tuple<int, int, int, int>> seen{{start, timer.a, timer.b, timer.c}};
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place here = places[i];
      const Node& node = nodes_[at(here.node)];
      if (stop(node, here.timer)) return {};
      for (int e = 0; e < static_cast<int>(node.edges.size()); ++e) {
        const std::optional<Timer> next = after(here.timer, here.node, e);
        if (!next) {
          Way way{{here.node, e}};
          for (Place p = here; p.from >= 0; p = places[at(p.from)]) way.insert(way.begin(), {places[at(p.from)].node, p.edge});
          return way;
        }
        const int to = node.edges[at(e)].to;
        if (seen.emplace(to, next->a, next->b, next->c).second) places.push_back({to, *next, static_cast<int>(i), e});
      }
    }
    return {};
  }

  std::optional<Timer> after(const Timer& timer, int node, int edge) {
    const Node& n = nodes_[at(node)];
    const Edge& e = n.edges[at(edge)];
    Bytes next = n.state;
    Observation seen;
    CHECK_THAT(!apply(p_, next.data(), e.event, workspace_, &seen));
    return still_runs(p_, timer, n.state.data(), e.event, seen, next.data());
  }

  void walk(const Way& steps) {
    CHECK_THAT(!steps.empty());
    for (const auto& [node, edge] : steps) {
      CHECK_THAT(node == here_);
      const Edge& e = nodes_[at(node)].edges[at(edge)];
      std::vector<Timer> left;
      for (const Timer& t : timers_) {
        if (const std::optional<Timer> same = after(t, node, edge)) left.push_back(*same);
      }
      timers_ = std::move(left);
      Actions still;
      const Actions& able = nodes_[at(e.to)].able;
      for (const std::uint64_t action : pending_) {
        if (action != e.action && std::binary_search(able.begin(), able.end(), action)) still.push_back(action);
      }
      pending_ = std::move(still);
      cycle_.events.push_back(e.event);
      here_ = e.to;
    }
  }

  const Program& p_;
  const CycleQuestion& q_;
  Workspace workspace_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, int> index_;
  Cycle cycle_;
  int here_ = 0;
  Actions pending_;            // could happen all along since the start, and have not happened
  std::vector<Timer> timers_;  // have run all along
};

}  // namespace

Cycle find_cycle(const Program& program, const CycleQuestion& question) { return Finder(program, question).run(); }

}  // namespace oncecheck

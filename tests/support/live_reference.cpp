#include "tests/support/live_reference.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "invariants/liveness.hpp"
#include "model/step/fairness.hpp"

namespace oncecheck::testing {

namespace {

using Bytes = std::vector<std::uint8_t>;

struct Edge {
  Event event;
  int to = 0;
  bool paid = false, endless = false, settles = false;
};

struct Node {
  Bytes world;  // and behind it the monitor's byte, 0 without one
  std::vector<Edge> edges;
  std::set<Subject> open;
};

class Reference {
 public:
  Reference(const Program& program, std::size_t invariant, const Monitor* monitor)
      : p_(program), promise_(program.invariants[invariant]), monitor_(monitor) {}

  std::optional<Verdict> judge(std::size_t max_states) {
    if (!explore(max_states)) return std::nullopt;
    std::set<Subject> subjects;
    for (const Node& n : nodes_) subjects.insert(n.open.begin(), n.open.end());
    for (const Subject s : subjects) {
      sender_ = promise_.spec.kind == InvariantKind::Answered ? static_cast<int>(s) - 1 : -1;
      in_.assign(nodes_.size(), false);
      for (std::size_t i = 0; i < nodes_.size(); ++i) in_[i] = nodes_[i].open.contains(s);
      if (sender_ >= 0) add_requests();
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (in_[i] && stays(static_cast<int>(i))) return Verdict::Violated;
      }
    }
    return stands_ ? Verdict::Inconclusive : Verdict::Holds;
  }

 private:
  bool explore(std::size_t max_states) {
    Bytes first = p_.initial;
    first.push_back(0);
    add(first);
    std::vector<Event> events;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_.size() > max_states) return false;
      const Bytes world = nodes_[i].world;
      Limit limit;
      if (judged(i)) {
        const std::vector<Subject> open = open_subjects(p_, promise_, world.data(), workspace_, limit);
        nodes_[i].open = {open.begin(), open.end()};
      }
      enabled(p_, world.data(), events);
      for (const Event& e : std::vector<Event>(events)) {
        const int state = monitor_ == nullptr ? 0 : monitor_->next(p_, world.data(), world.back(), e);
        if (state == Monitor::kForbidden) continue;
        Bytes next = world;
        if (apply(p_, next.data(), e, workspace_)) return false;
        next.back() = static_cast<std::uint8_t>(state);
        const bool fault = e.fault != kNoBudget, endless = fault && p_.faults[e.fault].endless;
        const bool settled = settles(p_, world.data(), e, next.data());
        const int to = add(next);
        nodes_[i].edges.push_back({e, to, fault && !endless, endless, settled});
      }
      if (limit) return false;
    }
    return true;
  }

  int add(const Bytes& world) {
    const auto [it, is_new] = index_.emplace(world, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({world, {}, {}});
    return it->second;
  }

  bool judged(std::size_t node) const { return monitor_ == nullptr || monitor_->judges(nodes_[node].world.back()); }

  bool inner(const Edge& e) const {
    return !e.paid && in_[static_cast<std::size_t>(e.to)] && !(e.settles && e.event.a == sender_);
  }

  void add_requests() {
    std::vector<bool> sent(nodes_.size(), false);
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        for (const Edge& e : nodes_[i].edges) {
          const bool sends = e.event.kind == EventKind::Send && e.event.a == sender_;
          const bool goes_on = sent[i] && !(e.settles && e.event.a == sender_);
          const auto to = static_cast<std::size_t>(e.to);
          if (e.paid || sent[to] || !(sends || goes_on)) continue;
          sent[to] = grows = true;
        }
      }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) in_[i] = in_[i] || (sent[i] && judged(i));
  }

  std::vector<bool> reach(int from) const {
    std::vector<bool> seen(nodes_.size(), false);
    std::vector<int> stack{from};
    while (!stack.empty()) {
      const int here = stack.back();
      stack.pop_back();
      for (const Edge& e : nodes_[static_cast<std::size_t>(here)].edges) {
        if (!inner(e) || seen[static_cast<std::size_t>(e.to)]) continue;
        seen[static_cast<std::size_t>(e.to)] = true;
        stack.push_back(e.to);
      }
    }
    return seen;
  }

  bool stays(int start) {
    const Node& first = nodes_[static_cast<std::size_t>(start)];
    if (std::all_of(first.edges.begin(), first.edges.end(), [](const Edge& e) { return e.paid || e.endless; })) return true;
    const std::vector<bool> forward = reach(start);
    if (!forward[static_cast<std::size_t>(start)]) return false;
    std::vector<int> part;
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      if (forward[static_cast<std::size_t>(i)] && reach(i)[static_cast<std::size_t>(start)]) part.push_back(i);
    }
    for (const Edge& e : first.edges) {
      const std::uint64_t action = action_of(p_, first.world.data(), e.event);
      if (action != 0 && !discharged(part, action)) return false;
    }
    bool stands = false, elsewhere = false;
    for (const Timer& t : running_timers(p_, first.world.data())) {
      if (ends(start, part, t)) continue;
      stands = true;
      elsewhere = elsewhere || ends_outside_;
    }
    if (stands && !elsewhere) stands_ = true;
    return !stands;
  }

  bool discharged(const std::vector<int>& part, std::uint64_t action) const {
    for (const int i : part) {
      bool able = false;
      for (const Edge& e : nodes_[static_cast<std::size_t>(i)].edges) {
        if (action_of(p_, nodes_[static_cast<std::size_t>(i)].world.data(), e.event) != action) continue;
        able = true;
        if (inner(e) && std::find(part.begin(), part.end(), e.to) != part.end()) return true;
      }
      if (!able) return true;
    }
    return false;
  }

  bool ends(int start, const std::vector<int>& part, const Timer& timer) {
    ends_outside_ = false;
    std::vector<std::pair<int, Timer>> places{{start, timer}};
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [here, t] = places[i];
      const Node& n = nodes_[static_cast<std::size_t>(here)];
      for (const Edge& e : n.edges) {
        ends_outside_ = ends_outside_ || ends_timer(p_, n.world.data(), e.event, t);
        if (!inner(e) || std::find(part.begin(), part.end(), e.to) == part.end()) continue;
        Bytes next = n.world;
        Observation seen;
        CHECK_THAT(!apply(p_, next.data(), e.event, workspace_, &seen));
        const auto same = still_runs(p_, t, n.world.data(), e.event, seen, next.data());
        if (!same) return true;
        const std::pair<int, Timer> place{e.to, *same};
        if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
      }
    }
    return false;
  }

  const Program& p_;
  const Invariant& promise_;
  const Monitor* monitor_;
  Workspace workspace_;
  std::map<Bytes, int> index_;
  std::vector<Node> nodes_;
  std::vector<bool> in_;
  int sender_ = -1;
  bool stands_ = false, ends_outside_ = false;
};

}  // namespace

std::optional<Verdict> live_reference(const Program& program, std::size_t invariant, std::size_t max_states, const Monitor* monitor) {
  return Reference(program, invariant, monitor).judge(max_states);
}

}  // namespace oncecheck::testing

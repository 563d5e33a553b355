#include "model/check/collapsed_search.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "invariants/evaluate.hpp"
#include "model/check/breadth_first.hpp"
#include "model/check/collapsed_steps.hpp"
#include "model/check/retrace.hpp"
#include "model/step/symmetry.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

// What promises see of a state.
struct Seen {
  std::uint32_t shared = 0;
  std::uint64_t told = 0;
  bool operator==(const Seen&) const = default;
  struct Hash {
    std::size_t operator()(const Seen& s) const { return (s.shared * 0x9e3779b97f4a7c15u ^ s.told) * 0xbf58476d1ce4e5b9u; }
  };
};

struct Target {
  CollapsedState state;
  std::uint64_t fingerprint, parent;
};

struct CollapsedWorker : CollapsedSteps::Worker {
  using CollapsedSteps::Worker::Worker;
  std::vector<Target> targets;  // steps that wait for their place in the set of states
  Bytes world, child_world, stored;
  std::unordered_map<Seen, std::uint64_t, Seen::Hash> broken;  // bits of promises
  bool gives_up = false;
};

class CollapsedSearch : public BreadthFirst {
 public:
  CollapsedSearch(const Program& program, const CheckOptions& options, const Collapse& collapse)
      : BreadthFirst(program, options, CollapsedSteps::state_bytes(collapse, !options.symmetry)), steps_(program, collapse, !options.symmetry, options.collapse_forgets) {
    for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<CollapsedWorker>(program, bytes_));
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      (p_.invariants[i].spec.kind == InvariantKind::AlwaysEmpty ? always_ : finally_).push_back(i);
    }
  }

  bool gave_up() const {
    return std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return static_cast<const CollapsedWorker&>(*w).gives_up; });
  }
  CollapsedSizes sizes() const {
    CollapsedSizes out = steps_.sizes();
    for (const auto& w : workers_) out.whole += static_cast<const CollapsedWorker&>(*w).whole;
    return out;
  }

 private:
  static CollapsedWorker& of(Worker& w) { return static_cast<CollapsedWorker&>(w); }

  void first_level() override {
    CollapsedWorker& w = of(*workers_[0]);
    CollapsedState first;
    if (!steps_.state_of(p_.initial.data(), first)) {
      w.gives_up = true;
      stop_reason_ = "a world could not be cut";
      return;
    }
    first_ = steps_.fingerprint(first);
    seen_.insert(first_, 0, 0);
    seen_.added(1);
    enter(w, first, first_);
    collect();
  }

  void expand(Worker& worker, const std::uint8_t* bytes, std::uint64_t f) override {
    CollapsedWorker& w = of(worker);
    if (w.gives_up) return;
    CollapsedState s;
    steps_.load(bytes, s);
    if (w.coverage.waits_for_occurrences()) {
      // What occurs is seen in whole worlds.
      if (!expand_whole(w, s, f)) w.gives_up = true;
      if (w.targets.size() >= Worker::kBatch) look_up(w);
      return;
    }
    const std::size_t before = w.targets.size();
    const auto outcome = steps_.expand(w, s, [&](const CollapsedState& child, std::uint64_t to) { reach(w, child, to, f); });
    if (outcome != CollapsedSteps::Outcome::Done) {
      w.targets.resize(before);
      if (outcome == CollapsedSteps::Outcome::GiveUp || !expand_whole(w, s, f)) w.gives_up = true;
    } else if (options_.collapse_audit > 0 && f % options_.collapse_audit == 0) {
      audit(w, s, f, before);
    }
    if (w.targets.size() >= Worker::kBatch) look_up(w);
  }

  void reach(CollapsedWorker& w, const CollapsedState& child, std::uint64_t f, std::uint64_t parent) {
    seen_.prefetch(f);
    w.targets.push_back({child, f, parent});
  }

  // By the transition relation itself.
  bool expand_whole(CollapsedWorker& w, const CollapsedState& s, std::uint64_t f) {
    ++w.whole;
    steps_.world_of(s, w.world);
    enabled(p_, w.world.data(), w.events);
    bool restless = false;
    CollapsedState child;
    for (const Event& e : w.events) {
      restless = restless || (e.fault == kNoBudget && e.kind != EventKind::StartJob);
      w.child_world = w.world;
      w.coverage.note(p_, w.world.data(), e, w.workspace);
      ++w.transitions;
      if (const Limit limit = apply(p_, w.child_world.data(), e, w.workspace)) {
        w.note_limit(limit);
        continue;
      }
      if (!steps_.state_of(w.child_world.data(), child)) return false;
      reach(w, child, steps_.fingerprint(child), f);
    }
    if (!restless) expansion_.judge_rest(w, w.world.data(), f);
    return true;
  }

  // The targets from `first` on against those of the transition relation.
  void audit(CollapsedWorker& w, const CollapsedState& s, std::uint64_t f, std::size_t first) {
    const std::size_t end = w.targets.size();
    const std::uint64_t transitions = w.transitions, whole = w.whole;
    if (!expand_whole(w, s, f)) {
      w.gives_up = true;
      return;
    }
    w.transitions = transitions;
    w.whole = whole;
    auto known = [&](std::size_t from, std::size_t to) {
      std::vector<std::uint64_t> out;
      for (std::size_t i = from; i < to; ++i) out.push_back(w.targets[i].fingerprint);
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
      return out;
    };
    // Who asks for all of them wants to know. Otherwise the other search gives the answer.
    const bool same = known(first, end) == known(end, w.targets.size());
    CHECK_THAT(same || options_.collapse_audit != 1);
    w.gives_up = w.gives_up || !same;
    w.targets.resize(end);
  }

  void look_up(Worker& worker) override {
    CollapsedWorker& w = of(worker);
    for (const Target& t : w.targets) {
      const SeenSet::Insert result = seen_.insert(t.fingerprint, t.parent, depth_ + 1);
      if (result == SeenSet::Insert::Full) w.full = true;
      if (result != SeenSet::Insert::New) continue;
      ++w.added;
      enter(w, t.state, t.fingerprint);
    }
    w.targets.clear();
  }

  // A new state. Promises of states see the shared state and what was told alone (is_collapsible).
  void enter(CollapsedWorker& w, const CollapsedState& s, std::uint64_t f) {
    w.stored.resize(bytes_);
    steps_.store(s, w.stored.data());
    w.next.add(w.stored.data(), f);
    const auto [it, is_new] = w.broken.try_emplace({s.shared, s.counters.told}, std::uint64_t{0});
    if (is_new) {
      w.world.resize(p_.initial.size());
      steps_.shared_world_of(s, w.world);
      w.coverage.note_state(p_, w.world.data(), nullptr, w.workspace, w.limit);
      for (std::size_t i : always_) {
        Limit limit;
        if (breaks(p_, p_.invariants[i], w.world.data(), w.workspace, limit)) it->second |= std::uint64_t{1} << i;
        w.note_limit(limit);
      }
    }
    if (it->second == 0) return;
    for (std::size_t i : always_) {
      if ((it->second >> i & 1) != 0 && !expansion_.decided(i)) w.breaks[i].offer({f, 0, false, faults_in(s)});
    }
  }
  int faults_in(const CollapsedState& s) const {
    int spent = 0;
    for (std::size_t f = 0; f < p_.faults.size(); ++f) spent += p_.faults[f].max - static_cast<int>(s.counters.budgets >> (8 * f) & 255);
    return spent;
  }

  bool check_limits() override {
    if (gave_up()) stop_reason_ = "a world could not be cut";
    return BreadthFirst::check_limits();
  }

  std::vector<Event> way_through(const std::vector<std::uint64_t>& states, const Invariant*) override {
    auto known_as = [&](const std::uint8_t* world) {
      CollapsedState s;
      return steps_.state_of(world, s) ? steps_.fingerprint(s) : 0;
    };
    std::optional<std::vector<Event>> way = retrace(p_, known_as, seen_, first_, states);
    if (!way) of(*workers_[0]).gives_up = true;
    return way.value_or(std::vector<Event>());
  }

  CollapsedSteps steps_;
  std::vector<std::size_t> always_, finally_;
};

// Whether what a promise looks at is in the shared state or among the counters.
bool sees_shared_state_only(const Program& p, const std::vector<std::pair<int, int>>& reads) {
  const Layout& l = p.plan.layout;
  auto meets = [&](int offset, int bytes) {
    return std::any_of(reads.begin(), reads.end(), [&](const std::pair<int, int>& r) { return r.first < offset + bytes && offset < r.first + r.second; });
  };
  if (meets(l.senders, l.sender_count * kSenderBytes) || meets(l.messages, l.message_slots * l.message_stride) || meets(l.budgets, l.budget_count)) return false;
  for (const TaskLayout& t : l.tasks) {
    if (t.kind == TaskKind::Request && meets(t.offset, t.bytes)) return false;
  }
  return std::none_of(l.providers.begin(), l.providers.end(), [&](const ProviderLayout& x) { return meets(x.inbox, x.inbox_slots * x.inbox_stride); });
}

bool is_collapsible(const Program& p, const CheckOptions& options) {
  if (!options.collapse || options.monitor != nullptr || p.invariants.size() > 64) return false;
  for (const Invariant& i : p.invariants) {
    if (i.spec.kind != InvariantKind::AlwaysEmpty && i.spec.kind != InvariantKind::FinallyEmpty) return false;
    if (judges_steps(i) || !sees_shared_state_only(p, i.reads)) return false;
  }
  for (const MustReach& m : p.must_reach) {
    if (m.kind == MustReachKind::Finds && !sees_shared_state_only(p, m.reads)) return false;
  }
  const Symmetry symmetry(p);
  // Alike clients are one only in the other search.
  return symmetry.kept_apart().empty() && !(options.symmetry && symmetry.swaps_clients());
}

}  // namespace

std::optional<CheckResult> check_collapsed(const Program& program, const CheckOptions& options) {
  if (!is_collapsible(program, options)) return std::nullopt;
  const Collapse collapse(program);
  if (!collapse.why_not().empty()) return std::nullopt;
  CollapsedSearch search(program, options, collapse);
  CheckResult result = search.run();
  if (search.gave_up()) return std::nullopt;
  result.collapsed = search.sizes();
  result.state_bytes = static_cast<int>(CollapsedSteps::state_bytes(collapse, !options.symmetry));
  return result;
}

}  // namespace oncecheck

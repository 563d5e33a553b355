#include "model/check/collapsed_search.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "invariants/evaluate.hpp"
#include "model/check/collapsed_steps.hpp"
#include "model/check/crew.hpp"
#include "model/check/frontier.hpp"
#include "model/check/retrace.hpp"
#include "model/check/seen_set.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kBatch = 64;        // steps that wait for their place in the set of states
constexpr std::size_t kAhead = 4;         // how far ahead of its use that place is fetched
constexpr std::size_t kSmallLevel = 2048;  // below this one thread is faster than many
constexpr std::size_t kGrowth = 48;
constexpr int kMaxDepth = 60'000;

struct Break {
  std::uint64_t child = 0;
  bool at_rest = false;
  int faults = 0;
  bool found() const { return child != 0; }
  void offer(const Break& b) {
    if (!found() || std::tie(b.faults, b.child) < std::tie(faults, child)) *this = b;
  }
};

struct Reached {
  CollapsedState state;
  std::uint64_t fingerprint, parent;
};

// What promises see of a state.
struct Seen {
  std::uint32_t shared = 0;
  std::uint64_t told = 0;
  bool operator==(const Seen&) const = default;
  struct Hash {
    std::size_t operator()(const Seen& s) const { return (s.shared * 0x9e3779b97f4a7c15u ^ s.told) * 0xbf58476d1ce4e5b9u; }
  };
};

struct Worker {
  Worker(const Program& program, std::size_t state_bytes)
      : steps(program), next(state_bytes), breaks(program.invariants.size()) {}
  CollapsedSteps::Worker steps;
  Frontier next;
  std::vector<Reached> reached;
  std::vector<Event> events;
  Bytes world, child;
  std::vector<Break> breaks;
  std::unordered_map<Seen, std::uint64_t, Seen::Hash> broken;  // bits of promises
  std::uint64_t rest_states = 0;
  std::size_t added = 0;
  bool full = false, gives_up = false;
};

class CollapsedSearch {
 public:
  CollapsedSearch(const Program& program, const CheckOptions& options, const Collapse& collapse)
      : p_(program), options_(options), steps_(program, collapse), bytes_(steps_.state_bytes()), breaks_(program.invariants.size()) {
    threads_ = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>(program, bytes_));
    crew_.emplace(threads_);
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      (p_.invariants[i].spec.kind == InvariantKind::AlwaysEmpty ? always_ : finally_).push_back(i);
    }
  }

  std::optional<CheckResult> run() {
    start_ = std::chrono::steady_clock::now();
    CollapsedState first;
    if (!steps_.state_of(p_.initial.data(), first)) return std::nullopt;
    Worker& w = *workers_[0];
    first_ = steps_.fingerprint(first);
    seen_.reserve(1);
    seen_.insert(first_, 0, 0);
    seen_.added(1);
    enter(w, first, first_);
    collect();
    while (count_ > 0 && stop_reason_.empty() && !nothing_left_to_ask()) {
      if (!expand_level()) return std::nullopt;
    }
    return finish();
  }

 private:
  bool decided(std::size_t i) const { return breaks_[i].found(); }
  bool nothing_left_to_ask() const {
    if (options_.explore_all || breaks_.empty()) return false;
    const auto broken = [](const Break& b) { return b.found(); };
    if (options_.stop_at_first) return std::any_of(breaks_.begin(), breaks_.end(), broken);
    return std::all_of(breaks_.begin(), breaks_.end(), broken) && covered().reached_all_marks(p_);
  }
  Coverage covered() const {
    Coverage out(p_);
    for (const auto& w : workers_) {
      out.take(w->steps.workspace);
      out.merge(w->steps.coverage);
    }
    return out;
  }

  // False: give up.
  bool expand_level() {
    for (std::size_t begin = 0; begin < chunks_.size();) {
      const std::size_t most = std::clamp<std::size_t>(seen_.size() / 256, 8192, 1 << 16);
      std::size_t end = begin, states = 0;
      while (end < chunks_.size() && states < most) states += chunks_[end++]->count;
      seen_.reserve(std::min<std::size_t>(states * kGrowth, (1 << 16) + states * 8));
      run_piece(begin, end, states);
      for (const auto& w : workers_) {
        if (w->gives_up) return false;
      }
      if (!check_limits()) return true;
      begin = end;
    }
    ++depth_;
    collect();
    if (options_.max_states > 0 && seen_.size() >= options_.max_states && count_ > 0) {
      stop_reason_ = "--max-states " + std::to_string(options_.max_states) + " was reached";
    }
    if (depth_ >= kMaxDepth) stop_reason_ = "the search is deeper than 60,000 steps";
    return true;
  }

  bool check_limits() {
    for (const auto& w : workers_) {
      if (w->full) stop_reason_ = "a level grew faster than the table of states";
    }
    peak_memory_ = std::max(peak_memory_, memory());
    if (options_.max_memory_bytes > 0 && memory() > options_.max_memory_bytes) stop_reason_ = "--max-memory was reached";
    if (options_.progress) {
      Progress p;
      p.states = seen_.size();
      for (const auto& w : workers_) p.transitions += w->steps.transitions;
      p.frontier = count_;
      p.depth = depth_;
      p.seconds = elapsed();
      options_.progress(p);
    }
    return stop_reason_.empty();
  }
  double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  std::size_t memory() const {
    std::size_t total = seen_.bytes();
    for (const auto& chunk : chunks_) total += chunk == nullptr ? 0 : workers_[0]->next.chunk_bytes();
    for (const auto& w : workers_) total += w->next.bytes();
    return total;
  }

  void run_piece(std::size_t from, std::size_t to, std::size_t states) {
    if (threads_ == 1 || states < kSmallLevel) {
      for (std::size_t i = from; i < to; ++i) expand_chunk(*workers_[0], chunks_[i]);
    } else {
      std::atomic<std::size_t> next{from};
      crew_->run([&](int thread) {
        for (std::size_t i = next++; i < to; i = next++) expand_chunk(*workers_[static_cast<std::size_t>(thread)], chunks_[i]);
      });
    }
    for (const auto& w : workers_) seen_.added(std::exchange(w->added, 0));
  }

  void expand_chunk(Worker& w, std::unique_ptr<Frontier::Chunk>& chunk) {
    CollapsedState state;
    for (std::size_t i = 0; i < std::min(kAhead, chunk->count); ++i) seen_.prefetch(chunk->fingerprints[i]);
    for (std::size_t i = 0; i < chunk->count && !w.gives_up; ++i) {
      if (i + kAhead < chunk->count) seen_.prefetch(chunk->fingerprints[i + kAhead]);
      std::memcpy(static_cast<void*>(&state), chunk->worlds.get() + i * bytes_, bytes_);
      expand(w, state, chunk->fingerprints[i]);
      seen_.settle(chunk->fingerprints[i]);
      if (w.reached.size() >= kBatch) look_up(w);
    }
    look_up(w);
    w.next.recycle(std::move(chunk));
  }

  void reach(Worker& w, const CollapsedState& child, std::uint64_t parent) {
    const std::uint64_t f = steps_.fingerprint(child);
    seen_.prefetch(f);
    w.reached.push_back({child, f, parent});
  }

  void expand(Worker& w, const CollapsedState& s, std::uint64_t f) {
    const std::size_t mark = w.reached.size();
    const auto outcome = steps_.expand(w.steps, s, [&](const CollapsedState& child) { reach(w, child, f); });
    if (outcome == CollapsedSteps::Outcome::Done) return;
    w.reached.resize(mark);
    if (outcome == CollapsedSteps::Outcome::GiveUp || !expand_whole(w, s, f)) w.gives_up = true;
  }

  // By the transition relation itself.
  bool expand_whole(Worker& w, const CollapsedState& s, std::uint64_t f) {
    ++w.steps.whole;
    steps_.world_of(s, w.world);
    enabled(p_, w.world.data(), w.events);
    bool restless = false;
    CollapsedState child;
    for (const Event& e : w.events) {
      restless = restless || (e.fault == kNoBudget && e.kind != EventKind::StartJob);
      w.child = w.world;
      w.steps.coverage.note(p_, w.world.data(), e, w.steps.workspace);
      ++w.steps.transitions;
      if (const Limit limit = apply(p_, w.child.data(), e, w.steps.workspace)) {
        note_limit(w, limit);
        continue;
      }
      if (!steps_.state_of(w.child.data(), child)) return false;
      reach(w, child, f);
    }
    if (restless || finally_.empty() || !at_rest(p_, w.world.data(), w.steps.workspace)) return true;
    ++w.rest_states;
    for (std::size_t i : finally_) {
      if (decided(i)) continue;
      Limit limit;
      if (breaks(p_, p_.invariants[i], w.world.data(), w.steps.workspace, limit)) w.breaks[i].offer({f, true, faults_in(s)});
      if (limit) note_limit(w, limit);
    }
    return true;
  }

  static void note_limit(Worker& w, const Limit& limit) {
    Limit& least = w.steps.limit;
    if (!least || limit.kind < least.kind || (limit.kind == least.kind && limit.arg < least.arg)) least = limit;
  }
  int faults_in(const CollapsedState& s) const {
    int spent = 0;
    for (std::size_t f = 0; f < p_.faults.size(); ++f) spent += p_.faults[f].max - static_cast<int>(s.counters.budgets >> (8 * f) & 255);
    return spent;
  }

  void look_up(Worker& w) {
    for (const Reached& r : w.reached) {
      const SeenSet::Insert result = seen_.insert(r.fingerprint, r.parent, depth_ + 1);
      if (result == SeenSet::Insert::Full) w.full = true;
      if (result != SeenSet::Insert::New) continue;
      ++w.added;
      enter(w, r.state, r.fingerprint);
    }
    w.reached.clear();
  }

  // A new state. Promises of states see the shared state and the counters alone (is_collapsible).
  void enter(Worker& w, const CollapsedState& s, std::uint64_t f) {
    w.next.add(reinterpret_cast<const std::uint8_t*>(&s), f);
    const auto [it, is_new] = w.broken.try_emplace({s.shared, s.counters.told}, std::uint64_t{0});
    if (is_new) {
      w.world.resize(p_.initial.size());
      steps_.shared_world_of(s, w.world);
      w.steps.coverage.note_state(p_, w.world.data(), nullptr, w.steps.workspace, w.steps.limit);
      for (std::size_t i : always_) {
        Limit limit;
        if (breaks(p_, p_.invariants[i], w.world.data(), w.steps.workspace, limit)) it->second |= std::uint64_t{1} << i;
        if (limit) note_limit(w, limit);
      }
    }
    for (std::size_t i : always_) {
      if ((it->second >> i & 1) != 0 && !decided(i)) w.breaks[i].offer({f, false, faults_in(s)});
    }
  }

  void collect() {
    chunks_.clear();
    count_ = 0;
    for (const auto& w : workers_) {
      count_ += w->next.size();
      for (auto& chunk : w->next.take()) chunks_.push_back(std::move(chunk));
    }
    peak_frontier_ = std::max<std::uint64_t>(peak_frontier_, count_);
    for (std::size_t i = 0; i < breaks_.size(); ++i) {
      Break best;
      for (const auto& w : workers_) {
        if (w->breaks[i].found()) best.offer(w->breaks[i]);
        w->breaks[i] = {};
      }
      if (best.found() && !decided(i)) breaks_[i] = best;
    }
  }

  CheckResult finish() {
    CheckResult r;
    Limit limit;
    for (const auto& each : workers_) {
      const CollapsedSteps::Worker& w = each->steps;
      r.transitions += w.transitions;
      r.rest_states += each->rest_states;
      if (w.limit && (!limit || w.limit.kind < limit.kind || (w.limit.kind == limit.kind && w.limit.arg < limit.arg))) limit = w.limit;
    }
    r.complete = stop_reason_.empty() && !limit && count_ == 0;
    if (!stop_reason_.empty()) {
      r.why_incomplete = stop_reason_;
    } else if (limit) {
      r.why_incomplete = limit_text(p_, limit);
    } else if (!r.complete) {
      r.why_incomplete = options_.stop_at_first ? "a promise is broken: the search ended there" : "every promise is broken: the search ended there";
    }
    r.states = seen_.size();
    r.depth = count_ == 0 ? depth_ - 1 : depth_;
    r.peak_frontier = peak_frontier_;
    r.peak_memory_bytes = std::max(peak_memory_, memory());
    r.visited_bytes = seen_.bytes();
    r.state_bytes = static_cast<int>(bytes_);
    r.interchangeable = Symmetry(p_).found();
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      InvariantResult v;
      v.name = p_.invariants[i].spec.name;
      v.verdict = decided(i) ? Verdict::Violated : r.complete ? Verdict::Holds : Verdict::Inconclusive;
      if (v.verdict == Verdict::Holds && p_.invariants[i].spec.kind == InvariantKind::FinallyEmpty && r.rest_states == 0) {
        v.verdict = Verdict::Inconclusive;
        r.why_incomplete = "no state of rest was ever reached: the promises of rest were never asked for";
      }
      if (decided(i)) {
        v.at_rest = breaks_[i].at_rest;
        v.trace = retrace(p_, [&](const std::uint8_t* world) { return fingerprint(world); }, seen_, first_, {breaks_[i].child});
      }
      r.invariants.push_back(std::move(v));
    }
    r.unseen = covered().unseen(p_);
    r.seconds = elapsed();
    std::fprintf(stderr, "shared %zu locals %zu pairs %zu\n", steps_.sizes().shared, steps_.sizes().locals, steps_.sizes().pairs);
    for (const auto& w : workers_) std::fprintf(stderr, "whole %zu\n", static_cast<std::size_t>(w->steps.whole));
    return r;
  }

  std::uint64_t fingerprint(const std::uint8_t* world) {
    CollapsedState s;
    return steps_.state_of(world, s) ? steps_.fingerprint(s) : 0;
  }

  const Program& p_;
  const CheckOptions& options_;
  CollapsedSteps steps_;
  std::size_t bytes_;
  SeenSet seen_;
  int threads_ = 1;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<Crew> crew_;
  std::uint64_t first_ = 0;
  Frontier::Chunks chunks_;
  std::size_t count_ = 0;
  int depth_ = 0;
  std::vector<Break> breaks_;
  std::vector<std::size_t> always_, finally_;
  std::string stop_reason_;
  std::uint64_t peak_frontier_ = 0;
  std::size_t peak_memory_ = 0;
  std::chrono::steady_clock::time_point start_;
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
  if (options.monitor != nullptr || !options.symmetry || p.invariants.size() > 64) return false;
  for (const Invariant& i : p.invariants) {
    if (i.spec.kind != InvariantKind::AlwaysEmpty && i.spec.kind != InvariantKind::FinallyEmpty) return false;
    if (judges_steps(i) || !sees_shared_state_only(p, i.reads)) return false;
  }
  for (const MustReach& m : p.must_reach) {
    if (m.kind == MustReachKind::Happens || (m.kind == MustReachKind::Finds && !sees_shared_state_only(p, m.reads))) return false;
  }
  const Symmetry symmetry(p);
  return symmetry.kept_apart().empty() && !symmetry.swaps_clients();
}

}  // namespace

std::optional<CheckResult> check_collapsed(const Program& program, const CheckOptions& options) {
  if (!is_collapsible(program, options)) { std::fprintf(stderr, "not collapsible\n"); return std::nullopt; }
  const Collapse collapse(program);
  if (!collapse.why_not().empty()) { std::fprintf(stderr, "why not %s\n", collapse.why_not().c_str()); return std::nullopt; }
  return CollapsedSearch(program, options, collapse).run();
}

}  // namespace oncecheck

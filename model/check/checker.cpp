#include "model/check/checker.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "invariants/evaluate.hpp"
#include "model/check/crew.hpp"
#include "model/check/frontier.hpp"
#include "model/check/liveness.hpp"
#include "model/check/retrace.hpp"
#include "model/check/seen_set.hpp"
#include "model/check/state_space.hpp"
#include "model/step/coverage.hpp"
#include "model/step/fairness.hpp"
#include "model/step/relation.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kBatch = 64;           // steps that wait for their place in the set of states
constexpr std::size_t kAhead = 4;            // how far ahead of its use that place is fetched
constexpr std::size_t kSmallLevel = 2048;    // below this one thread is faster than many
constexpr std::size_t kGrowth = 48;          // room made for that many new states a state; most have a handful
constexpr int kMaxDepth = 60'000;

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

// One thread's share of the work.
struct Worker {
  Worker(const Program& program, std::size_t state_bytes)
      : coverage(program), symmetry(program), children(state_bytes * kBatch), represented(state_bytes * kBatch), next(state_bytes),
        breaks(program.invariants.size()) {
    coverage.watch(workspace);
  }
  Workspace workspace;
  Coverage coverage;
  std::vector<Event> events;
  Symmetry::Scratch symmetry;
  Reached reached[kBatch];
  std::size_t waiting = 0;                          // of `reached`
  std::vector<std::uint8_t> children, represented;  // by number in `reached`: the world that it leads to, and what stands for it
  Frontier next;
  std::size_t added = 0;
  std::vector<std::pair<std::uint64_t, int>> depths;  // of the states that it has expanded, for promises of liveness
  std::vector<Break> breaks;
  LiveRecorder live;
  std::uint64_t transitions = 0, rest_states = 0, renamed = 0;
  Limit limit;
  bool full = false;
};

class Search {
 public:
  Search(const Program& program, const CheckOptions& options)
      : p_(program), options_(options),
        // A monitor may tell alike things apart. So may fairness: of two alike who change places for ever, each must act.
        space_(program, options.monitor, options.symmetry && options.monitor == nullptr && !has_live_), bytes_(space_.bytes()) {
    threads_ = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>(program, bytes_));
    crew_.emplace(threads_);
    breaks_.resize(program.invariants.size());
  }

  CheckResult run() {
    start_ = std::chrono::steady_clock::now();
    first_level();
    while (!level_.empty_level() && stop_reason_.empty() && !nothing_left_to_ask()) expand_level();
    return finish();
  }

 private:
  struct Level {
    Frontier::Chunks chunks;
    std::size_t count = 0;
    bool empty_level() const { return count == 0; }
  };

  void first_level() {
    const std::vector<std::uint8_t> first = space_.first();
    Worker& w = *workers_[0];
    std::vector<std::uint8_t> stands_for_it = first;
    space_.represent(stands_for_it.data(), w.symmetry);
    const std::uint64_t f = first_ = space_.fingerprint(stands_for_it.data());
    seen_.insert(f, 0, 0);
    seen_.added(1);
    w.next.add(stands_for_it.data(), f);
    w.coverage.note_state(p_, first.data(), nullptr, w.workspace, w.limit);
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      if (p_.invariants[i].spec.kind == InvariantKind::AlwaysEmpty && space_.judges(first.data()) &&
          breaks(p_, p_.invariants[i], p_.initial.data(), w.workspace, w.limit)) {
        w.breaks[i].offer({f, 0, false, 0});
      }
    }
    collect();
  }

  bool decided(std::size_t i) const { return breaks_[i].found(); }
  bool all_decided() const {
    if (options_.explore_all || breaks_.empty()) return false;
    const auto broken = [](const Break& b) { return b.found(); };
    if (options_.stop_at_first) return std::any_of(breaks_.begin(), breaks_.end(), broken);
    return std::all_of(breaks_.begin(), breaks_.end(), broken);
  }
  // What must be reached is looked for even when every promise is broken.
  bool nothing_left_to_ask() const {
    return all_decided() && (options_.stop_at_first || options_.monitor != nullptr || covered().reached_all_marks(p_));
  }
  Coverage covered() const {
    Coverage out(p_);
    for (const auto& w : workers_) {
      out.take(w->workspace);
      out.merge(w->coverage);
    }
    return out;
  }

  void expand_level() {
    // In pieces, so that the table can grow between them.
    for (std::size_t begin = 0; begin < level_.chunks.size();) {
      const std::size_t most = std::clamp<std::size_t>(seen_.size() / 256, 8192, 1 << 16);
      std::size_t end = begin, states = 0;
      while (end < level_.chunks.size() && states < most) states += level_.chunks[end++]->count;
      seen_.reserve(std::min<std::size_t>(states * kGrowth, (1 << 16) + states * 8));
      run_piece(begin, end, states);
      if (!check_limits()) return;
      begin = end;
    }
    ++depth_;
    collect();
    if (options_.max_states > 0 && seen_.size() >= options_.max_states && !level_.empty_level()) {
      stop_reason_ = "--max-states " + std::to_string(options_.max_states) + " was reached";
    }
    if (depth_ >= kMaxDepth) stop_reason_ = "the search is deeper than 60,000 steps";
  }

  bool check_limits() {
    for (const auto& w : workers_) {
      if (w->full) stop_reason_ = "a level grew faster than the table of states";
    }
    if (options_.max_memory_bytes > 0 && memory() > options_.max_memory_bytes) {
      stop_reason_ = "--max-memory was reached";
    }
    peak_memory_ = std::max(peak_memory_, memory());
    if (options_.progress) options_.progress(progress());
    return stop_reason_.empty();
  }

  Progress progress() const {
    Progress p;
    p.states = seen_.size();
    for (const auto& w : workers_) p.transitions += w->transitions;
    p.frontier = level_.count;
    p.depth = depth_;
    p.seconds = elapsed();
    return p;
  }

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::size_t memory() const {
    std::size_t total = seen_.bytes();
    for (const auto& chunk : level_.chunks) total += chunk == nullptr ? 0 : workers_[0]->next.chunk_bytes();
    for (const auto& w : workers_) {
      total += w->next.bytes();
      total += w->live.bytes() * 2;  // the graph is put together beside it
    }
    return total;
  }

  void run_piece(std::size_t from, std::size_t to, std::size_t states) {
    if (threads_ == 1 || states < kSmallLevel) {
      for (std::size_t i = from; i < to; ++i) expand_chunk(*workers_[0], level_.chunks[i]);
    } else {
      std::atomic<std::size_t> next{from};
      crew_->run([&](int thread) {
        for (std::size_t i = next++; i < to; i = next++) expand_chunk(*workers_[static_cast<std::size_t>(thread)], level_.chunks[i]);
      });
    }
    for (const auto& w : workers_) seen_.added(std::exchange(w->added, 0));
  }

  void expand_chunk(Worker& w, std::unique_ptr<Frontier::Chunk>& chunk) {
    for (std::size_t i = 0; i < std::min(kAhead, chunk->count); ++i) seen_.prefetch(chunk->fingerprints[i]);
    for (std::size_t i = 0; i < chunk->count; ++i) {
      if (i + kAhead < chunk->count) seen_.prefetch(chunk->fingerprints[i + kAhead]);
      expand(w, chunk->worlds.get() + i * bytes_, chunk->fingerprints[i]);
      seen_.settle(chunk->fingerprints[i]);
    }
    look_up(w);  // parents lie in the chunk
    w.next.recycle(std::move(chunk));
  }

  void expand(Worker& w, const std::uint8_t* world, std::uint64_t f) {
    enabled(p_, world, w.events);
    if (has_live_) begin_live(w, world, f);
    bool restless = false;
    for (const Event& e : w.events) {
      restless = restless || (e.fault == kNoBudget && e.kind != EventKind::StartJob);
      std::uint8_t* const child = w.children.data() + w.waiting * bytes_;
      std::memcpy(child, world, bytes_);
      if (!space_.allows(world, e, child)) continue;
      w.coverage.note(p_, world, e, w.workspace);
      ++w.transitions;
      if (const Limit limit = apply(p_, child, e, w.workspace)) {
        note_limit(w, limit);
        if (has_live_) note_edge(w, world, e, child, 0);
        continue;
      }
      const std::uint64_t to = reach(w, world, f, e);
      if (has_live_) note_edge(w, world, e, child, to);
      if (w.waiting == kBatch) look_up(w);
    }
    if (!restless && has_final_ && space_.judges(world) && at_rest(p_, world, w.workspace)) judge_rest(w, world, f);
  }

  // Faults that happened on every way to this world: budgets are part of it.
  int faults_in(const std::uint8_t* world) const {
    int spent = 0;
    for (std::size_t f = 0; f < p_.faults.size(); ++f) spent += p_.faults[f].max - world[p_.plan.layout.budgets + static_cast<int>(f)];
    return spent;
  }

  static void note_limit(Worker& w, const Limit& limit) {
    // The smallest, so that the words do not depend on which thread met one first.
    if (!w.limit || limit.kind < w.limit.kind || (limit.kind == w.limit.kind && limit.arg < w.limit.arg)) w.limit = limit;
  }

  // ---- what promises of liveness need

  void begin_live(Worker& w, const std::uint8_t* world, std::uint64_t f) {
    const bool judged = space_.judges(world);
    w.live.begin(f, judged);
    w.depths.emplace_back(f, depth_);
    if (!judged) return;
    for (std::size_t i : live_invariants_) {
      Limit limit;
      for (const Subject s : open_subjects(p_, p_.invariants[i], world, w.workspace, limit)) w.live.open(i, s);
      if (limit) note_limit(w, limit);
    }
  }

  // The step from `world` by `e` has led to `child`; to 0: the model cannot follow it.
  void note_edge(Worker& w, const std::uint8_t* world, const Event& e, const std::uint8_t* child, std::uint64_t to) {
    const bool paid = e.fault != kNoBudget;
    if (paid && !p_.faults[e.fault].endless) return;
    const EdgeKind kind = paid                                                      ? EdgeKind::Endless
                          : e.kind == EventKind::Send                               ? EdgeKind::Send
                          : to != 0 && settles(p_, world, e, child) ? EdgeKind::Settles
                                                                                    : EdgeKind::Plain;
    w.live.edge(to, edge_label(action_of(p_, world, e), kind, e.a));
  }

  // The step has led to the first child that is not in `reached` yet. Gives its fingerprint.
  std::uint64_t reach(Worker& w, const std::uint8_t* parent, std::uint64_t parent_f, const Event& e) {
    const std::uint8_t* child = w.children.data() + w.waiting * bytes_;
    if (space_.reduces()) {
      std::uint8_t* stands_for_it = w.represented.data() + w.waiting * bytes_;
      std::memcpy(stands_for_it, child, bytes_);
      w.renamed += space_.represent(stands_for_it, w.symmetry) ? 1 : 0;
      child = stands_for_it;
    }
    const std::uint64_t f = space_.fingerprint(child);
    seen_.prefetch(f);
    w.reached[w.waiting++] = {parent, parent_f, f, e};
    return f;
  }

  void look_up(Worker& w) {
    for (std::size_t i = 0; i < w.waiting; ++i) visit(w, w.reached[i], w.children.data() + i * bytes_, w.represented.data() + i * bytes_);
    w.waiting = 0;
  }

  void visit(Worker& w, const Reached& r, const std::uint8_t* child, const std::uint8_t* represented) {
    const SeenSet::Insert result = seen_.insert(r.fingerprint, r.parent_fingerprint, depth_ + 1);
    const bool judged = space_.judges(child);
    for (std::size_t i : step_invariants_) {
      if (decided(i) || !judged) continue;
      Limit limit;
      if (step_breaks(p_, p_.invariants[i], r.parent, r.event, w.workspace, limit)) {
        w.breaks[i].offer({r.fingerprint, r.parent_fingerprint, false, faults_in(child)});
      }
      if (limit) note_limit(w, limit);
    }
    if (result == SeenSet::Insert::Full) w.full = true;
    if (result != SeenSet::Insert::New) return;
    ++w.added;
    // A state that is the first to be judged has no judged parent to compare with.
    const bool parent_judged = judged && space_.judges(r.parent);
    w.coverage.note_state(p_, child, r.parent, w.workspace, w.limit);
    for (std::size_t i : state_invariants_) {
      // A step is judged by what it really did, and a promise of states holds in all of an orbit or in none.
      if (decided(i) || !judged || (parent_judged && same_reads(p_.invariants[i], r.parent, child))) continue;
      Limit limit;
      if (breaks(p_, p_.invariants[i], child, w.workspace, limit)) w.breaks[i].offer({r.fingerprint, 0, false, faults_in(child)});
      if (limit) note_limit(w, limit);
    }
    w.next.add(space_.reduces() ? represented : child, r.fingerprint);
  }

  void judge_rest(Worker& w, const std::uint8_t* world, std::uint64_t f) {
    ++w.rest_states;
    for (std::size_t i : final_invariants_) {
      if (decided(i)) continue;
      Limit limit;
      if (breaks(p_, p_.invariants[i], world, w.workspace, limit)) w.breaks[i].offer({f, 0, true, faults_in(world)});
      if (limit) note_limit(w, limit);
    }
  }

  // Gathers the next level and what was found on the way.
  void collect() {
    level_ = {};
    for (const auto& w : workers_) {
      level_.count += w->next.size();
      for (auto& chunk : w->next.take()) level_.chunks.push_back(std::move(chunk));
    }
    peak_frontier_ = std::max<std::uint64_t>(peak_frontier_, level_.count);
    for (std::size_t i = 0; i < breaks_.size(); ++i) {
      Break best;
      for (const auto& w : workers_) {
        if (w->breaks[i].found()) best.offer(w->breaks[i]);
        w->breaks[i] = {};
      }
      if (best.found() && !decided(i)) {
        breaks_[i] = best;
      }
    }
  }

  CheckResult finish() {
    CheckResult r;
    Limit limit;
    for (const auto& each : workers_) {
      const Worker& w = *each;
      r.transitions += w.transitions;
      r.rest_states += w.rest_states;
      r.renamed += w.renamed;
      if (w.limit && (!limit || w.limit.kind < limit.kind || (w.limit.kind == limit.kind && w.limit.arg < limit.arg))) limit = w.limit;
    }
    r.complete = stop_reason_.empty() && !limit && level_.empty_level();
    if (!stop_reason_.empty()) {
      r.why_incomplete = stop_reason_;
    } else if (limit) {
      r.why_incomplete = limit_text(p_, limit);
    } else if (!r.complete) {
      r.why_incomplete = options_.stop_at_first ? "a promise is broken: the search ended there" : "every promise is broken: the search ended there";
    }
    r.states = seen_.size();
    r.depth = level_.empty_level() ? depth_ - 1 : depth_;
    r.peak_frontier = peak_frontier_;
    r.peak_memory_bytes = std::max(peak_memory_, memory());
    r.visited_bytes = seen_.bytes();
    r.state_bytes = static_cast<int>(bytes_);
    if (const auto& symmetry = space_.symmetry()) {
      r.interchangeable = symmetry->found();
      r.kept_apart = symmetry->kept_apart();
    }
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      InvariantResult v;
      v.name = p_.invariants[i].spec.name;
      v.verdict = decided(i) ? Verdict::Violated : r.complete ? Verdict::Holds : Verdict::Inconclusive;
      // A promise of rest that was never asked for has not been kept.
      if (v.verdict == Verdict::Holds && p_.invariants[i].spec.kind == InvariantKind::FinallyEmpty && r.rest_states == 0) {
        v.verdict = Verdict::Inconclusive;
        r.why_incomplete = "no state of rest was ever reached: the promises of rest were never asked for";
      }
      if (is_liveness(p_.invariants[i].spec.kind) && !has_live_) v.verdict = Verdict::Inconclusive;
      if (decided(i)) {
        v.at_rest = breaks_[i].at_rest;
        v.trace = rebuild(breaks_[i], p_.invariants[i]);
      }
      r.invariants.push_back(std::move(v));
    }
    if (has_live_) judge_live(r);
    r.unseen = covered().unseen(p_);
    r.seconds = elapsed();
    return r;
  }

  void judge_live(CheckResult& r) {
    std::vector<LiveRecorder*> parts;
    std::vector<std::pair<std::uint64_t, int>> depths;
    for (const auto& w : workers_) {
      parts.push_back(&w->live);
      depths.insert(depths.end(), w->depths.begin(), w->depths.end());
    }
    std::sort(depths.begin(), depths.end());
    const LiveGraph graph(parts);
    r.peak_memory_bytes = std::max(r.peak_memory_bytes, seen_.bytes() + graph.bytes());
    LivenessInput input{p_, space_, graph, r.complete, {}, {}};
    input.depth = [&](std::uint64_t f) { return std::lower_bound(depths.begin(), depths.end(), std::pair{f, 0})->second; };
    input.path = [&](const std::vector<std::uint64_t>& states) { return path_through(states, nullptr); };
    for (std::size_t i : live_invariants_) {
      LivenessVerdict verdict = judge_liveness(input, i);
      r.invariants[i].verdict = verdict.verdict;
      if (!verdict.why.empty()) r.why_incomplete = verdict.why;
      if (verdict.verdict != Verdict::Violated) continue;
      r.invariants[i].trace = std::move(verdict.trace);
      r.invariants[i].cycle_from = verdict.cycle_from;
    }
  }

  std::vector<Event> rebuild(const Break& at, const Invariant& invariant) {
    if (at.parent != 0) return path_through({at.parent, at.child}, &invariant);
    return path_through({at.child}, nullptr);
  }

  std::vector<Event> path_through(const std::vector<std::uint64_t>& states, const Invariant* broken) const {
    return retrace(space_, seen_, first_, states, broken);
  }

  static std::vector<std::size_t> those_that_judge_steps(const Program& p) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < p.invariants.size(); ++i) {
      if (judges_steps(p.invariants[i])) out.push_back(i);
    }
    return out;
  }

  static std::vector<std::size_t> of_kind(const Program& p, InvariantKind kind) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < p.invariants.size(); ++i) {
      if (p.invariants[i].spec.kind == kind) out.push_back(i);
    }
    return out;
  }

  static std::vector<std::size_t> live_ones(const Program& p) {
    std::vector<std::size_t> out = of_kind(p, InvariantKind::EventuallyEmpty), more = of_kind(p, InvariantKind::Answered);
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }

  const Program& p_;
  const CheckOptions& options_;
  const std::vector<std::size_t> live_invariants_ = live_ones(p_);
  const bool has_live_ = !live_invariants_.empty() && (options_.monitor == nullptr || options_.monitor->forbids_only_paid());
  StateSpace space_;
  std::size_t bytes_;  // of a state
  SeenSet seen_;
  int threads_ = 1;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<Crew> crew_;
  std::uint64_t first_ = 0;  // fingerprint
  Level level_;
  int depth_ = 0;
  std::vector<Break> breaks_;
  std::string stop_reason_;
  std::uint64_t peak_frontier_ = 0;
  std::size_t peak_memory_ = 0;
  std::chrono::steady_clock::time_point start_;
  const std::vector<std::size_t> state_invariants_ = of_kind(p_, InvariantKind::AlwaysEmpty);
  const std::vector<std::size_t> final_invariants_ = of_kind(p_, InvariantKind::FinallyEmpty);
  const std::vector<std::size_t> step_invariants_ = those_that_judge_steps(p_);
  const bool has_final_ = !final_invariants_.empty();
};

}  // namespace

CheckResult check(const Program& program, const CheckOptions& options) { return Search(program, options).run(); }

}  // namespace oncecheck

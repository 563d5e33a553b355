#include "model/check/checker.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <tuple>

#include "invariants/evaluate.hpp"
#include "model/check/liveness.hpp"
#include "model/check/search_states.hpp"
#include "model/check/seen_set.hpp"
#include "model/step/coverage.hpp"
#include "model/step/fairness.hpp"
#include "model/step/relation.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kBatch = 64;           // states a thread takes at a time
constexpr std::size_t kSmallLevel = 512;     // below this one thread is faster than many
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

struct Frontier {  // worlds, one behind the other
  std::vector<std::uint8_t> worlds;
  std::vector<std::uint64_t> fingerprints;
};

// One thread's share of the work.
struct Worker {
  Worker(const Program& program, std::size_t state_bytes)
      : coverage(program), symmetry(program), child(state_bytes), represented(state_bytes), breaks(program.invariants.size()) {
    coverage.watch(workspace);
  }
  Workspace workspace;
  Coverage coverage;
  std::vector<Event> events;
  Symmetry::Scratch symmetry;
  std::vector<std::uint8_t> child, represented;  // the world that an event leads to, and what stands for it
  Frontier next;
  std::vector<Break> breaks;
  LiveRecorder live;
  std::uint64_t transitions = 0, rest_states = 0, renamed = 0;
  Limit limit;
  bool full = false;
};

class Search {
 public:
  Search(const Program& program, const CheckOptions& options)
      : p_(program), options_(options), states_(program, options.monitor), bytes_(states_.bytes()), seen_(1 << 14) {
    threads_ = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    for (int i = 0; i < threads_; ++i) workers_.emplace_back(program, bytes_);
    breaks_.resize(program.invariants.size());
    // A monitor may tell alike things apart. So may fairness: of two alike who change places for ever, each must act.
    if (options.symmetry && options.monitor == nullptr && !has_live_) symmetry_.emplace(program);
  }

  CheckResult run() {
    start_ = std::chrono::steady_clock::now();
    first_level();
    while (!level_.empty_level() && stop_reason_.empty() && !nothing_left_to_ask()) expand_level();
    return finish();
  }

 private:
  struct Level {
    std::vector<Frontier> parts;
    std::size_t count = 0;
    bool empty_level() const { return count == 0; }
  };

  void first_level() {
    const std::vector<std::uint8_t> first = states_.first();
    Worker& w = workers_[0];
    w.represented = first;
    represent(w.represented, w.symmetry);
    const std::uint64_t f = states_.fingerprint(w.represented.data());
    seen_.insert(f, 0, 0);
    w.next.worlds = w.represented;
    w.next.fingerprints = {f};
    w.coverage.note_state(p_, first.data(), nullptr, w.workspace, w.limit);
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      if (p_.invariants[i].spec.kind == InvariantKind::AlwaysEmpty && states_.judges(first.data()) &&
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
    for (const Worker& w : workers_) {
      out.take(w.workspace);
      out.merge(w.coverage);
    }
    return out;
  }

  void expand_level() {
    // In pieces, so that the table can grow between them.
    std::size_t part = 0, index = 0;
    while (part < level_.parts.size()) {
      const Frontier& f = level_.parts[part];
      const std::size_t piece = std::min<std::size_t>(f.fingerprints.size() - index, 1 << 16);
      if (piece > 0) {
        seen_.reserve(std::min<std::size_t>(piece * kGrowth, (1 << 16) + piece * 8));
        run_piece(f, index, index + piece);
        if (!check_limits()) return;
      }
      index += piece;
      if (index == f.fingerprints.size()) {
        ++part;
        index = 0;
      }
    }
    ++depth_;
    collect();
    if (options_.max_states > 0 && seen_.size() >= options_.max_states && !level_.empty_level()) {
      stop_reason_ = "--max-states " + std::to_string(options_.max_states) + " was reached";
    }
    if (depth_ >= kMaxDepth) stop_reason_ = "the search is deeper than 60,000 steps";
  }

  bool check_limits() {
    for (const Worker& w : workers_) {
      if (w.full) stop_reason_ = "a level grew faster than the table of states";
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
    for (const Worker& w : workers_) p.transitions += w.transitions;
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
    auto add = [&](const Frontier& f) { total += f.worlds.capacity() + f.fingerprints.capacity() * 8; };
    for (const Frontier& f : level_.parts) add(f);
    for (const Worker& w : workers_) {
      add(w.next);
      total += w.live.bytes() * 2;  // the graph is put together beside it
    }
    return total;
  }

  void run_piece(const Frontier& f, std::size_t from, std::size_t to) {
    if (threads_ == 1 || to - from < kSmallLevel) {
      for (std::size_t i = from; i < to; ++i) expand(workers_[0], &f.worlds[i * bytes_], f.fingerprints[i]);
      return;
    }
    std::atomic<std::size_t> next{from};
    auto work = [&](Worker& w) {
      for (;;) {
        const std::size_t begin = next.fetch_add(kBatch, std::memory_order_relaxed);
        if (begin >= to) return;
        for (std::size_t i = begin; i < std::min(begin + kBatch, to); ++i) expand(w, &f.worlds[i * bytes_], f.fingerprints[i]);
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < threads_; ++t) threads.emplace_back(work, std::ref(workers_[static_cast<std::size_t>(t)]));
    work(workers_[0]);
    for (std::thread& t : threads) t.join();
  }

  void expand(Worker& w, const std::uint8_t* world, std::uint64_t f) {
    enabled(p_, world, w.events);
    if (has_live_) begin_live(w, world, f);
    bool restless = false;
    for (const Event& e : w.events) {
      restless = restless || (e.fault == kNoBudget && e.kind != EventKind::StartJob);
      std::memcpy(w.child.data(), world, bytes_);
      if (!states_.allows(world, e, w.child.data())) continue;
      w.coverage.note(p_, world, e, w.workspace);
      ++w.transitions;
      if (const Limit limit = apply(p_, w.child.data(), e, w.workspace)) {
        note_limit(w, limit);
        if (has_live_) note_edge(w, world, e, 0);
        continue;
      }
      const std::uint64_t to = visit(w, world, f, e);
      if (has_live_) note_edge(w, world, e, to);
    }
    if (!restless && has_final_ && states_.judges(world) && at_rest(p_, world, w.workspace)) judge_rest(w, world, f);
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
    const bool judged = states_.judges(world);
    w.live.begin(f, judged);
    if (!judged) return;
    for (std::size_t i : live_invariants_) {
      Limit limit;
      for (const Subject s : open_subjects(p_, p_.invariants[i], world, w.workspace, limit)) w.live.open(i, s);
      if (limit) note_limit(w, limit);
    }
  }

  // The step from `world` by `e` has led to w.child; to 0: the model cannot follow it.
  void note_edge(Worker& w, const std::uint8_t* world, const Event& e, std::uint64_t to) {
    const bool paid = e.fault != kNoBudget;
    if (paid && !p_.faults[e.fault].endless) return;
    const EdgeKind kind = paid                                                      ? EdgeKind::Endless
                          : e.kind == EventKind::Send                               ? EdgeKind::Send
                          : to != 0 && settles(p_, world, e, w.child.data()) ? EdgeKind::Settles
                                                                                    : EdgeKind::Plain;
    w.live.edge(to, edge_label(action_of(p_, world, e), kind, e.a));
  }

  bool represent(std::vector<std::uint8_t>& world, Symmetry::Scratch& scratch) const {
    return symmetry_ && symmetry_->any() && symmetry_->represent(world.data(), scratch);
  }

  std::uint64_t visit(Worker& w, const std::uint8_t* parent, std::uint64_t parent_f, const Event& e) {
    w.represented = w.child;
    w.renamed += represent(w.represented, w.symmetry) ? 1 : 0;
    const std::uint64_t f = states_.fingerprint(w.represented.data());
    const SeenSet::Insert result = seen_.insert(f, parent_f, depth_ + 1);
    const bool judged = states_.judges(w.child.data());
    for (std::size_t i : step_invariants_) {
      if (decided(i) || !judged) continue;
      Limit limit;
      if (step_breaks(p_, p_.invariants[i], parent, e, w.workspace, limit)) w.breaks[i].offer({f, parent_f, false, faults_in(w.child.data())});
      if (limit) note_limit(w, limit);
    }
    if (result == SeenSet::Insert::Full) w.full = true;
    if (result != SeenSet::Insert::New) return f;
    // A state that is the first to be judged has no judged parent to compare with.
    const bool parent_judged = judged && states_.judges(parent);
    w.coverage.note_state(p_, w.child.data(), parent, w.workspace, w.limit);
    for (std::size_t i : state_invariants_) {
      // A step is judged by what it really did, and a promise of states holds in all of an orbit or in none.
      if (decided(i) || !judged || (parent_judged && same_reads(p_.invariants[i], parent, w.child.data()))) continue;
      Limit limit;
      if (breaks(p_, p_.invariants[i], w.child.data(), w.workspace, limit)) w.breaks[i].offer({f, 0, false, faults_in(w.child.data())});
      if (limit) note_limit(w, limit);
    }
    w.next.worlds.insert(w.next.worlds.end(), w.represented.begin(), w.represented.end());
    w.next.fingerprints.push_back(f);
    return f;
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
    for (Worker& w : workers_) {
      level_.count += w.next.fingerprints.size();
      level_.parts.push_back(std::move(w.next));
      w.next = {};
    }
    peak_frontier_ = std::max<std::uint64_t>(peak_frontier_, level_.count);
    for (std::size_t i = 0; i < breaks_.size(); ++i) {
      Break best;
      for (Worker& w : workers_) {
        if (w.breaks[i].found()) best.offer(w.breaks[i]);
        w.breaks[i] = {};
      }
      if (best.found() && !decided(i)) {
        breaks_[i] = best;
      }
    }
  }

  CheckResult finish() {
    CheckResult r;
    Limit limit;
    for (const Worker& w : workers_) {
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
    r.state_bytes = static_cast<int>(bytes_);
    if (symmetry_) {
      r.interchangeable = symmetry_->found();
      r.kept_apart = symmetry_->kept_apart();
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
    for (Worker& w : workers_) parts.push_back(&w.live);
    const LiveGraph graph(parts);
    r.peak_memory_bytes = std::max(r.peak_memory_bytes, seen_.bytes() + graph.bytes());
    LivenessInput input{p_, states_, graph, r.complete, {}, {}};
    input.depth = [&](std::uint64_t f) { return seen_.find(f & SeenSet::kLowBits).depth; };
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

  // From the chain of parents of the first state back to the first world, then forward again by real steps, and on through the
  // other states: the first event that leads into the orbit of the next link. `broken`, unless null, is broken by the last
  // step: then it is the first event that breaks it, since others may lead into the same orbit.
  std::vector<Event> path_through(const std::vector<std::uint64_t>& states, const Invariant* broken) {
    std::vector<std::uint64_t> chain;  // low bits, last first
    for (auto s = states.rbegin(); s != states.rend(); ++s) chain.push_back(*s & SeenSet::kLowBits);
    for (SeenSet::Entry e = seen_.find(states[0]); e.depth > 0; e = seen_.find(e.parent)) chain.push_back(e.parent);
    std::reverse(chain.begin(), chain.end());
    std::vector<Event> trace;
    std::vector<std::uint8_t> world = states_.first(), child, represented;
    std::vector<Event> events;
    Workspace workspace;
    Symmetry::Scratch scratch(p_);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      enabled(p_, world.data(), events);
      bool found = false;
      for (const Event& e : events) {
        child = world;
        if (!states_.allows(world.data(), e, child.data())) continue;
        if (apply(p_, child.data(), e, workspace)) continue;
        represented = child;
        represent(represented, scratch);
        if ((states_.fingerprint(represented.data()) & SeenSet::kLowBits) != chain[i]) continue;
        Limit limit;
        if (broken != nullptr && i + 1 == chain.size() && !step_breaks(p_, *broken, world.data(), e, workspace, limit)) continue;
        trace.push_back(e);
        world = child;
        found = true;
        break;
      }
      CHECK_THAT(found);
    }
    return trace;
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
  const SearchStates states_;
  std::size_t bytes_;  // of a state
  std::optional<Symmetry> symmetry_;
  SeenSet seen_;
  int threads_ = 1;
  std::vector<Worker> workers_;
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
  const std::vector<std::size_t> live_invariants_ = live_ones(p_);
  const bool has_final_ = !final_invariants_.empty();
  const bool has_live_ = !live_invariants_.empty() && states_.asks_liveness();
};

}  // namespace

CheckResult check(const Program& program, const CheckOptions& options) { return Search(program, options).run(); }

}  // namespace oncecheck

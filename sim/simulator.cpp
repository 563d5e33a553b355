#include "sim/simulator.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "invariants/evaluate.hpp"
#include "invariants/liveness.hpp"
#include "model/step/relation.hpp"
#include "sim/rng.hpp"

namespace oncecheck {

namespace {

struct RunEnd {
  bool rested = false, limited = false, circled = false;
};

class Runner {
 public:
  Runner(const Program& program, const SimulateOptions& options, int usual_steps)
      : p_(program), options_(options), scheduler_(program, options.strategy, usual_steps), coverage(program), found(program.invariants.size()) {
    coverage.watch(workspace_);
  }

  // What this runner has seen, into that of all.
  void add_coverage(Coverage& to) const {
    to.take(workspace_);
    to.merge(coverage);
  }

  RunEnd run(std::uint64_t number, bool judge) {
    Rng rng(Rng::derive(options_.seed, number));
    world_ = p_.initial;
    scheduler_.begin(rng);
    path.clear();
    tail_.clear();
    broken_.assign(p_.invariants.size(), !judge);
    number_ = number;
    Limit limit;
    coverage.note_state(p_, world_.data(), nullptr, workspace_, limit);
    for (int step = 0; step < options_.max_steps; ++step) {
      enabled(p_, world_.data(), events_, step < options_.faulty_steps);
      const bool only_jobs = std::all_of(events_.begin(), events_.end(), [](const Event& e) {
        return e.kind == EventKind::StartJob || e.fault != kNoBudget;
      });
      if (only_jobs && (events_.empty() || step >= options_.faulty_steps || rng.below(4) == 0) &&
          at_rest(p_, world_.data(), workspace_)) {
        judge_rest(limit);
        return {true, static_cast<bool>(limit)};
      }
      if (events_.empty()) return {false, false};
      const Event e = events_[scheduler_.pick(world_.data(), events_, step, rng)];
      coverage.note(p_, world_.data(), e, workspace_);
      before_ = world_;
      if (apply(p_, world_.data(), e, workspace_)) return {false, true};
      path.push_back(e);
      coverage.note_state(p_, world_.data(), before_.data(), workspace_, limit);
      for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
        const Invariant& invariant = p_.invariants[i];
        const bool state = invariant.spec.kind == InvariantKind::AlwaysEmpty &&
                           !same_reads(invariant, before_.data(), world_.data()) &&
                           breaks(p_, invariant, world_.data(), workspace_, limit);
        const bool step_broken = judges_steps(invariant) && step_breaks(p_, invariant, before_.data(), e, workspace_, limit);
        if (state || step_broken) note(i, false);
      }
      if (has_live_ && step >= options_.faulty_steps && goes_round(step)) return {false, static_cast<bool>(limit), true};
    }
    return {false, static_cast<bool>(limit)};
  }

  std::vector<Event> path;

 private:
  void note(std::size_t i, bool rest) {
    if (broken_[i]) return;
    broken_[i] = true;
    SimulatedInvariant& f = found[i];
    if (f.broken_runs++ > 0 && number_ >= f.first_run) return;
    f.first_run = number_;
    f.trace = path;
    f.at_rest = rest;
    f.cycle_from.reset();
  }

  void judge_rest(Limit& limit) {
    for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
      const Invariant& invariant = p_.invariants[i];
      if (invariant.spec.kind == InvariantKind::FinallyEmpty && breaks(p_, invariant, world_.data(), workspace_, limit)) note(i, true);
      // A client that has given up is open only in the light of what came before.
      const bool open = invariant.spec.kind == InvariantKind::Answered ||
                        (invariant.spec.kind == InvariantKind::EventuallyEmpty &&
                         !open_subjects(p_, invariant, world_.data(), workspace_, limit).empty());
      if (open) note_if_for_ever(i, path.size());
    }
  }

  // The path from there on, taken again and again. A random way round is mostly a fair one.
  bool note_if_for_ever(std::size_t i, std::size_t cycle_from) {
    std::string why;
    if (broken_[i] || !breaks_for_ever(p_, p_.invariants[i], path, cycle_from, why)) return false;
    const std::uint64_t before = found[i].broken_runs;
    note(i, cycle_from == path.size());
    if (found[i].broken_runs > before && found[i].first_run == number_) found[i].cycle_from = cycle_from;
    return true;
  }

  // Faults have stopped at the beginning of the tail. Now and then, when the run is back where it has been: is this a way to go
  // on for ever that breaks a promise? Then the run has told what it can.
  bool goes_round(int step) {
    constexpr int kFirst = 64, kEvery = 16;
    tail_.insert(tail_.end(), world_.begin(), world_.end());
    const int in_tail = step - options_.faulty_steps;
    if (in_tail < kFirst || in_tail % kEvery != 0) return false;
    const std::size_t bytes = world_.size(), count = tail_.size() / bytes;
    for (std::size_t t = 0; t + 1 < count; ++t) {
      if (std::memcmp(tail_.data() + t * bytes, world_.data(), bytes) != 0) continue;
      const std::size_t cycle_from = path.size() - (count - 1 - t);
      bool all = true;
      for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
        if (is_liveness(p_.invariants[i].spec.kind)) all = note_if_for_ever(i, cycle_from) && all;
      }
      return all;
    }
    return false;
  }

  const Program& p_;
  const SimulateOptions& options_;
  Scheduler scheduler_;
  const bool has_live_ = std::any_of(p_.invariants.begin(), p_.invariants.end(), [](const Invariant& i) { return is_liveness(i.spec.kind); });
  std::uint64_t number_ = 0;            // of the run
  std::vector<bool> broken_;            // by promise: this run has broken it
  std::vector<std::uint8_t> tail_;      // worlds since faults have stopped, one behind the other; only with promises of liveness
  std::vector<std::uint8_t> world_, before_;
  std::vector<Event> events_;
  Workspace workspace_;

 public:
  Coverage coverage;
  std::vector<SimulatedInvariant> found;
  std::uint64_t runs = 0, events = 0, rested = 0, circled = 0, unfinished = 0, limited = 0;
};

// The median of some uniform runs; only Pct asks for it.
int usual_steps(const Program& program, SimulateOptions options) {
  if (options.strategy != Strategy::Pct) return 1;
  options.strategy = Strategy::Uniform;
  constexpr std::uint64_t kRuns = 31, kApart = 1ull << 62;  // not the runs that count
  std::vector<std::size_t> lengths;
  Runner runner(program, options, 1);
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    runner.run(kApart + run, false);
    lengths.push_back(runner.path.size());
  }
  std::nth_element(lengths.begin(), lengths.begin() + kRuns / 2, lengths.end());
  return static_cast<int>(std::clamp<std::size_t>(lengths[kRuns / 2], 8, 500));
}

}  // namespace

SimulateResult simulate(const Program& program, const SimulateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  int threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Runner> runners;
  const int usual = usual_steps(program, options);
  for (int t = 0; t < threads; ++t) runners.emplace_back(program, options, usual);
  std::atomic<std::uint64_t> next{options.shard};
  auto work = [&](Runner& r) {
    for (std::uint64_t run = next.fetch_add(options.shards); run < options.runs; run = next.fetch_add(options.shards)) {
      const RunEnd end = r.run(run, true);
      ++r.runs;
      r.events += r.path.size();
      r.rested += end.rested ? 1 : 0;
      r.limited += end.limited ? 1 : 0;
      r.circled += end.circled ? 1 : 0;
      r.unfinished += !end.rested && !end.limited && !end.circled ? 1 : 0;
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work, std::ref(runners[static_cast<std::size_t>(t)]));
  work(runners[0]);
  for (std::thread& t : pool) t.join();

  SimulateResult result;
  result.seed = options.seed;
  result.strategy = options.strategy;
  result.shard = options.shard;
  result.shards = options.shards;
  Coverage coverage(program);
  for (std::size_t i = 0; i < program.invariants.size(); ++i) {
    SimulatedInvariant best;
    for (const Runner& r : runners) {
      const SimulatedInvariant& f = r.found[i];
      if (f.broken_runs == 0) continue;
      const std::uint64_t total = best.broken_runs + f.broken_runs;
      if (best.broken_runs == 0 || f.first_run < best.first_run) best = f;
      best.broken_runs = total;
    }
    best.name = program.invariants[i].spec.name;
    result.invariants.push_back(std::move(best));
  }
  for (const Runner& r : runners) {
    result.runs += r.runs;
    result.events += r.events;
    result.at_rest += r.rested;
    result.circled += r.circled;
    result.unfinished += r.unfinished;
    result.limited += r.limited;
    r.add_coverage(coverage);
  }
  result.unseen = coverage.unseen(program);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Event> simulate_one(const Program& program, const SimulateOptions& options, std::uint64_t run) {
  Runner runner(program, options, usual_steps(program, options));
  runner.run(run, false);
  return runner.path;
}

}  // namespace oncecheck

#include "sim/simulator.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "invariants/evaluate.hpp"
#include "invariants/liveness.hpp"
#include "model/step/relation.hpp"
#include "sim/rng.hpp"

namespace oncecheck {

namespace {

struct RunEnd {
  bool rested = false, limited = false;
};

class Runner {
 public:
  Runner(const Program& program, const SimulateOptions& options)
      : p_(program), options_(options), coverage(program), found(program.invariants.size()) {
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
    path.clear();
    std::vector<bool> broken(p_.invariants.size(), false);
    auto note = [&](std::size_t i, bool rest) {
      if (!judge || broken[i]) return;
      broken[i] = true;
      SimulatedInvariant& f = found[i];
      if (f.broken_runs++ == 0 || number < f.first_run) {
        f.first_run = number;
        f.trace = path;
        f.at_rest = rest;
      }
    };
    Limit limit;
    coverage.note_state(p_, world_.data(), nullptr, workspace_, limit);
    for (int step = 0; step < options_.max_steps; ++step) {
      enabled(p_, world_.data(), events_, step < options_.faulty_steps);
      const bool only_jobs = std::all_of(events_.begin(), events_.end(), [](const Event& e) {
        return e.kind == EventKind::StartJob || e.fault != kNoBudget;
      });
      if (only_jobs && (events_.empty() || step >= options_.faulty_steps || rng.below(4) == 0) &&
          at_rest(p_, world_.data(), workspace_)) {
        for (std::size_t i = 0; i < p_.invariants.size(); ++i) {
          if (p_.invariants[i].spec.kind == InvariantKind::FinallyEmpty &&
              breaks(p_, p_.invariants[i], world_.data(), workspace_, limit)) {
            note(i, true);
          }
          if (is_liveness(p_.invariants[i].spec.kind) &&
              !open_subjects(p_, p_.invariants[i], world_.data(), workspace_, limit).empty()) {
            note(i, true);
          }
        }
        return {true, static_cast<bool>(limit)};
      }
      if (events_.empty()) return {false, false};
      const Event e = events_[rng.below(static_cast<std::uint32_t>(events_.size()))];
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
    }
    return {false, static_cast<bool>(limit)};
  }

  std::vector<Event> path;

 private:
  const Program& p_;
  const SimulateOptions& options_;
  std::vector<std::uint8_t> world_, before_;
  std::vector<Event> events_;
  Workspace workspace_;

 public:
  Coverage coverage;
  std::vector<SimulatedInvariant> found;
  std::uint64_t events = 0, rested = 0, unfinished = 0, limited = 0;
};

}  // namespace

SimulateResult simulate(const Program& program, const SimulateOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  int threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Runner> runners;
  for (int t = 0; t < threads; ++t) runners.emplace_back(program, options);
  std::atomic<std::uint64_t> next{0};
  auto work = [&](Runner& r) {
    for (std::uint64_t run = next.fetch_add(1); run < options.runs; run = next.fetch_add(1)) {
      const RunEnd end = r.run(run, true);
      r.events += r.path.size();
      r.rested += end.rested ? 1 : 0;
      r.limited += end.limited ? 1 : 0;
      r.unfinished += !end.rested && !end.limited ? 1 : 0;
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work, std::ref(runners[static_cast<std::size_t>(t)]));
  work(runners[0]);
  for (std::thread& t : pool) t.join();

  SimulateResult result;
  result.runs = options.runs;
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
    result.events += r.events;
    result.at_rest += r.rested;
    result.unfinished += r.unfinished;
    result.limited += r.limited;
    r.add_coverage(coverage);
  }
  result.unseen = coverage.unseen(program);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<Event> simulate_one(const Program& program, const SimulateOptions& options, std::uint64_t run) {
  Runner runner(program, options);
  runner.run(run, false);
  return runner.path;
}

}  // namespace oncecheck

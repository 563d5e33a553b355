#include "model/check/conclude.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/check/liveness.hpp"

namespace oncecheck {

namespace {

using Workers = std::vector<std::unique_ptr<Worker>>;

void judge_live(const Expansion& expansion, const Workers& workers, const SearchEnd& end, CheckResult& r) {
  std::vector<LiveRecorder*> parts;
  std::vector<std::pair<std::uint64_t, int>> depths;
  for (const auto& w : workers) {
    parts.push_back(&w->live);
    depths.insert(depths.end(), w->depths.begin(), w->depths.end());
  }
  std::sort(depths.begin(), depths.end());
  const LiveGraph graph(parts);
  r.peak_memory_bytes = std::max(r.peak_memory_bytes, end.visited_bytes + graph.bytes());
  LivenessInput input{expansion.program(), expansion.space(), graph, r.complete, {}, end.path};
  input.depth = [&](std::uint64_t f) { return std::lower_bound(depths.begin(), depths.end(), std::pair{f, 0})->second; };
  for (std::size_t i : expansion.live_invariants()) {
    LivenessVerdict verdict = judge_liveness(input, i);
    r.invariants[i].verdict = verdict.verdict;
    if (!verdict.why.empty()) r.why_incomplete = verdict.why;
    if (verdict.verdict != Verdict::Violated) continue;
    r.invariants[i].trace = std::move(verdict.trace);
    r.invariants[i].cycle_from = verdict.cycle_from;
  }
}

}  // namespace

CheckResult conclude(const Expansion& expansion, const Workers& workers, const SearchEnd& end) {
  const Program& p = expansion.program();
  CheckResult r;
  Limit limit;
  for (const auto& w : workers) {
    r.transitions += w->transitions;
    r.rest_states += w->rest_states;
    r.renamed += w->renamed;
    if (w->limit && (!limit || std::tie(w->limit.kind, w->limit.arg) < std::tie(limit.kind, limit.arg))) limit = w->limit;
  }
  r.complete = end.stopped.empty() && !limit && end.exhausted;
  if (!end.stopped.empty()) {
    r.why_incomplete = end.stopped;
  } else if (limit) {
    r.why_incomplete = limit_text(p, limit);
  } else if (!r.complete) {
    r.why_incomplete =
        expansion.options().stop_at_first ? "a promise is broken: the search ended there" : "every promise is broken: the search ended there";
  }
  r.states = end.states;
  r.depth = end.depth;
  r.peak_frontier = end.peak_frontier;
  r.peak_memory_bytes = end.peak_memory_bytes;
  r.visited_bytes = end.visited_bytes;
  r.state_bytes = static_cast<int>(expansion.state_bytes());
  if (const auto& symmetry = expansion.space().symmetry()) {
    r.interchangeable = symmetry->found();
    r.kept_apart = symmetry->kept_apart();
  }
  for (std::size_t i = 0; i < p.invariants.size(); ++i) {
    InvariantResult v;
    v.name = p.invariants[i].spec.name;
    v.verdict = expansion.decided(i) ? Verdict::Violated : r.complete ? Verdict::Holds : Verdict::Inconclusive;
    // A promise of rest that was never asked for has not been kept.
    if (v.verdict == Verdict::Holds && p.invariants[i].spec.kind == InvariantKind::FinallyEmpty && r.rest_states == 0) {
      v.verdict = Verdict::Inconclusive;
      r.why_incomplete = "no state of rest was ever reached: the promises of rest were never asked for";
    }
    if (is_liveness(p.invariants[i].spec.kind) && !expansion.has_live()) v.verdict = Verdict::Inconclusive;
    if (expansion.decided(i)) {
      v.at_rest = expansion.found()[i].at_rest;
      v.trace = end.trace(expansion.found()[i], p.invariants[i]);
    }
    r.invariants.push_back(std::move(v));
  }
  if (expansion.has_live()) judge_live(expansion, workers, end, r);
  r.unseen = covered(p, workers).unseen(p);
  return r;
}

}  // namespace oncecheck

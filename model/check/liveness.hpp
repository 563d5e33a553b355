// Judges promises of liveness on the explored graph: once faults stop, is there a fair way to go on for ever on which a
// subject of the promise stays open (invariants/liveness.hpp)?
//
// Faults stop at any moment, with budgets spent or not: what counts is the graph of steps that cost no budget, from every
// reachable state. A way to go on for ever ends in one strongly connected component of it, restricted to where the subject
// is open (Boost.Graph), or in a state where nothing can happen. The promise breaks when such a component is fair: every
// action (model/step/fairness.hpp) is taken inside, or cannot happen in some state of it; and every timer ends inside. A
// part of a component is never fairer than the whole, so whole components are enough. Faults without end ("heals": false)
// are steps that nobody must take.
//
// Timers end freely only when nothing else can happen (model/README.md). A component in which a timer runs for ever is none
// when some step from it ends that timer: what comes after that is judged by itself. Otherwise the model cannot say what
// happens when work goes on for ever and the timer does end, and the promise is inconclusive.
//
// Beside a monitor a state of the graph is a world and the monitor's byte, and a subject is open only in states that are judged.
// The monitor forbids nothing but steps that a budget pays for. The graph has none of these, so what can happen in a state, and
// what is fair, is as without it.
//
// Reductions keep all this. Dead variables and canonical form merge worlds that go on alike, action by action; an idle
// instance and a click that stand for others belong to the same action as these; purges are asked of nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/check/live_graph.hpp"
#include "model/check/result.hpp"
#include "model/program/program.hpp"

namespace oncecheck {

class SearchStates;

struct LivenessInput {
  const Program& program;
  const SearchStates& states;
  const LiveGraph& graph;
  bool complete = false;                                      // every reachable state is in the graph
  std::function<int(std::uint64_t)> depth;                    // of a fingerprint in the graph
  // The shortest way to the first of these states, then on through the others, one step each.
  std::function<std::vector<Event>(const std::vector<std::uint64_t>&)> path;
};

struct LivenessVerdict {
  Verdict verdict = Verdict::Inconclusive;
  std::vector<Event> trace;    // to where the cycle begins, and once round it
  std::size_t cycle_from = 0;  // trace.size(): nothing is left to happen
  std::string why;             // Inconclusive though the graph is complete
};

// One for each promise of liveness of the program, by its number. The violation with the shortest way to it.
LivenessVerdict judge_liveness(const LivenessInput& input, std::size_t invariant);

}  // namespace oncecheck

// What an exploration found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/step/coverage.hpp"

namespace oncecheck {

enum class Verdict { Holds, Violated, Inconclusive };
const char* verdict_name(Verdict v);

struct InvariantResult {
  std::string name;
  Verdict verdict = Verdict::Inconclusive;
  std::vector<Event> trace;  // from the initial world to the violation; shortest (breadth-first)
  bool at_rest = false;      // the violation is one of rest
  // Of a promise of liveness: trace[*cycle_from..] can go on for ever; when it is empty, nothing is left to happen.
  std::optional<std::size_t> cycle_from;
};

// How many parts the states of a collapsed search had (collapsed_search.hpp). With marks that must be reached, pairs and whole depend on
// how the threads shared the work.
struct CollapsedSizes {
  std::size_t shared = 0, locals = 0;  // shared and local states
  std::size_t pairs = 0;               // of them whose steps were found out
  std::uint64_t whole = 0;             // states that were expanded as a whole
};

struct CheckResult {
  bool complete = false;        // every reachable state was explored
  std::string why_incomplete;   // the bound or limit that was reached, in words
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t rest_states = 0;
  int depth = 0;                // of the deepest level
  std::uint64_t peak_frontier = 0;
  std::size_t peak_memory_bytes = 0;  // seen set and frontiers
  std::size_t visited_bytes = 0;      // of these the set of visited states, with the links to parents
  int state_bytes = 0;
  double seconds = 0;
  std::vector<std::string> interchangeable, kept_apart;  // Symmetry::found, kept_apart; empty when it is switched off
  std::uint64_t renamed = 0;  // transitions whose world was replaced by another one of its orbit
  std::vector<InvariantResult> invariants;
  std::optional<CollapsedSizes> collapsed;  // nothing: the search was not collapsed
  Unseen unseen;  // its marks are known to be out of reach only when the search is complete
};

}  // namespace oncecheck

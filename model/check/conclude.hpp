// From a search that has ended to its result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/check/expansion.hpp"
#include "model/check/result.hpp"

namespace oncecheck {

struct SearchEnd {
  std::string stopped;      // why before its end, in words; "" when it was not stopped
  bool exhausted = false;   // no state is left to be expanded
  std::uint64_t states = 0;
  int depth = 0;
  std::uint64_t peak_frontier = 0;
  std::size_t peak_memory_bytes = 0, visited_bytes = 0;
  // A counterexample that ends in this break.
  std::function<std::vector<Event>(const Break&, const Invariant&)> trace;
  // The shortest way to the first of these states, then on through the others. Asked only for promises of liveness.
  std::function<std::vector<Event>(const std::vector<std::uint64_t>&)> path;
};

// Verdicts, counts and what was never reached. Empties the recorders of liveness. REQUIRES: the breaks have been gathered.
CheckResult conclude(const Expansion& expansion, const std::vector<std::unique_ptr<Worker>>& workers, const SearchEnd& end);

}  // namespace oncecheck

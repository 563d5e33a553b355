// Exhaustive checking: level-synchronous parallel breadth-first search over fingerprints (DESIGN 5).
//
// The result, counterexamples and counts included, does not depend on the number of threads: levels are sets, and where
// there is a choice (which parent, which of several violations of one level) the smallest fingerprint is taken.
#pragma once

#include <cstdint>
#include <functional>

#include "model/check/monitor.hpp"
#include "model/check/result.hpp"
#include "model/program/program.hpp"

namespace oncecheck {

struct Progress {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t frontier = 0;
  int depth = 0;
  double seconds = 0;
};

// What makes collapsed states sound (collapsed_steps.hpp), so that a test can leave one out and see that it is missed.
enum class CollapseRule : std::uint8_t {
  Renames,  // names of the shared state change for all local states
  Budgets,  // which budgets are left may decide what a step does
  Room,     // a step that does not find room is taken by the transition relation
  Quiet,    // and so are those of a system in which nothing happens by itself
  Alike,    // of several that are alike only one can be told from the others
};
inline constexpr int kCollapseRules = 5;

struct CheckOptions {
  int threads = 0;                     // 0: one a core
  std::uint64_t max_states = 0;        // 0: no limit
  std::uint64_t max_memory_bytes = 0;  // seen set and frontiers; 0: no limit
  bool symmetry = true;                // worlds that differ in which of alike things is which are one (step/symmetry.hpp)
  bool collapse = true;                // steps are remembered by parts of a state where that can be done (collapsed_search.hpp)
  std::uint64_t collapse_audit = 1024;  // of so many collapsed states one is expanded both ways; 0: none; 1: each, and a difference is a bug
  std::uint32_t collapse_forgets = 0;  // planted bugs of tests: bits of CollapseRule
  bool explore_all = false;            // go on to the end even when every promise is broken (counts)
  bool stop_at_first = false;          // the search ends with the level in which a promise breaks
  const Monitor* monitor = nullptr;    // null: every run counts
  std::function<void(const Progress&)> progress;  // called now and then, from the calling thread
};

CheckResult check(const Program& program, const CheckOptions& options = {});

// Words for a limit, e.g. "bounds.rows: table intent is full".
std::string limit_text(const Program& program, const Limit& limit);

}  // namespace oncecheck

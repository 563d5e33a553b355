// Where a design is open to a disturbance: for each window of its programs (window_map.hpp) and each kind of disturbance, whether
// one such event there leads to a violation.
//
// A cell is about runs of the scenario in which exactly one disturbance happens, in this window, and no other fault. What the
// clients do by themselves (clicks, retries, time-outs for which nobody has to pay) stays. The faults of the scenario are not
// looked at: a disturbance is asked for whether the scenario has a budget for it or not. With keep_faults they stay: a cell is
// then about one disturbance more than the scenario has budgets for.
//
// A promise of liveness breaks in a cell when it does after the disturbance, and is judged as in any check: a fault without end
// goes on only with keep_faults.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/check/checker.hpp"
#include "model/check/window_map.hpp"

namespace oncecheck {

enum class Safety {
  Safe,          // no promise breaks
  Unsafe,        // some promise breaks
  CannotHappen,  // the disturbance is never possible in this window, or nobody ever stands there
  Inconclusive,  // a bound or limit was reached before a promise broke
};
const char* safety_name(Safety safety);  // "safe", ...

struct WindowOptions {
  CheckOptions check;
  bool keep_faults = false;
};

struct WindowCell {
  Safety safety = Safety::CannotHappen;
  std::string why;                      // Inconclusive
  std::vector<InvariantResult> broken;  // Unsafe: each with its counterexample
};

struct WindowColumn {
  FaultKind disturbance = FaultKind::Crash;
  std::unique_ptr<Program> program;  // what its counterexamples run on
  std::vector<WindowCell> cells;     // by window
};

struct WindowTable {
  std::string scenario, variant;
  bool keep_faults = false;
  // Without a disturbance. What breaks already then is left out of the cells.
  CheckResult undisturbed;
  std::vector<Window> windows;
  // Only disturbances that can happen in some window: no failover without a replica, nothing expires without a lease.
  std::vector<WindowColumn> columns;
};

// `done` is called after each column with how many are done, and how many there are. Throws ScenarioError when the scenario
// does not compile.
WindowTable check_windows(const Scenario& scenario, const WindowOptions& options,
                          const std::function<void(std::size_t, std::size_t)>& done = {});

// The scenario with one fault of this kind and no other, or with one more, compiled. Throws ScenarioError for a name that is no
// disturbance.
std::unique_ptr<Program> disturbed_program(const Scenario& scenario, const std::string& fault, bool keep_faults);

}  // namespace oncecheck

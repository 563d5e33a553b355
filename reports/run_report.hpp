// What a run of `check` or `simulate` gives for one variant, ready to be rendered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/check/result.hpp"
#include "model/program/program.hpp"
#include "model/step/trace.hpp"
#include "reports/hygiene.hpp"
#include "sim/simulator.hpp"

namespace oncecheck {

struct VerdictReport {
  std::string invariant;
  Verdict verdict = Verdict::Inconclusive;
  std::optional<Expectation> expected;
  std::optional<Trace> trace;
  std::uint64_t broken_runs = 0;  // simulate
};

struct RunReport {
  std::string scenario;
  std::string variant;
  std::string title;
  std::string mode;  // "check" | "simulate"
  CheckResult check;
  std::optional<SimulateResult> simulated;
  std::vector<VerdictReport> verdicts;
  Hygiene hygiene;
  std::vector<std::string> count_mismatches;  // pinned counts that differ
  std::vector<std::string> coverage;          // actors and budgets, in words
  bool expects_violation_of_any = false;      // "expect": "violated"
  bool has_expect = false;
};

// The outcome of a variant as an exit status (DESIGN 7): 0 as expected, 1 not, 3 inconclusive, 5 vacuous (a mark of "must_reach"
// was not reached, or a promise that holds was never armed, and that is not marked as intended).
int exit_status(const RunReport& report);

RunReport make_report(const Program& program, const CheckResult& result, const std::map<std::string, std::string>& overrides);
RunReport make_report(const Program& program, const SimulateResult& result, const std::map<std::string, std::string>& overrides);

// The JSON of DESIGN 7. Times are left out when `with_times` is false: the rest is the same bytes on every run.
std::string to_json(const std::vector<RunReport>& reports, bool with_times);

struct TextOptions {
  bool verbose = false;
  bool color = false;
  bool unicode = true;
};
std::string to_text(const RunReport& report, const TextOptions& options);
// When a counterexample breaks its promise: "in 16 steps"; one of liveness "after 6 steps and then for ever (a cycle of 12)".
std::string broken_when(std::size_t steps, const std::optional<std::size_t>& cycle_from);
std::string summary(const std::vector<RunReport>& reports, double seconds);

}  // namespace oncecheck

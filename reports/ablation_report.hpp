// What `oncecheck ablate` prints and writes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/check/ablation.hpp"
#include "model/step/trace.hpp"
#include "reports/run_report.hpp"

namespace oncecheck {

// The table of one variant.
std::string to_text(const Ablation& ablation, const TextOptions& options);

// {"tool", "version", "results": [...]}; the same bytes on every run.
std::string to_json(const std::vector<Ablation>& ablations);

// The counterexamples of a mutant, one for each promise that broke. Empty unless it is load-bearing.
std::vector<Trace> traces_of(const MutantResult& mutant, const std::map<std::string, std::string>& overrides);

// 0; 3 when some mutant, or the variant itself, is inconclusive; 2 when the variant breaks a promise, so that nothing was done.
int exit_status(const Ablation& ablation);

}  // namespace oncecheck

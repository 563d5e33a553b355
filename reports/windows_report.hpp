// What `oncecheck windows` prints and writes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/check/windows.hpp"
#include "model/step/trace.hpp"
#include "reports/run_report.hpp"

namespace oncecheck {

// The table of one variant, then what breaks in its unsafe cells.
std::string to_text(const WindowTable& table, const TextOptions& options);

// {"tool", "version", "results": [...]}; the same bytes on every run.
std::string to_json(const std::vector<WindowTable>& tables);

// The counterexamples of a cell, one for each promise that broke.
std::vector<Trace> traces_of(const WindowTable& table, const WindowColumn& column, const WindowCell& cell,
                             const std::map<std::string, std::string>& overrides);

// 0; 3 when some cell is inconclusive.
int exit_status(const WindowTable& table);

}  // namespace oncecheck

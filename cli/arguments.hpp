// What several commands take.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "model/check/checker.hpp"
#include "model/program/scenario_reader.hpp"
#include "reports/run_report.hpp"
#include "reports/timeline.hpp"

namespace oncecheck {

struct Arguments {
  std::vector<std::string> paths;
  std::string variant;
  std::vector<std::string> sets;
  int threads = 0;
  std::uint64_t max_states = 0;
  std::string max_memory;
  std::string json;
  bool no_times = false;
  std::string traces;
  bool explain = false;
  bool quiet = false;
  bool verbose = false;
  bool no_reductions = false;
  bool no_symmetry = false, no_collapse = false;
  bool explore_all = false;
  bool keep_faults = false;
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  std::string strategy = "uniform";
  std::string shard;
  std::string trace;
};

// Of --set NAME=VALUE. Throws ScenarioError.
Overrides overrides_of(const Arguments& arguments);

// Threads and limits of a search. Throws ScenarioError for a --max-memory that is no size.
CheckOptions check_options(const Arguments& arguments);

TextOptions text_options(const Arguments& arguments, const Terminal& terminal);

// A run that breaks a promise, as a time line, between empty lines.
void print_story(const Program& program, const std::vector<Event>& events, const TimelineEnd& end, const Terminal& terminal,
                 std::FILE* out);

}  // namespace oncecheck

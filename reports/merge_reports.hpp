// Puts the JSON reports of the shards of one simulation together.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace oncecheck {

struct MergedReports {
  std::string json;  // without times: the bytes that one simulation of all runs gives with --no-times
  std::string text;  // a line for each promise
  int status = 0;    // as of a simulation
};

// files: name and content, one for each shard, in any order. Throws ScenarioError when one is no report of `simulate`, when
// they differ in what they simulated, or when a shard is missing or there twice.
MergedReports merge_reports(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace oncecheck

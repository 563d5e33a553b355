// Files that a command line names.
#pragma once

#include <string>
#include <vector>

namespace oncecheck {

// Scenario files (*.json, *.jsonc) of the arguments: files as they are, folders with what is below them, sorted by name.
// Throws ScenarioError for what does not exist and for a folder without scenarios.
std::vector<std::string> scenario_files(const std::vector<std::string>& arguments);

// Writes a file or throws ScenarioError.
void write_file(const std::string& path, const std::string& text);

}  // namespace oncecheck

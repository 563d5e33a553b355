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

// What --json asks for: "" nothing, "-" standard output, else a file.
void write_report(const std::string& path, const std::string& text);

// Makes a folder, with those above it, or throws ScenarioError.
void make_folder(const std::string& path);

// A text as part of a file's name: what is not a letter, a digit or '-' becomes '_'.
std::string file_stem(const std::string& text);

// "FOLDER/SCENARIO.VARIANT": how the traces of a variant begin.
std::string trace_stem(const std::string& folder, const std::string& scenario, const std::string& variant);

}  // namespace oncecheck

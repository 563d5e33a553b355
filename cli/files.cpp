#include "cli/files.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "model/program/diagnostic.hpp"

namespace oncecheck {

namespace fs = std::filesystem;

std::vector<std::string> scenario_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      if (!fs::exists(argument, error)) throw ScenarioError({argument, "", 0, 0}, "there is no such file or folder");
      files.push_back(argument);
      continue;
    }
    std::vector<std::string> found;
    auto at = fs::recursive_directory_iterator(argument, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      const std::string extension = at->path().extension().string();
      std::error_code unreadable;
      if (at->is_regular_file(unreadable) && (extension == ".json" || extension == ".jsonc")) found.push_back(at->path().string());
    }
    if (error) throw ScenarioError({argument, "", 0, 0}, "cannot read this folder: " + error.message());
    if (found.empty()) throw ScenarioError({argument, "", 0, 0}, "this folder has no scenario (*.json, *.jsonc)");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw ScenarioError({path, "", 0, 0}, "cannot write this file");
}

void write_report(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::fputs(text.c_str(), stdout);
  } else {
    write_file(path, text);
  }
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw ScenarioError({path, "", 0, 0}, "cannot make this folder: " + error.message());
}

std::string file_stem(const std::string& text) {
  std::string out;
  for (char c : text) out += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return out;
}

std::string trace_stem(const std::string& folder, const std::string& scenario, const std::string& variant) {
  return folder + "/" + file_stem(fs::path(scenario).stem().string()) + (variant.empty() ? "" : "." + file_stem(variant));
}

}  // namespace oncecheck

#include "tests/support/tool.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace oncecheck::testing {

Run run_tool(const std::string& arguments, bool both) {
  Run run;
  const std::string command = std::string(ONCECHECK_BINARY) + " " + arguments + (both ? " 2>&1" : " 2>/dev/null");
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer;
  for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) run.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return run;
}

std::string temporary(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "oncecheck-cli-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path) << text;
  return path;
}

}  // namespace oncecheck::testing

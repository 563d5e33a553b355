// The command line tool, run as a user runs it.
#pragma once

#include <string>

namespace oncecheck::testing {

struct Run {
  int status = -1;
  std::string out;
};

// Standard output only; standard error is dropped unless `both`.
Run run_tool(const std::string& arguments, bool both = false);

// A file of this name and text in a folder for tests; its path.
std::string temporary(const std::string& name, const std::string& text);

}  // namespace oncecheck::testing

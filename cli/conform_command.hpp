// `oncecheck conform`: recorded vectors against the model.
#pragma once

#include <string>
#include <vector>

namespace oncecheck {

struct ConformArguments {
  std::vector<std::string> paths;
  std::string engine;  // "" for all
  std::string json;
  int threads = 0;
  bool verbose = false;
  bool quiet = false;
};

int run_conform(const ConformArguments& arguments);

}  // namespace oncecheck

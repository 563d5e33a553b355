// What `conform` found, as text and as JSON.
#pragma once

#include <string>

#include "sim/conform/conform.hpp"

namespace oncecheck {

struct ConformText {
  bool verbose = false;  // also what the model allows besides, for vectors that are allowed
  bool quiet = false;    // no table of topics
};

// Each mismatch step by step, the unsupported ones with their reasons, counts by topic and engine; the last line counts
// all.
std::string to_text(const ConformReport& report, const ConformText& options);

std::string to_json(const ConformReport& report);

}  // namespace oncecheck

// A story as text: one lane a participant, a line a step, what changed below it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/program/program.hpp"
#include "reports/story.hpp"

namespace oncecheck {

struct TimelineOptions {
  bool unicode = true;
  bool color = false;
  int width = 0;  // 0: no wrapping
};

struct TimelineEnd {
  std::string invariant;  // the promise that breaks at the end; "" when none does
  bool at_rest = false;   // it is one of rest
  std::optional<std::size_t> cycle_from;  // it is one of liveness: the steps from there on are repeated for ever
};

std::string timeline(const Program& program, const Story& story, const TimelineEnd& end, const TimelineOptions& options = {});

}  // namespace oncecheck

// A story as text: one lane a participant, a line a step, what changed below it.
#pragma once

#include <string>

#include "model/program/program.hpp"
#include "reports/story.hpp"

namespace oncecheck {

struct TimelineOptions {
  bool unicode = true;
  bool color = false;
  int width = 0;  // 0: no wrapping
};

// `invariant`: the promise that breaks at the end; "" when none does. `at_rest`: it is one of rest.
std::string timeline(const Program& program, const Story& story, const std::string& invariant, bool at_rest,
                     const TimelineOptions& options = {});

}  // namespace oncecheck

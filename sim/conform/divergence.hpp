// Where the model leaves a record.
#pragma once

#include <string>
#include <vector>

#include "sim/conform/outcome.hpp"

namespace oncecheck {

// One way in which it does.
struct Divergence {
  struct Line {
    int step = 0;  // -1: a table at the end
    std::string expected;
    std::string got;
  };
  int step = 0;  // during which; the number of steps for the final contents
  std::vector<Line> lines;
};

// What returned during the step against what the record says had returned by its end. No lines: the same.
Divergence differences(Engine engine, const Recording& recording, int step, const std::vector<StepOutcome>& returned);

// Adds one that is not there yet.
void add_divergence(std::vector<Divergence>& all, Divergence d);

// The latest first; of many only some.
void keep_latest(std::vector<Divergence>& all);

}  // namespace oncecheck

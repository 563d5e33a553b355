// What the terminal can do, and the progress line.
#pragma once

#include <string>

#include "model/check/checker.hpp"

namespace oncecheck {

struct Terminal {
  bool is_terminal = false;
  bool color = false;    // a terminal, and NO_COLOR is not set
  bool unicode = true;   // the locale is UTF-8
  int width = 0;         // 0: not a terminal
};
Terminal stdout_terminal();

// A line on standard error that is written over; only on a terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  // `before` stands in front: how much of a longer work is done.
  void show(const Progress& progress, const std::string& before = "");
  void clear();

 private:
  bool on_ = false;
  bool shown_ = false;
  double last_ = -1;
};

}  // namespace oncecheck

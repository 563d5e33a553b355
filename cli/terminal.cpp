#include "cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace oncecheck {

Terminal stdout_terminal() {
  Terminal t;
  t.is_terminal = isatty(STDOUT_FILENO) != 0;
  t.color = t.is_terminal && std::getenv("NO_COLOR") == nullptr;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == 0) continue;
    const std::string locale = value;
    t.unicode = locale.find("UTF-8") != std::string::npos || locale.find("utf8") != std::string::npos || !t.is_terminal;
    break;
  }
  winsize size{};
  if (t.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) t.width = size.ws_col;
  return t;
}

ProgressLine::ProgressLine() : on_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& p, const std::string& before) {
  // One of many short searches begins at 0 again.
  if (p.seconds < last_) last_ = p.seconds - 0.2;
  if (!on_ || (shown_ && p.seconds - last_ < 0.2) || (before.empty() && p.seconds < 0.3)) return;
  last_ = p.seconds;
  shown_ = true;
  const double rate = p.seconds > 0 ? static_cast<double>(p.states) / p.seconds : 0;
  const std::string line = fmt::format("\r\033[K{}{} states, {:.0f} states/s, frontier {}, depth {}", before, p.states, rate, p.frontier, p.depth);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace oncecheck

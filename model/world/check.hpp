// Always-on checks of our own invariants. A failed CHECK is our bug, never the user's: the program says where and exits
// with status 4 (DESIGN: exit statuses). User mistakes are ScenarioErrors.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace oncecheck {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "oncecheck: internal error: CHECK(%s) failed at %s:%d. This is a bug in oncecheck.\n", condition,
               file, line);
  std::fflush(stderr);
  std::_Exit(4);
}

}  // namespace oncecheck

#define CHECK_THAT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::oncecheck::check_failed(#condition, __FILE__, __LINE__))

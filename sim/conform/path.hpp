// One way in which a recording has gone so far: the world, and what the driver knows of its sessions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/conform/outcome.hpp"
#include "sim/conform/timers.hpp"

namespace oncecheck {

struct SessionRun {
  int step = -1;  // whose statement is running, -1: none
  int statement = -1;
  int wait_step = -1;  // step during which the present wait began
  std::int64_t wait_since = 0;
  std::int64_t since = 0;  // when the statement began, or the last one ended
  Timeouts timeouts;
  Timeouts outside;  // those that hold again after the transaction (SET LOCAL)
  bool paused = false;
  bool lost = false;  // its client has no connection any more
  Json result;        // of a statement whose commit is still to come

  bool running() const { return statement >= 0; }
};

struct Path {
  std::vector<std::uint8_t> world;
  std::vector<SessionRun> sessions;     // by session of the vector, the administrator last
  std::vector<std::int64_t> deadlines;  // by slot: when it passes
  std::vector<int> waiters;             // the model's sessions, in the order in which their waits began
  std::int64_t clock = 0;
  std::vector<StepOutcome> returned;  // during the present step
};

using Paths = std::vector<Path>;

// Equal for paths that go on alike.
std::string key_of(const Path& p);

}  // namespace oncecheck

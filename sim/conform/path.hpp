// What the driver knows of one possible course of a vector.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/conform/driver.hpp"
#include "sim/conform/timers.hpp"

namespace oncecheck {

// What a session of the vector is about.
struct SessionRun {
  int step = -1;            // whose statement is running, -1: none
  int statement = -1;
  int wait_step = -1;       // step during which the present wait began
  std::int64_t wait_since = 0;
  std::int64_t since = 0;   // when the statement began, or the last one ended
  Timeouts timeouts;
  Timeouts outside;         // those that hold again after the transaction (SET LOCAL)
  bool paused = false;
  bool lost = false;        // its client has no connection any more
  Json result;              // of a statement whose commit is still to come

  bool running() const { return statement >= 0; }
};

// One way in which the model may have behaved so far.
struct Path {
  std::vector<std::uint8_t> world;
  std::vector<SessionRun> sessions;  // by session of the vector, the administrator last
  std::vector<std::int64_t> deadlines;  // by slot: when it passes
  std::int64_t clock = 0;
  std::vector<StepOutcome> returned;     // during the present step
  int closer = -1;                       // the session that was the last to begin a wait
};

// Two paths with the same key go on alike.
std::string key_of(const Path& p);

// Adds a divergence unless there is one like it.
void leave(std::vector<Divergence>& divergences, Divergence d);
// The few that got farthest, the latest first.
void keep_latest(std::vector<Divergence>& divergences);

}  // namespace oncecheck

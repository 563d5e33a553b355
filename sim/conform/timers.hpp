// Lengths of time-outs and deadlines. The model's time has no numbers; the driver of a recording keeps a clock of its
// own.
#pragma once

#include <cstdint>

#include "model/world/plan.hpp"

namespace oncecheck {

inline constexpr std::int64_t kNever = INT64_MAX;

struct Timeouts {  // of a session, in milliseconds
  std::int64_t lock = kNever;
  std::int64_t statement = kNever;
  std::int64_t idle = kNever;
  enum class Idle : std::uint8_t { Always, InTransaction, OutsideTransaction } idle_when = Idle::Always;
};

Timeouts default_timeouts(Engine engine);

// Whether the idle time-out runs for a session that does nothing.
bool idles(const Timeouts& t, bool in_transaction);

// What a SET changes: now, and after the transaction (all but SET LOCAL).
void set_timeout(Timeouts& now, Timeouts& outside, const SqlStatement& statement);

// How long the statement waits for a lock at most.
std::int64_t lock_wait(const Plan& plan, Engine engine, const Timeouts& timeouts, const SqlStatement& statement);

// How long an instant that the statement stored runs before it counts as passed: the longest interval that the
// statement names; for a stored NOW() the longest that anything in the scenario looks back.
std::int64_t deadline_length(const Plan& plan, const SqlStatement& statement);

}  // namespace oncecheck

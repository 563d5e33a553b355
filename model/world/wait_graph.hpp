// Who waits for whom, and cycles of that (deadlocks). A session that waits has an edge to one of those that are in its
// way: the one that its server looks at. MariaDB and MySQL follow that edge only (Deadlock::find_cycle,
// lock_wait_find_and_handle_deadlocks), and look again when it changes; a PostgreSQL backend sleeps on one transaction
// or lock at a time.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Whether `session` waits in a cycle of waits.
bool in_deadlock(const Plan& plan, const std::uint8_t* w, int session);

// InnoDB's own choice among the sessions of the cycle that `closer` has closed: the lightest, on a tie the closer; -1:
// no cycle. The checker explores every choice.
int expected_victim(const Plan& plan, std::uint8_t* w, int closer);

}  // namespace oncecheck

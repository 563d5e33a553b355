// Savepoints (PostgreSQL manual, SAVEPOINT). A transaction has a depth: 0 outside of any savepoint, one more for each open one.
// Versions and locks remember the depth that they were made at.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

int savepoint_depth(const Layout& layout, const std::uint8_t* w, int session);
void clear_savepoints(const Layout& layout, std::uint8_t* w, int session);
// False when more than kMaxSavepoints are open.
bool push_savepoint(const Layout& layout, std::uint8_t* w, int session, int name);
// The depth inside the newest open savepoint of that name, 0 when there is none.
int find_savepoint(const Layout& layout, const std::uint8_t* w, int session, int name);
void set_savepoint_depth(const Layout& layout, std::uint8_t* w, int session, int depth);

// PostgreSQL: undoes what was made at `level` or deeper, and frees the row locks, keys and advisory locks taken there.
// Who waited for the session looks again.
void undo_to_level(const Plan& plan, std::uint8_t* w, int session, int level);
// PostgreSQL: what was made deeper than `level` now belongs to it (RELEASE).
void merge_levels(const Plan& plan, std::uint8_t* w, int session, int level);

}  // namespace oncecheck

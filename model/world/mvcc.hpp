// Row versions and who sees them (PostgreSQL manual 13.2; README.MVCC of heapam). Snapshots are ordinals: the oldest live
// snapshot of a database is 1, the next 2, ...; a committed version carries the number of live snapshots that do not see it.
// When a snapshot ends, all numbers above it move down and versions that nobody can see any more leave the world.
#pragma once

#include <cstdint>

#include "model/world/plan.hpp"

namespace oncecheck {

// Whether a reader sees this version. session: global number or -1; snapshot: ordinal, 0 for the newest committed.
// A version made by the statement that is still running is invisible to it; one ended by it still visible.
bool version_visible(const std::uint8_t* version, int session, int snapshot);

inline bool in_progress(std::uint8_t x) { return x >= kInProgress; }
inline int owner_of(std::uint8_t x) { return x - kInProgress; }
inline std::uint8_t mark_of(int session) { return static_cast<std::uint8_t>(kInProgress + session); }

// Live snapshots of the database.
int live_snapshots(const Layout& layout, const std::uint8_t* w, int db);

// Registers a snapshot for the session if it has none; gives its ordinal.
int take_snapshot(const Layout& layout, std::uint8_t* w, int session);
void release_snapshot(const Layout& layout, std::uint8_t* w, int session);

// A free slot of the table, behind the used ones as long as there is room (a heap grows at its end); -1 when it is full.
int free_version(const TableLayout& table, const std::uint8_t* w);

}  // namespace oncecheck

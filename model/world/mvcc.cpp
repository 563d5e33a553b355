#include "model/world/mvcc.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/cells.hpp"

namespace oncecheck {

bool version_visible(const std::uint8_t* version, int session, int snapshot) {
  const std::uint8_t xmin = version[kXmin];
  if (xmin == 0) return false;
  if (in_progress(xmin)) {
    if (session < 0 || owner_of(xmin) != session || (version[kFlags] & kMadeByCommand)) return false;
  } else if (snapshot > 0 && snapshot <= xmin - 1) {
    return false;
  }
  const std::uint8_t xmax = version[kXmax];
  if (xmax == 0) return true;
  if (in_progress(xmax)) return session < 0 || owner_of(xmax) != session || (version[kFlags] & kEndedByCommand);
  return snapshot > 0 && snapshot <= xmax - 1;
}

int live_snapshots(const Layout& layout, const std::uint8_t* w, int db) {
  int live = 0;
  for (int s : layout.databases[static_cast<std::size_t>(db)].sessions) {
    live = std::max<int>(live, w[layout.sessions[static_cast<std::size_t>(s)].offset + kSnapshot]);
  }
  return live;
}

int take_snapshot(const Layout& layout, std::uint8_t* w, int session) {
  const SessionLayout& s = layout.sessions[static_cast<std::size_t>(session)];
  std::uint8_t& mine = w[s.offset + kSnapshot];
  if (mine != 0) return mine;
  const int live = live_snapshots(layout, w, s.db);
  bool changed_since = live == 0;
  for (int t : layout.databases[static_cast<std::size_t>(s.db)].tables) {
    const TableLayout& table = layout.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots && !changed_since; ++i) {
      const std::uint8_t* v = slot_of(table, w, i);
      for (int k : {kXmin, kXmax}) {
        if (v[k] != 0 && !in_progress(v[k]) && v[k] - 1 >= live) changed_since = true;
      }
    }
  }
  mine = static_cast<std::uint8_t>(changed_since ? live + 1 : live);
  return mine;
}

void release_snapshot(const Layout& layout, std::uint8_t* w, int session) {
  const SessionLayout& s = layout.sessions[static_cast<std::size_t>(session)];
  const int mine = w[s.offset + kSnapshot];
  if (mine == 0) return;
  w[s.offset + kSnapshot] = 0;
  const DatabaseLayout& db = layout.databases[static_cast<std::size_t>(s.db)];
  for (int other : db.sessions) {
    if (w[layout.sessions[static_cast<std::size_t>(other)].offset + kSnapshot] == mine) return;
  }
  for (int other : db.sessions) {
    std::uint8_t& snapshot = w[layout.sessions[static_cast<std::size_t>(other)].offset + kSnapshot];
    if (snapshot > mine) --snapshot;
  }
  for (int t : db.tables) {
    const TableLayout& table = layout.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots; ++i) {
      std::uint8_t* v = slot_of(table, w, i);
      for (int k : {kXmin, kXmax}) {
        if (v[k] != 0 && !in_progress(v[k]) && v[k] - 1 >= mine) --v[k];
      }
      // Its end is visible to every snapshot: nobody reads it again, and what it was replaced by stands on its own. (InnoDB
      // has locks on it to see to: InnodbRows::purge.)
      if (v[kXmax] == 1 && !is_innodb(db.engine)) std::memset(v, 0, static_cast<std::size_t>(table.stride));
    }
  }
}

int free_version(const TableLayout& table, const std::uint8_t* w) {
  int last_used = -1, first_free = -1;
  for (int i = 0; i < table.slots; ++i) {
    if (slot_of(table, w, i)[kXmin] != 0) {
      last_used = i;
    } else if (first_free < 0) {
      first_free = i;
    }
  }
  return last_used + 1 < table.slots ? last_used + 1 : first_free;
}

}  // namespace oncecheck

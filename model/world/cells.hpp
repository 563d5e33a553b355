// Reading and writing value cells. Small and inline: this is the innermost loop.
#pragma once

#include <cstdint>
#include <cstring>

#include "model/world/plan.hpp"

namespace oncecheck {

inline CellId load_cell(const Layout& layout, const std::uint8_t* p) {
  return layout.cell == 1 ? p[0] : static_cast<CellId>(p[0] | (p[1] << 8));
}

inline void store_cell(const Layout& layout, std::uint8_t* p, CellId id) {
  p[0] = static_cast<std::uint8_t>(id);
  if (layout.cell == 2) p[1] = static_cast<std::uint8_t>(id >> 8);
}

inline std::uint8_t* slot_of(const TableLayout& t, std::uint8_t* w, int slot) { return w + t.offset + slot * t.stride; }
inline const std::uint8_t* slot_of(const TableLayout& t, const std::uint8_t* w, int slot) {
  return w + t.offset + slot * t.stride;
}
inline CellId column_of(const Layout& layout, const TableLayout& t, const std::uint8_t* slot, int column) {
  return load_cell(layout, slot + t.cells + column * layout.cell);
}

// Calls visit(table, version) for every row version of a database, whoever made it.
template <class Visit>
void each_version(const Layout& layout, std::uint8_t* w, int db, Visit visit) {
  for (int t : layout.databases[static_cast<std::size_t>(db)].tables) {
    const TableLayout& table = layout.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots; ++i) {
      std::uint8_t* v = slot_of(table, w, i);
      if (v[kXmin] != 0) visit(table, v);
    }
  }
}

inline int load_pc(const std::uint8_t* task) { return task[kPc] | (task[kPc + 1] << 8); }
inline void store_pc(std::uint8_t* task, int pc) {
  task[kPc] = static_cast<std::uint8_t>(pc);
  task[kPc + 1] = static_cast<std::uint8_t>(pc >> 8);
}

}  // namespace oncecheck

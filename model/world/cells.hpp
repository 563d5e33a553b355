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

// Calls visit(offset, id) for each value cell that holds an id from `first` on, in their order. What is numbered (fresh values,
// deadlines) has the highest ids of a domain, so this passes over most cells without looking at each.
template <class Visit>
void each_value_from(const Layout& layout, const std::uint8_t* w, CellId first, Visit visit) {
  if (layout.cell > 1) {
    for (int offset : layout.value_cells) {
      const CellId id = load_cell(layout, w + offset);
      if (id >= first) visit(offset, id);
    }
    return;
  }
  if (layout.value_cells.empty() || first > 255) return;
  constexpr int kStep = 16;
  typedef std::uint8_t Bytes __attribute__((vector_size(kStep)));
  typedef std::uint64_t Words __attribute__((vector_size(kStep)));
  const Bytes least = Bytes{} + static_cast<std::uint8_t>(first);
  const int end = layout.value_cells.back() + 1;
  for (int at = layout.value_cells.front(); at < end; at += kStep) {
    Bytes cells{}, mask{};
    const auto size = static_cast<std::size_t>(end - at < kStep ? end - at : kStep);
    if (size == kStep) {
      std::memcpy(&cells, w + at, kStep);
      std::memcpy(&mask, layout.value_mask.data() + at, kStep);
    } else {
      std::memcpy(&cells, w + at, size);
      std::memcpy(&mask, layout.value_mask.data() + at, size);
    }
    const Words found = reinterpret_cast<Words>(reinterpret_cast<Bytes>(cells >= least) & mask);
    if ((found[0] | found[1]) == 0) continue;
    for (int i = 0; i < static_cast<int>(size); ++i) {
      if (mask[i] != 0 && w[at + i] >= first) visit(at + i, CellId{w[at + i]});
    }
  }
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

// Moving the slots of a table. Internal to the canonical form.
#pragma once

#include <cstring>

#include "model/world/cells.hpp"

namespace oncecheck {

inline constexpr int kMaxTableSlots = 64;
inline constexpr int kMaxStride = 160;  // bytes a slot, of a table or a bag

// Which slot goes where: the order that `precedes(a, b)` asks for among slots a and b, by insertion sort. False when it is
// there already.
struct SlotOrder {
  int old_of_new[kMaxTableSlots];
  int new_of_old[kMaxTableSlots];

  template <class Precedes>
  bool sort(int slots, Precedes precedes) {
    bool sorted = true;
    for (int i = 0; i < slots; ++i) {
      int at = i;
      for (; at > 0 && precedes(i, old_of_new[at - 1]); --at) old_of_new[at] = old_of_new[at - 1];
      old_of_new[at] = i;
      sorted = sorted && at == i;
    }
    for (int i = 0; i < slots; ++i) new_of_old[old_of_new[i]] = i;
    return !sorted;
  }

  // The name of a slot: 1 + its number, 0 for none.
  void rename(std::uint8_t& name) const {
    if (name != 0) name = static_cast<std::uint8_t>(new_of_old[name - 1] + 1);
  }

  // Moves the versions; the successor that each names follows. Other names of slots are for the caller.
  void move(const TableLayout& t, std::uint8_t* w) const {
    std::uint8_t before[kMaxTableSlots * kMaxStride];
    const auto stride = static_cast<std::size_t>(t.stride);
    std::memcpy(before, w + t.offset, stride * static_cast<std::size_t>(t.slots));
    for (int i = 0; i < t.slots; ++i) {
      std::uint8_t* v = slot_of(t, w, i);
      std::memcpy(v, before + stride * static_cast<std::size_t>(old_of_new[i]), stride);
      rename(v[kNext]);
    }
  }
};

}  // namespace oncecheck

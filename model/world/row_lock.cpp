#include "model/world/row_lock.hpp"

#include <algorithm>

namespace oncecheck {

bool conflicts(RowLock a, RowLock b) {
  if (a == RowLock::None || b == RowLock::None) return false;
  const RowLock weak = std::min(a, b), strong = std::max(a, b);
  switch (weak) {
    case RowLock::KeyShare: return strong == RowLock::Update;
    case RowLock::Share: return strong >= RowLock::NoKeyUpdate;
    default: return true;
  }
}

void add_row_lock(std::uint8_t& byte, RowLock lock, int level) {
  const RowLock held = held_lock(byte);
  if (held >= lock) return;
  const int before = (byte >> 3 & 7) < level ? static_cast<int>(held) : byte >> 6;
  byte = static_cast<std::uint8_t>(static_cast<int>(lock) | level << 3 | before << 6);
}

void undo_row_lock(std::uint8_t& byte, int level) {
  if ((byte >> 3 & 7) >= level) byte = static_cast<std::uint8_t>(byte >> 6);
}

void merge_row_lock(std::uint8_t& byte, int level) {
  if ((byte >> 3 & 7) > level) byte = static_cast<std::uint8_t>((byte & 0xC7) | level << 3);
}

int lock_holder(const Layout& layout, const TableLayout& table, const std::uint8_t* version, int number, RowLock want) {
  if (table.locks < 0) return -1;
  for (int n = 0; n < table.lock_sessions; ++n) {
    const RowLock held = held_lock(version[table.locks + n]);
    if (n != number && conflicts(held, want)) {
      return layout.databases[static_cast<std::size_t>(table.db)].sessions[static_cast<std::size_t>(n)];
    }
  }
  return -1;
}

}  // namespace oncecheck

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

int lock_holder(const Layout& layout, const TableLayout& table, const std::uint8_t* version, int number, RowLock want) {
  if (table.locks < 0) return -1;
  for (int n = 0; n < table.lock_sessions; ++n) {
    const std::uint8_t held = version[table.locks + n];
    if (n != number && held != 0 && conflicts(static_cast<RowLock>(held), want)) {
      return layout.databases[static_cast<std::size_t>(table.db)].sessions[static_cast<std::size_t>(n)];
    }
  }
  return -1;
}

}  // namespace oncecheck

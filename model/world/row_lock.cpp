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

}  // namespace oncecheck

#include "model/step/canonical_innodb.hpp"

#include <algorithm>
#include <cstring>

#include "model/step/slots.hpp"
#include "model/world/innodb_locks.hpp"

namespace oncecheck {

namespace {

static_assert(kMaxTableSlots >= kMaxIndexRecords);

bool precedes(const IndexView& view, int a, int b) {
  const std::uint8_t* x = view.version(a);
  const std::uint8_t* y = view.version(b);
  auto rank = [](const std::uint8_t* v) { return v[kXmin] == 0 ? 2 : v[kNext] != 0 ? 1 : 0; };
  if (rank(x) != rank(y)) return rank(x) < rank(y);
  if (rank(x) == 2 || (rank(x) == 0 && view.clustered() == view.index_count())) return a < b;
  const int ends = std::memcmp(x, y, kNext);
  const auto rest = static_cast<std::size_t>(view.table().stride - kFlags);
  const int order = ends != 0 ? ends : std::memcmp(x + kFlags, y + kFlags, rest);
  return order != 0 ? order < 0 : a < b;
}

}  // namespace

void sort_innodb_table(const Plan& plan, int table, std::uint8_t* w) {
  const IndexView view(plan, w, table);
  const TableLayout& t = view.table();
  SlotOrder order;
  if (!order.sort(t.slots, [&](int a, int b) { return precedes(view, a, b); })) return;
  order.move(t, w);
  const DatabaseLayout& db = plan.layout.databases[static_cast<std::size_t>(t.db)];
  auto rename = [&](std::uint8_t& name) {
    if (name != kSupremum + 1) order.rename(name);
  };
  for (int i = 0; i < db.lock_table.slots; ++i) {
    std::uint8_t* e = w + db.lock_table.entries + i * kLockBytes;
    if (e[0] != 0 && e[1] == table && e[2] != kNumbersOfTable) rename(e[3]);
  }
  for (std::size_t s = 0; s < db.sessions.size(); ++s) {
    std::uint8_t* bytes = w + db.lock_table.sessions + static_cast<int>(s) * kInnodbSessionBytes;
    if (bytes[2] == table + 1) rename(bytes[3]);
  }
}

void sort_lock_table(const Plan& plan, int db, std::uint8_t* w) {
  const LockTableLayout& locks = plan.layout.databases[static_cast<std::size_t>(db)].lock_table;
  auto entry = [&](int i) { return w + locks.entries + i * kLockBytes; };
  auto precedes = [](const std::uint8_t* a, const std::uint8_t* b) {
    auto rank = [](const std::uint8_t* e) { return e[0] == 0 ? 2 : (e[4] & kLockWaiting) ? 1 : 0; };
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return rank(a) == 0 && std::memcmp(a + 1, b + 1, 3) < 0;
  };
  for (int i = 1; i < locks.slots && entry(i)[0] != 0; ++i) {
    for (int j = i; j > 0 && precedes(entry(j), entry(j - 1)); --j) {
      std::swap_ranges(entry(j), entry(j) + kLockBytes, entry(j - 1));
    }
  }
}

}  // namespace oncecheck

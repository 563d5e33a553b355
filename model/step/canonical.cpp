#include "model/step/canonical.hpp"

#include <cstring>

#include "model/step/canonical_innodb.hpp"
#include "model/step/canonical_postgres.hpp"
#include "model/step/connection_pool.hpp"
#include "model/step/slots.hpp"
#include "model/world/cells.hpp"
#include "model/world/redis_store.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

constexpr int kMaxNumbered = 64;

// Used slots first, in byte order. Insertion sort: the bags are nearly sorted already.
void sort_slots(std::uint8_t* first, int slots, int stride) {
  std::uint8_t spare[kMaxStride];
  const auto bytes = static_cast<std::size_t>(stride);
  auto before = [&](const std::uint8_t* a, const std::uint8_t* b) {
    if ((a[0] == 0) != (b[0] == 0)) return b[0] == 0;
    return std::memcmp(a, b, bytes) < 0;
  };
  for (int i = 1; i < slots; ++i) {
    for (int j = i; j > 0; --j) {
      std::uint8_t* a = first + (j - 1) * stride;
      std::uint8_t* b = a + stride;
      if (!before(b, a)) break;
      std::memcpy(spare, a, bytes);
      std::memcpy(a, b, bytes);
      std::memcpy(b, spare, bytes);
    }
  }
}

void sort_all(const Program& program, std::uint8_t* w) {
  const Plan& plan = program.plan;
  const Layout& layout = plan.layout;
  for (std::size_t t = 0; t < layout.tables.size() && !program.keep_row_order; ++t) {
    const TableLayout& table = layout.tables[t];
    if (is_innodb(layout.databases[static_cast<std::size_t>(table.db)].engine)) {
      sort_innodb_table(plan, static_cast<int>(t), w);
    } else {
      sort_postgres_table(program, static_cast<int>(t), w);
    }
  }
  for (std::size_t db = 0; db < layout.databases.size(); ++db) sort_lock_table(plan, static_cast<int>(db), w);
  for (const DatabaseLayout& db : layout.databases) {
    sort_idle_connections(plan, w, db);
    sort_slots(w + db.advisory.offset, db.advisory.slots, db.advisory.stride);
    sort_slots(w + db.ssi.keys, db.ssi.key_slots, db.ssi.key_stride);
  }
  sort_slots(w + layout.published, layout.published_slots, layout.published_stride);
  sort_slots(w + layout.messages, layout.message_slots, layout.message_stride);
  for (const ProviderLayout& p : layout.providers) {
    sort_slots(w + p.inbox, p.inbox_slots, p.inbox_stride);
    sort_slots(w + p.keys, p.key_slots, p.key_stride);
  }
}

// Renumbers the ids [first, first + count) by first appearance; with `twin` the ids of a second range follow the same
// numbering (a deadline slot has a future and a recent form). Gives whether anything moved.
bool renumber(const Plan& plan, std::uint8_t* w, CellId first, int count, CellId twin, bool has_twin, int* new_of_old) {
  const Layout& layout = plan.layout;
  for (int i = 0; i < count; ++i) new_of_old[i] = -1;
  int next = 0;
  bool moved = false;
  auto renamed = [&](CellId id, CellId base) {
    int& to = new_of_old[id - base];
    if (to < 0) to = next++;
    moved = moved || to != id - base;
    return static_cast<CellId>(base + to);
  };
  for (int offset : layout.value_cells) {
    const CellId id = load_cell(layout, w + offset);
    if (id >= first && id < first + count) {
      store_cell(layout, w + offset, renamed(id, first));
    } else if (has_twin && id >= twin && id < twin + count) {
      store_cell(layout, w + offset, renamed(id, twin));
    }
  }
  return moved;
}

bool renumber_deadlines(const Plan& plan, std::uint8_t* w, std::vector<int>* renumbered) {
  const Layout& layout = plan.layout;
  const int count = layout.deadline_slots;
  if (count == 0) return false;
  int new_of_old[kMaxNumbered];
  const bool moved =
      renumber(plan, w, plan.domain.first_deadline(), count, plan.domain.first_recent(), true, new_of_old);
  if (renumbered != nullptr) renumbered->assign(new_of_old, new_of_old + count);
  std::uint8_t states[2 * kMaxNumbered] = {};
  for (int i = 0; i < count; ++i) {
    if (new_of_old[i] < 0) continue;  // nothing names it any more
    std::memcpy(states + 2 * new_of_old[i], w + layout.deadlines + 2 * i, 2);
  }
  std::memcpy(w + layout.deadlines, states, static_cast<std::size_t>(2 * count));
  return moved;
}

}  // namespace

void make_canonical(const Program& program, std::uint8_t* w, Observation* seen) {
  const Plan& plan = program.plan;
  sort_all(program, w);
  int numbers[kMaxNumbered];
  const bool fresh_moved = plan.domain.fresh_count() > 0 && renumber(plan, w, plan.domain.first_fresh(),
                                                                     plan.domain.fresh_count(), 0, false, numbers);
  if (seen != nullptr) seen->fresh_renumbered.assign(numbers, numbers + plan.domain.fresh_count());
  std::vector<int>* deadlines = seen == nullptr ? nullptr : &seen->deadlines_renumbered;
  const bool deadlines_moved = renumber_deadlines(plan, w, deadlines);
  if (fresh_moved || deadlines_moved) sort_all(program, w);
  make_redis_canonical(plan, w, deadlines);
}

}  // namespace oncecheck

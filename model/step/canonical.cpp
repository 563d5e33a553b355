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
    if (first[i * stride] == 0) continue;  // a free one stays behind
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

// Renumbers fresh values and deadlines by first appearance. A deadline has a future and a recent form with one number.
struct Numbers {
  int fresh[kMaxNumbered];  // new numbers of old ones; -1: nothing names it any more
  int deadlines[kMaxNumbered];
  bool moved = false;

  void give(const Plan& plan, std::uint8_t* w) {
    const Layout& layout = plan.layout;
    const Domain& domain = plan.domain;
    for (int i = 0; i < domain.fresh_count(); ++i) fresh[i] = -1;
    for (int i = 0; i < layout.deadline_slots; ++i) deadlines[i] = -1;
    int next_fresh = 0, next_deadline = 0;
    const int first_fresh = domain.first_fresh(), first_deadline = domain.first_deadline(), first_recent = domain.first_recent();
    auto rename = [&](int offset, int id, int base, int* numbers, int& next) {
      int& to = numbers[id - base];
      if (to < 0) to = next++;
      if (to == id - base) return;
      moved = true;
      store_cell(layout, w + offset, static_cast<CellId>(base + to));
    };
    each_value_from(layout, w, domain.first_fresh(), [&](int offset, CellId id) {
      if (id < first_fresh + domain.fresh_count()) {
        rename(offset, id, first_fresh, fresh, next_fresh);
      } else if (id >= first_recent) {
        rename(offset, id, first_recent, deadlines, next_deadline);
      } else if (id >= first_deadline) {
        rename(offset, id, first_deadline, deadlines, next_deadline);
      }
    });
  }
};

void move_deadlines(const Layout& layout, std::uint8_t* w, const int* new_of_old) {
  const int count = layout.deadline_slots;
  if (count == 0) return;
  std::uint8_t states[2 * kMaxNumbered] = {};
  for (int i = 0; i < count; ++i) {
    if (new_of_old[i] < 0) continue;  // nothing names it any more
    std::memcpy(states + 2 * new_of_old[i], w + layout.deadlines + 2 * i, 2);
  }
  std::memcpy(w + layout.deadlines, states, static_cast<std::size_t>(2 * count));
}

}  // namespace

void make_canonical(const Program& program, std::uint8_t* w, Observation* seen) {
  const Plan& plan = program.plan;
  sort_all(program, w);
  std::vector<int>* deadlines = seen == nullptr ? nullptr : &seen->deadlines_renumbered;
  if (plan.domain.fresh_count() > 0 || plan.layout.deadline_slots > 0) {
    Numbers numbers;
    numbers.give(plan, w);
    if (seen != nullptr) seen->fresh_renumbered.assign(numbers.fresh, numbers.fresh + plan.domain.fresh_count());
    if (deadlines != nullptr && plan.layout.deadline_slots > 0) deadlines->assign(numbers.deadlines, numbers.deadlines + plan.layout.deadline_slots);
    move_deadlines(plan.layout, w, numbers.deadlines);
    if (numbers.moved) sort_all(program, w);
  }
  make_redis_canonical(plan, w, deadlines);
}

}  // namespace oncecheck

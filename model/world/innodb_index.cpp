#include "model/world/innodb_index.hpp"

#include <algorithm>

#include "model/world/check.hpp"
#include "model/world/context.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/statement_run.hpp"

namespace oncecheck {

int IndexView::clustered() const {
  for (int x = 0; x < index_count(); ++x) {
    if (t_.indexes[static_cast<std::size_t>(x)].primary) return x;
  }
  for (int x = 0; x < index_count(); ++x) {
    const Index& i = t_.indexes[static_cast<std::size_t>(x)];
    const auto not_null = [&](int c) { return t_.not_null[static_cast<std::size_t>(c)]; };
    if (i.unique && std::all_of(i.columns.begin(), i.columns.end(), not_null)) return x;
  }
  return index_count();
}

void IndexView::load(int slot, CellId* cells) const {
  for (int c = 0; c < static_cast<int>(t_.columns.size()); ++c) cells[c] = cell(slot, c);
}

int IndexView::record_of(int slot) const {
  while (version(slot)[kNext] != 0) slot = version(slot)[kNext] - 1;
  return slot;
}

int IndexView::version_before(int slot) const {
  for (int i = 0; i < t_.slots; ++i) {
    if (version(i)[kXmin] != 0 && version(i)[kNext] == slot + 1) return i;
  }
  return -1;
}

bool IndexView::entered(int x, int slot) const {
  const int pending = version(slot)[kFlags] >> kPendingShift;
  if (pending == 0 || x == clustered()) return true;
  int later = 0;  // secondary indexes from this one on
  for (int i = x; i < index_count(); ++i) later += i != clustered() ? 1 : 0;
  return later > pending;
}

int IndexView::named_by(int x, int slot) const {
  if (x == clustered()) return is_record(slot) ? slot : -1;
  int name = -1;
  for (int at = slot;; at = version(at)[kNext] - 1) {
    if (entered(x, at) && same_key(x, slot, at)) name = at;
    if (version(at)[kNext] == 0) return name;
  }
}

bool IndexView::same_key(int x, int a, int b) const {
  const Index* i = index(x);
  if (i == nullptr) return a == b;
  return std::all_of(i->columns.begin(), i->columns.end(), [&](int c) { return cell(a, c) == cell(b, c); });
}

bool IndexView::same_key(int x, const CellId* cells, int slot) const {
  const Index* i = index(x);
  if (i == nullptr) return false;
  return std::all_of(i->columns.begin(), i->columns.end(), [&](int c) { return cells[c] == cell(slot, c); });
}

bool IndexView::has_null(int x, const CellId* cells) const {
  const Index* i = index(x);
  if (i == nullptr) return false;
  return std::any_of(i->columns.begin(), i->columns.end(), [&](int c) { return cells[c] == kNullCell; });
}

int IndexView::record_with_key(int x, int record, const CellId* cells) const {
  for (int i = 0; i < t_.slots; ++i) {
    if (present(x, i) && record_of(i) == record && same_key(x, cells, i)) return i;
  }
  return -1;
}

int IndexView::order_value(CellId a, CellId b) const {
  if (a == b) return 0;
  const Val x = plan_.domain.decode(a), y = plan_.domain.decode(b);
  if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;  // NULL is the lowest
  // Instants and fresh values have no order that anybody could tell: any fixed one will do.
  if (x.kind == Kind::Int || x.kind == Kind::Text || x.kind == Kind::Bool) return x.n < y.n ? -1 : 1;
  return a < b ? -1 : 1;
}

int IndexView::order_key(int x, const CellId* cells, int slot) const {
  const Index* i = index(x);
  if (i == nullptr) return 0;
  for (int c : i->columns) {
    if (const int order = order_value(cells[c], cell(slot, c)); order != 0) return order;
  }
  return 0;
}

int IndexView::order_records(int x, int a, int b) const {
  CellId cells[kMaxRowColumns];
  load(a, cells);
  if (const int order = order_key(x, cells, b); order != 0) return order;
  const int c = clustered();
  if (c != x && index(c) != nullptr) {
    if (const int order = order_key(c, cells, b); order != 0) return order;
  }
  return record_of(a) - record_of(b);
}

int IndexView::records(int x, int* out) const {
  CHECK_THAT(t_.slots <= kMaxIndexRecords);
  int n = 0;
  for (int i = 0; i < t_.slots; ++i) {
    if (!present(x, i)) continue;
    int at = n++;
    for (; at > 0 && order_records(x, i, out[at - 1]) < 0; --at) out[at] = out[at - 1];
    out[at] = i;
  }
  return n;
}

int IndexView::after(int x, int slot) const {
  int best = kSupremum;
  for (int i = 0; i < t_.slots; ++i) {
    if (i == slot || !present(x, i) || order_records(x, i, slot) <= 0) continue;
    if (best == kSupremum || order_records(x, i, best) < 0) best = i;
  }
  return best;
}

int IndexView::place_for(int x, const CellId* cells, int self) const {
  const int c = clustered();
  int best = kSupremum;
  for (int i = 0; i < t_.slots; ++i) {
    if (i == self || !present(x, i)) continue;
    int order = order_key(x, cells, i);
    if (order == 0 && x != c) order = order_key(c, cells, i);
    // Without a key of its own the row is the newest, and comes after all.
    if (order < 0 && (best == kSupremum || order_records(x, i, best) < 0)) best = i;
  }
  return best;
}

int IndexView::implicit_owner(int x, int slot) const {
  const int record = record_of(slot);
  const std::uint8_t* current = version(record);
  const std::uint8_t by = in_progress(current[kXmax]) ? current[kXmax] : current[kXmin];
  if (!in_progress(by)) return -1;
  const int owner = owner_of(by);
  if (x == clustered()) return owner;
  // A record of a secondary index is locked when the owner made or marked it: when what it is has changed since the
  // owner began (row_vers_impl_x_locked).
  bool was_alive = false, was_dead = false;
  auto note = [&](bool alive) { (alive ? was_alive : was_dead) = true; };
  int base = record;
  for (; base >= 0 && version(base)[kXmin] == mark_of(owner); base = version_before(base)) {
    note(entered(x, base) && same_key(x, slot, base));
    if (version(base)[kXmax] == mark_of(owner) && (version(base)[kFlags] & kEndedKey)) note(false);
  }
  if (base < 0) {
    note(false);
  } else {
    const bool marked = (version(base)[kFlags] & kEndedKey) != 0;
    const bool by_owner = version(base)[kXmax] == mark_of(owner);
    note(same_key(x, slot, base) && (!marked || by_owner));
    if (marked && by_owner) note(false);
  }
  return was_alive && was_dead ? owner : -1;
}

}  // namespace oncecheck

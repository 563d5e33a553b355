#include "model/world/innodb_locks.hpp"

#include <cstring>

namespace oncecheck {

namespace {

constexpr int kBySession = 0, kOnTable = 1, kOnIndex = 2, kOnSlot = 3, kMode = 4;
constexpr std::uint8_t kTypeBits = kLockX | kLockGap | kLockRecord | kLockInsert;

int session_in(const std::uint8_t* e) { return e[kBySession] - 1; }
bool waiting(const std::uint8_t* e) { return (e[kMode] & kLockWaiting) != 0; }

}  // namespace

Isolation innodb_isolation(const Layout& layout, const std::uint8_t* w, int session) {
  const SessionLayout& s = layout.sessions[static_cast<std::size_t>(session)];
  const std::uint8_t set = w[s.offset + kIsolation];  // 1 + what SET TRANSACTION asked for
  return set == 0 ? s.isolation : static_cast<Isolation>(set - 1);
}

std::uint8_t* LockTable::session_bytes(int session) const {
  const SessionLayout& s = plan_.layout.sessions[static_cast<std::size_t>(session)];
  return w_ + db_.lock_table.sessions + s.number * kInnodbSessionBytes;
}

bool LockTable::on(const std::uint8_t* e, LockName name) const {
  return e[kBySession] != 0 && e[kOnTable] == name.table && e[kOnIndex] == name.index && e[kOnSlot] == name.slot + 1;
}

// lock_rec_has_to_wait
bool LockTable::conflicts(int session, std::uint8_t mode, bool supremum, const std::uint8_t* e) const {
  const std::uint8_t other = e[kMode];
  if (session_in(e) == session) return false;
  if (!((mode | other) & kLockX)) return false;
  const bool insert = (mode & kLockInsert) != 0;
  if ((supremum || (mode & kLockGap)) && !insert) return false;
  if (!insert && (other & kLockGap)) return false;
  if ((mode & kLockGap) && (other & kLockRecord)) return false;
  return (other & kLockInsert) == 0;
}

bool LockTable::must_wait(int session, LockName name, std::uint8_t mode, const std::uint8_t* e) const {
  if (!conflicts(session, mode, name.slot == kSupremum, e)) return false;
  if (db_.engine != Engine::MySql || !waiting(e)) return true;
  if ((mode & kLockInsert) || !(mode & kLockX) || !(e[kMode] & kLockX)) return true;
  // MySQL: it waits for a lock of ours, so we may pass.
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* mine = entry(i);
    if (on(mine, name) && session_in(mine) == session && !waiting(mine) &&
        conflicts(session_in(e), e[kMode], name.slot == kSupremum, mine)) {
      return false;
    }
  }
  return true;
}

// `before`: the request itself, when it waits already; what stands behind it in the queue does not count.
int LockTable::first_blocker(int session, LockName name, std::uint8_t mode, const std::uint8_t* before) const {
  const bool mysql = db_.engine == Engine::MySql;
  const int slots = db_.lock_table.slots;
  // Granted locks stand before those that wait. MariaDB looks at the oldest first, MySQL at the newest.
  for (int n = 0; n < slots; ++n) {
    const std::uint8_t* e = entry(mysql ? slots - 1 - n : n);
    if (on(e, name) && !waiting(e) && must_wait(session, name, mode, e)) return session_in(e);
  }
  if (mysql && before != nullptr) return -1;
  for (int i = 0; i < slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (e == before) break;
    if (on(e, name) && waiting(e) && must_wait(session, name, mode, e)) return session_in(e);
  }
  return -1;
}

// lock_rec_has_expl
bool LockTable::holds(int session, LockName name, std::uint8_t mode) const {
  const std::uint8_t part = mode & (kLockGap | kLockRecord);
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (!on(e, name) || session_in(e) != session || (e[kMode] & (kLockWaiting | kLockInsert))) continue;
    const std::uint8_t has = e[kMode] & (kLockGap | kLockRecord);
    if ((has == 0 || name.slot == kSupremum || (has & part)) && (!(mode & kLockX) || (e[kMode] & kLockX))) return true;
  }
  if (part != kLockRecord || name.slot == kSupremum || name.index == kNumbersOfTable) return false;
  return IndexView(plan_, w_, name.table).implicit_owner(name.index, name.slot) == session;
}

void LockTable::make_explicit(LockName name) {
  if (name.slot == kSupremum) return;
  const int owner = IndexView(plan_, w_, name.table).implicit_owner(name.index, name.slot);
  if (owner < 0) return;
  add(owner, name, kLockX | kLockRecord);
}

LockTable::Got LockTable::ask(int session, LockName name, std::uint8_t mode, bool wait, bool keep) {
  const bool insert = (mode & kLockInsert) != 0;
  if (!insert && holds(session, name, mode)) return Got::Held;
  if (!insert && name.index != kNumbersOfTable) {
    const IndexView view(plan_, w_, name.table);
    if (name.slot != kSupremum && view.implicit_owner(name.index, name.slot) != session) make_explicit(name);
    // Who has the record needs only the gap for a next-key lock, and a gap is never waited for.
    const bool next_key = (mode & (kLockGap | kLockRecord)) == 0;
    if (next_key && name.slot != kSupremum && holds(session, name, static_cast<std::uint8_t>(mode | kLockRecord))) {
      mode = static_cast<std::uint8_t>(mode | kLockGap);
      if (holds(session, name, mode)) return Got::Held;
    }
  }
  const int other = first_blocker(session, name, mode, nullptr);
  if (other < 0) {
    if (keep && !insert) append(session, name, mode);
    return Got::New;
  }
  if (!wait) return Got::Wait;
  append(session, name, static_cast<std::uint8_t>(mode | kLockWaiting));
  std::uint8_t* me = session_of(session);
  me[kWaits] = static_cast<std::uint8_t>(other + 1);
  me[kWaitKind] = kWaitLock;
  return Got::Wait;
}

void LockTable::unlock(int session, LockName name, std::uint8_t mode) {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (on(e, name) && session_in(e) == session && (e[kMode] & kTypeBits) == mode) {
      remove(i);
      return;
    }
  }
}

void LockTable::append(int session, LockName name, std::uint8_t mode) {
  const int slots = db_.lock_table.slots;
  int i = slots;
  while (i > 0 && entry(i - 1)[kBySession] == 0) --i;
  if (i == slots) {
    w_[db_.lock_table.offset] = 1;  // the caller of the event finds it (LimitKind::Locks)
    return;
  }
  std::uint8_t* e = entry(i);
  e[kBySession] = static_cast<std::uint8_t>(session + 1);
  e[kOnTable] = static_cast<std::uint8_t>(name.table);
  e[kOnIndex] = static_cast<std::uint8_t>(name.index);
  e[kOnSlot] = static_cast<std::uint8_t>(name.slot + 1);
  e[kMode] = mode;
}

void LockTable::remove(int i) {
  const int last = db_.lock_table.slots - 1;
  std::memmove(entry(i), entry(i + 1), static_cast<std::size_t>((last - i) * kLockBytes));
  std::memset(entry(last), 0, kLockBytes);
}

void LockTable::add(int session, LockName name, std::uint8_t mode) {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (on(e, name) && session_in(e) == session && !waiting(e) && (e[kMode] & kTypeBits) == mode) return;
  }
  append(session, name, mode);
}

void LockTable::grant() {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    std::uint8_t* e = entry(i);
    if (e[kBySession] == 0 || !waiting(e)) continue;
    const int session = session_in(e);
    const LockName name{e[kOnTable], e[kOnIndex], e[kOnSlot] - 1};
    const int other = first_blocker(session, name, e[kMode] & kTypeBits, e);
    session_of(session)[kWaits] = static_cast<std::uint8_t>(other + 1);
    if (other < 0) e[kMode] = static_cast<std::uint8_t>((e[kMode] & ~kLockWaiting) | kLockNew);
  }
}

void LockTable::resume(int session) {
  for (int i = db_.lock_table.slots - 1; i >= 0; --i) {
    std::uint8_t* e = entry(i);
    if (session_in(e) != session || waiting(e)) continue;
    e[kMode] = static_cast<std::uint8_t>(e[kMode] & ~kLockNew);
    if (e[kMode] & kLockInsert) remove(i);
  }
}

void LockTable::release_all(int session) {
  for (int i = db_.lock_table.slots - 1; i >= 0; --i) {
    if (session_in(entry(i)) == session) remove(i);
  }
}

bool LockTable::taken(LockName name) const {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    if (on(entry(i), name)) return true;
  }
  return false;
}

bool LockTable::waits_for_numbers(int session) const {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (session_in(e) == session && waiting(e)) return e[kOnIndex] == kNumbersOfTable;
  }
  return false;
}

void LockTable::release_numbers(int session) {
  for (int i = db_.lock_table.slots - 1; i >= 0; --i) {
    const std::uint8_t* e = entry(i);
    if (session_in(e) == session && e[kOnIndex] == kNumbersOfTable) remove(i);
  }
}

void LockTable::stop_waiting(int session) {
  for (int i = db_.lock_table.slots - 1; i >= 0; --i) {
    if (session_in(entry(i)) == session && waiting(entry(i))) remove(i);
  }
}

// lock_rec_inherit_to_gap_if_gap_lock
void LockTable::split_gap(LockName name, int heir) {
  const LockName from{name.table, name.index, heir};
  const int slots = db_.lock_table.slots;
  for (int i = 0; i < slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (!on(e, from) || (e[kMode] & kLockInsert)) continue;
    if (heir != kSupremum && (e[kMode] & kLockRecord)) continue;
    add(session_in(e), name, static_cast<std::uint8_t>(kLockGap | (e[kMode] & kLockX)));
  }
}

// At READ COMMITTED a lock of an UPDATE or DELETE goes with its record; one of a duplicate check stays for the gap.
// MariaDB tells them by their mode, MySQL keeps all locks of a statement that has made such a check.
bool LockTable::inherits(int session, std::uint8_t mode) const {
  if (innodb_isolation(plan_.layout, w_, session) > Isolation::ReadCommitted) return true;
  const bool keeps = (session_bytes(session)[0] & kKeepsGaps) != 0;
  if (db_.engine == Engine::MySql) return keeps;
  return keeps == ((mode & kLockX) != 0);
}

// lock_update_delete
void LockTable::vanish(LockName name, int heir) {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (!on(e, name) || (e[kMode] & kLockInsert) || !inherits(session_in(e), e[kMode])) continue;
    add(session_in(e), {name.table, name.index, heir}, static_cast<std::uint8_t>(kLockGap | (e[kMode] & kLockX)));
  }
  for (int i = db_.lock_table.slots - 1; i >= 0; --i) {
    const std::uint8_t* e = entry(i);
    if (!on(e, name)) continue;
    if (waiting(e)) {
      session_of(session_in(e))[kWaits] = 0;
      std::memset(session_bytes(session_in(e)) + 2, 0, 2);  // its scan begins again
    }
    remove(i);
  }
  for (int s : db_.sessions) {
    std::uint8_t* bytes = session_bytes(s);
    if (bytes[2] == name.table + 1 && bytes[3] == name.slot + 1) std::memset(bytes + 2, 0, 2);
  }
}

void LockTable::rename(int table, int index, int from, int to) {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    std::uint8_t* e = entry(i);
    if (on(e, {table, index, from})) e[kOnSlot] = static_cast<std::uint8_t>(to + 1);
  }
}

bool LockTable::awaited(int table, int slot) const {
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (e[kBySession] != 0 && e[kOnTable] == table && e[kOnIndex] != kNumbersOfTable && e[kOnSlot] == slot + 1 &&
        (e[kMode] & kLockNew)) {
      return true;
    }
  }
  return false;
}

int LockTable::entries_of(int session) const {
  // One structure for each index (we take it to be one page) and mode, and each table.
  int count = 0;
  for (int i = 0; i < db_.lock_table.slots; ++i) {
    const std::uint8_t* e = entry(i);
    if (session_in(e) != session) continue;
    bool again = false, table_again = false;
    for (int j = 0; j < i; ++j) {
      const std::uint8_t* before = entry(j);
      if (session_in(before) != session || before[kOnTable] != e[kOnTable]) continue;
      table_again = true;
      again = again || (before[kOnIndex] == e[kOnIndex] && (before[kMode] & ~kLockNew) == (e[kMode] & ~kLockNew));
    }
    count += (again ? 0 : 1) + (table_again ? 0 : 1);
  }
  return count;
}

}  // namespace oncecheck

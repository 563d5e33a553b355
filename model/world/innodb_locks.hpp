// InnoDB's record locks (manual, "InnoDB Locking"; lock0lock.cc). A lock is on an index record, on the gap before it,
// or on both (next-key). Requests queue in the order in which they came, and those that wait count: who conflicts with
// a request that waits ahead of it waits behind it. Locks on a gap never wait and do not keep each other out; they keep
// out an INSERT (insert intention). A record that an uncommitted transaction made or changed is locked by it without an
// entry here; the entry is made when somebody else asks for the record.
//
// MariaDB and MySQL differ in two places. MySQL lets a session that holds a lock take X past a request for X that waits
// for that very lock, where MariaDB has a deadlock; and MySQL grants, on a release, every request that conflicts with
// no granted lock.
#pragma once

#include "model/world/innodb_index.hpp"

namespace oncecheck {

// Mode of an entry. Neither kLockGap nor kLockRecord: next-key.
inline constexpr std::uint8_t kLockX = 1;        // else S
inline constexpr std::uint8_t kLockGap = 2;      // only the gap before the record
inline constexpr std::uint8_t kLockRecord = 4;   // only the record
inline constexpr std::uint8_t kLockInsert = 8;   // insert intention (with kLockX and kLockGap)
inline constexpr std::uint8_t kLockWaiting = 16;
inline constexpr std::uint8_t kLockNew = 32;     // granted after a wait; the statement has not yet gone on

// Flags of a session's statement in the lock table.
inline constexpr std::uint8_t kStatementRuns = 1;  // it waits, or has been woken
inline constexpr std::uint8_t kKeepsGaps = 2;      // its locks pass on to the gap when their record goes, at any level
inline constexpr std::uint8_t kRegistered = 4;     // the transaction has used InnoDB
inline constexpr std::uint8_t kByCovering = 8;     // its scan goes by SqlStatement::covering
inline constexpr int kDepthShift = 4;              // bits 4-7: savepoints that were open when it first did

struct LockName {
  int table = 0;
  int index = 0;  // or kNumbersOfTable
  int slot = 0;   // or kSupremum
};

// In place of an index: the AUTO-INC lock of the table, which ends with the statement.
inline constexpr int kNumbersOfTable = 255;

Isolation innodb_isolation(const Layout& layout, const std::uint8_t* w, int session);

class LockTable {
 public:
  LockTable(const Plan& plan, std::uint8_t* w, int db)
      : plan_(plan), w_(w), db_(plan.layout.databases[static_cast<std::size_t>(db)]) {}

  enum class Got { Held, New, Wait };
  // Asks for a lock. `wait`: joins the queue when it cannot have it at once; the session then waits (kWaits). `keep`:
  // make an entry when it is granted (a change of a record needs none). An insert intention is granted without one.
  Got ask(int session, LockName on, std::uint8_t mode, bool wait, bool keep = true);
  bool holds(int session, LockName on, std::uint8_t mode) const;
  bool taken(LockName on) const;                   // by anybody, or waited for
  bool waits_for_numbers(int session) const;
  void release_numbers(int session);
  // The lock of a record that was just read goes (READ COMMITTED, the row did not match).
  void unlock(int session, LockName on, std::uint8_t mode);

  void add(int session, LockName on, std::uint8_t mode);
  // An owner without an entry gets one.
  void make_explicit(LockName on);
  // Gives requests that need not wait any longer what they asked for.
  void grant();
  // The statement goes on: what it waited for it has. A granted insert intention keeps nobody out.
  void resume(int session);
  void release_all(int session);
  void stop_waiting(int session);

  // A record appears before `heir`: gap locks cover both halves. A record goes: its locks pass on to the gap of `heir`.
  void split_gap(LockName on, int heir);
  void vanish(LockName on, int heir);
  // The record is named by another slot now.
  void rename(int table, int index, int from, int to);
  // A lock that was granted after a wait and is not yet used: the record stays for it.
  bool awaited(int table, int slot) const;

  int entries_of(int session) const;  // as InnoDB counts them for the weight of a deadlock victim
  std::uint8_t* session_bytes(int session) const;
  bool full() const { return w_[db_.lock_table.offset] != 0; }

 private:
  std::uint8_t* entry(int i) const { return w_ + db_.lock_table.entries + i * kLockBytes; }
  bool on(const std::uint8_t* e, LockName name) const;
  bool conflicts(int session, std::uint8_t mode, bool supremum, const std::uint8_t* e) const;
  bool must_wait(int session, LockName name, std::uint8_t mode, const std::uint8_t* e) const;
  bool inherits(int session, std::uint8_t mode) const;
  int first_blocker(int session, LockName name, std::uint8_t mode, const std::uint8_t* before) const;
  void append(int session, LockName name, std::uint8_t mode);
  void remove(int i);
  std::uint8_t* session_of(int session) const {
    return w_ + plan_.layout.sessions[static_cast<std::size_t>(session)].offset;
  }

  const Plan& plan_;
  std::uint8_t* w_;
  const DatabaseLayout& db_;
};

}  // namespace oncecheck

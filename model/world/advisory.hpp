// Locks on names instead of rows: pg_advisory_lock and its kin (PostgreSQL manual 9.27.10, 13.3.5), GET_LOCK (MariaDB and
// MySQL manual, "Locking Functions"). A session lock outlives COMMIT and ROLLBACK and ends with the session; a transaction
// lock ends with the transaction, or with a ROLLBACK TO a savepoint older than it. A session may take a lock again.
#pragma once

#include "model/world/cells.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

inline constexpr int kAdvisoryOwner = 0, kAdvisoryKind = 1, kAdvisoryLevel = 2, kAdvisoryKey = 3;  // bytes of an entry

enum AdvisoryKind : std::uint8_t { kSessionLock = 1, kTransactionLock = 2, kAdvisoryWaiter = 3 };

struct AdvisoryResult {
  bool granted = false;
  int blocked_by = -1;  // session: a holder, or the last of those who wait already (first come, first served)
};

// Takes the lock for ctx.session, or joins its queue when `wait`. `level`: depth of savepoints. Sets ctx.limit when full.
AdvisoryResult take_advisory(Context& ctx, CellId key, AdvisoryKind kind, int level, bool wait);

// Gives one hold of a session lock back. False when the session has none.
bool release_advisory(const Plan& plan, std::uint8_t* w, int session, CellId key);

// visit(session, key) for each hold of a lock, not for those who wait.
template <class Visit>
void each_advisory(const Plan& plan, const std::uint8_t* w, int db, Visit visit) {
  const AdvisoryLayout& locks = plan.layout.databases[static_cast<std::size_t>(db)].advisory;
  for (int i = 0; i < locks.slots; ++i) {
    const std::uint8_t* e = w + locks.offset + i * locks.stride;
    if (e[kAdvisoryOwner] != 0 && e[kAdvisoryKind] != kAdvisoryWaiter) visit(e[kAdvisoryOwner] - 1, load_cell(plan.layout, e + kAdvisoryKey));
  }
}

// Whether anybody holds it, and whether that is another session.
bool advisory_held(const Plan& plan, const std::uint8_t* w, int db, CellId key);

// Drops what ends with the transaction: locks taken at savepoint depth `level` or deeper (0: all of them).
void end_transaction_advisory(const Plan& plan, std::uint8_t* w, int session, int level);
// pg_advisory_unlock_all.
void release_session_locks(const Plan& plan, std::uint8_t* w, int session);
void end_session_advisory(const Plan& plan, std::uint8_t* w, int session);
// Two sessions exchange the session locks that they hold; who waits for one waits for the other. REQUIRES: both are outside of a
// transaction and wait for nothing.
void exchange_advisory(const Plan& plan, std::uint8_t* w, int one, int other);
// The smallest key that the session holds a lock on; kNullCell: it holds none.
CellId first_advisory(const Plan& plan, const std::uint8_t* w, int session);
// The session waits no longer (time-out, deadlock, cancel).
void stop_waiting_advisory(const Plan& plan, std::uint8_t* w, int session);
// RELEASE SAVEPOINT: what was taken deeper than `level` now belongs to it.
void merge_advisory_levels(const Plan& plan, std::uint8_t* w, int session, int level);

}  // namespace oncecheck

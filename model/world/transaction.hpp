// Transactions of a session: begin, commit, roll back, and waking those who wait for its end.
// PostgreSQL manual 13.2.1, 13.3; README of the lock manager for who is woken.
#pragma once

#include <cstdint>

#include "model/world/context.hpp"

namespace oncecheck {

// PostgreSQL, in kWaitKind beside the WaitKind (bits 0-1) and the row lock that is wanted (bits 4-6): the row was being changed
// when the wait began, not merely locked; the running statement has waited before, whatever it does now; and the wait was that
// of a foreign key, after the statement's own work.
inline constexpr std::uint8_t kWaitKindBits = 3, kWaitForChange = 4, kHasWaited = 8, kWaitForKey = 128;
inline RowLock waited_lock(const std::uint8_t* session) { return static_cast<RowLock>(session[kWaitKind] >> 4 & 7); }
inline bool has_waited(const std::uint8_t* session) { return (session[kWaitKind] & kHasWaited) != 0; }
inline bool waits_behind(const std::uint8_t* session) { return (session[kWaitKind] & kWaitKindBits) == kWaitTuple; }

// Ends the transaction of the session with all its row versions made permanent. `limit` takes what the world has no room for
// (LimitKind::SerializableHistory); callers whose transactions are never SERIALIZABLE need not give it.
void commit_transaction(const Plan& plan, std::uint8_t* w, int session, Limit* limit = nullptr);

// Undoes everything and wakes waiters. `next` is the state that the session is left in: kNoTx, or kFailedTx when an error
// aborted an explicit transaction (PostgreSQL: locks go at once, the block stays failed until ROLLBACK).
void rollback_transaction(const Plan& plan, std::uint8_t* w, int session, TxState next);

// The statement of the session has ended: marks of the running command go, and its snapshot (READ COMMITTED).
void end_statement(const Plan& plan, std::uint8_t* w, int session);

// PostgreSQL: an error inside an explicit transaction. Undoes what was done since the newest savepoint, or everything, at once;
// the block stays failed until ROLLBACK or ROLLBACK TO.
void fail_transaction(const Plan& plan, std::uint8_t* w, int session);

// Who waits for this session's transaction looks again.
void wake_waiters(const Plan& plan, std::uint8_t* w, int session);

// The session is gone, with its session locks; an open transaction is rolled back.
void end_session(const Plan& plan, std::uint8_t* w, int session);

// The session waits for the transaction of another session to end.
void wait_for(const Plan& plan, std::uint8_t* w, int session, int holder);

}  // namespace oncecheck

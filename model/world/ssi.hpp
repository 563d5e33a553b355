// Serializable snapshot isolation (PostgreSQL manual 13.2.3; Ports and Grittner, "Serializable Snapshot Isolation in
// PostgreSQL", VLDB 2012; README-SSI). Transactions at SERIALIZABLE remember what they read. A read of something that a
// concurrent one wrote is an rw-conflict reader -> writer; a dangerous structure (two in a row, the last to commit first)
// aborts one of them: the reader or writer that closes it at once, or another at its next read, write or COMMIT (doomed).
//
// Some of it is up to the server's plan and to what lies on its pages. The model explores these as choices of each statement
// (ssi_choices), so it allows more failures than one server would show, never fewer:
// - How finely reads are remembered (SsiGrain): a whole table when it was scanned; through an index, the rows and - depending
//   on pages - the keys or the whole index. A scan of the table also meets the rows that an index would have passed over.
// - Whether a subquery in a WHERE runs before the row that it is asked for, or though there is none (ssi_subqueries.hpp).
// - Whether a scan that meets no row meets the remains of one: a transaction that must fail hears of it when it meets a row
//   (CheckForSerializableConflictOutNeeded), not before.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

enum class SsiGrain : std::uint8_t { Key, Page, Table };
inline constexpr int kSsiGrains = 3;
inline constexpr int kMaxSsiRecords = 16;  // bits of a mask

// In how many ways the server may run this statement of the session; Context::choice counts below it. 1 when it does not run
// at SERIALIZABLE. settings: the session whose SET SESSION counts outside of a transaction, mostly the same one.
int ssi_choices(const Plan& plan, const std::uint8_t* w, int session, int settings, const SqlStatement& statement);

// Splits Context::choice, which afterwards is what ssi_scan understands. True: subqueries are read ahead.
bool ssi_take_choice(Context& ctx, const SqlStatement& statement);

// The session's transaction takes its snapshot. REQUIRES: none of its records is live.
void ssi_begin(const Plan& plan, std::uint8_t* w, int session, bool read_only);

// Whether the session's transaction is tracked.
bool ssi_tracked(const Plan& plan, const std::uint8_t* w, int session);

// A scan of the table by ctx.session: call before its rows are read. Sets ctx.serialization_failure. A statement that goes on
// after a wait has its subqueries done and its scan open: only rows that it fetches later can tell it that it must fail.
// `waited_at`: the slot of the target table at which it waited, -1 for none.
void ssi_scan(Context& ctx, int table, const AccessPath& access, int waited_at = -1);

// A query of the server's own for a foreign key: the rows whose `columns` have these values, seen by `snapshot`. It uses an
// index that begins with one of the columns, if there is one.
void ssi_look_up(Context& ctx, int table, const std::vector<int>& columns, const CellId* values, int snapshot);

// The version is deleted or replaced.
void ssi_end_version(Context& ctx, int table, std::uint8_t* version);
// A version was stored in the heap (heap_insert). Scans meet it from now on, also while it waits for an index.
void ssi_new_version(Context& ctx, int table, std::uint8_t* version);
// The version goes into the index, or is refused there as a duplicate: either way after the wait for others who touch its key
// (_bt_doinsert, _bt_check_unique). False when the transaction must fail.
bool ssi_enter_index(Context& ctx, int table, int index, const std::uint8_t* version);

// COMMIT: false when the transaction must fail instead.
bool ssi_may_commit(const Plan& plan, std::uint8_t* w, int session);
// Its transaction ended. `wrote` tells a committed one that changed nothing apart. Sets limit when history runs full.
void ssi_committed(const Plan& plan, std::uint8_t* w, int session, Limit& limit);
void ssi_aborted(const Plan& plan, std::uint8_t* w, int session);

}  // namespace oncecheck

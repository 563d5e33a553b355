// Serializable snapshot isolation (PostgreSQL manual 13.2.3; Ports and Grittner, "Serializable Snapshot Isolation in
// PostgreSQL", VLDB 2012; README-SSI). Transactions at SERIALIZABLE remember what they read. A read of something that a
// concurrent one wrote is an rw-conflict reader -> writer; a dangerous structure (two in a row, the last to commit first)
// aborts one of them: the reader or writer that closes it at once, or another at its next read, write or COMMIT (doomed).
//
// How finely reads are remembered is up to the server: a whole table when it was scanned; through an index, the rows and
// - depending on pages - the keys, the whole index or the whole table. The model explores the last three as a choice of each
// statement (SsiGrain), so it allows more failures than one server would show, never fewer.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

enum class SsiGrain : std::uint8_t { Key, Page, Table };
inline constexpr int kSsiGrains = 3;
inline constexpr int kMaxSsiRecords = 16;  // bits of a mask

// In how many ways the server may remember what the session reads by this statement; Context::choice counts below it. 1 when
// the statement uses no index or does not run at SERIALIZABLE.
int ssi_choices(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& statement);

// The session's transaction takes its snapshot. REQUIRES: none of its records is live.
void ssi_begin(const Plan& plan, std::uint8_t* w, int session, bool read_only);

// Whether the session's transaction is tracked.
bool ssi_tracked(const Plan& plan, const std::uint8_t* w, int session);

// A scan of the table by ctx.session: call before its rows are read. Sets ctx.serialization_failure.
void ssi_scan(Context& ctx, int table, const AccessPath& access);

// The version is deleted or replaced.
void ssi_end_version(Context& ctx, int table, std::uint8_t* version);
// A version was stored; `new_keys`: it also goes into the indexes (an insert, or an update that changes an indexed column).
void ssi_new_version(Context& ctx, int table, std::uint8_t* version, bool new_keys);
// An insert meets a live duplicate: the conflicts that it would have had are reported first.
void ssi_duplicate(Context& ctx, int table, int index, const CellId* cells);

// COMMIT: false when the transaction must fail instead.
bool ssi_may_commit(const Plan& plan, std::uint8_t* w, int session);
// Its transaction ended. `wrote` tells a committed one that changed nothing apart. Sets limit when history runs full.
void ssi_committed(const Plan& plan, std::uint8_t* w, int session, Limit& limit);
void ssi_aborted(const Plan& plan, std::uint8_t* w, int session);

}  // namespace oncecheck

// A read replica of an SQL database and the failover to it (PostgreSQL manual 27.2, streaming replication; MySQL manual,
// Replication). The replica applies commits in order, at any later moment; it is kept as one more snapshot of the version
// store: what it has applied is what that snapshot sees. A failover makes the replica the primary: what it has not applied is
// lost (asynchronous replication) or nothing is (synchronous: a COMMIT ends when the replica has it). All sessions end.
#pragma once

#include "model/world/plan.hpp"

namespace oncecheck {

// Whether the database has a replica, and whether it lags.
bool has_replica(const Plan& plan, int db);
bool replica_lags(const Plan& plan, const std::uint8_t* w, int db);

// The replica's snapshot, for a read of committed rows by nobody's session.
int replica_snapshot(const Plan& plan, const std::uint8_t* w, int db);

// The first world: a replica that has everything.
void start_replica(const Plan& plan, std::uint8_t* w, int db);

// The replica applies all that is committed.
void replicate(const Plan& plan, std::uint8_t* w, int db);

// The replica takes over with what it has; a new replica starts in step with it. REQUIRES: all sessions of the database have
// ended (end_session).
void fail_over(const Plan& plan, std::uint8_t* w, int db);

}  // namespace oncecheck

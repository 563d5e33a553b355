// A pool of connections in transaction mode between the services and a database: PgBouncer's pool_mode = transaction
// (pgbouncer.org, "Features": what a session keeps is not for its client alone), RDS Proxy without pinning, pgcat, Odyssey.
//
// Outside of a transaction a client has no connection. The next statement gets one: an idle one, whichever the pool picks, or a
// new one while there are fewer than the pool may have. It goes back when the transaction, or the statement outside of one,
// has ended. What the session had stays on the connection and is the next client's: locks of pg_advisory_lock and GET_LOCK,
// SET lock_timeout and its like, SET SESSION ... ISOLATION LEVEL, autocommit. The model lets the pool pick any connection;
// PgBouncer takes the one used last, of those that are idle at that moment.
//
// Idle connections with something left on them are sessions of nobody (PoolLayout::idle), alike but for what is left. One with
// nothing left is only counted. A client whose process dies in a transaction takes its connection along.
#pragma once

#include "model/program/program.hpp"

namespace oncecheck {

// In how many ways a ready task can get a connection for its next statement: 1 without a pool or when it has one, 0 when all are
// taken and it has to wait.
int connection_ways(const Program& program, const std::uint8_t* world, int task, const SqlStatement& statement);

// The idle connection that this way gives it; -1: one with nothing left on it, or the one that it has. REQUIRES: way is less
// than connection_ways.
int connection_of_way(const Program& program, const std::uint8_t* world, int task, const SqlStatement& statement, int way);

// The task's session becomes what that connection is. REQUIRES: as above, or the task's statement has begun already.
void take_connection(const Program& program, std::uint8_t* world, int task, const SqlStatement& statement, int way);

// After a statement: outside of a transaction the connection goes back to the pool.
void give_connection_back(const Plan& plan, std::uint8_t* world, int session);

// Whether something is left on this idle connection.
bool left_on_connection(const Plan& plan, const std::uint8_t* world, int session);

// Canonical form: those with something left first, in the order of what it is. Changes who owns advisory locks.
void sort_idle_connections(const Plan& plan, std::uint8_t* world, const DatabaseLayout& db);

}  // namespace oncecheck

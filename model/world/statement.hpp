// Runs one SQL statement of a session. This is where a statement blocks, goes on after a wait, and fails.
//
// PostgreSQL at READ COMMITTED (manual 13.2.1): the statement reads by a snapshot taken at its start. A row changed by an
// uncommitted transaction makes it wait; when that one commits, the newest version of *that row* is tested again, nothing
// else is re-done. An INSERT waits for an uncommitted transaction that inserted, deleted or changed a row with the same key.
// A statement is one event, with one exception: a write that reads by a query (INSERT ... SELECT, a subquery in WHERE) outside
// of a transaction commits in a second event. Between the two others can read the same and write too, as on a real server.
// A blocked statement keeps what it has done so far and its snapshot; calling again after the wake-up goes on.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

struct ExecResult {
  enum class Status { Done, Blocked, Error } status = Status::Done;
  ErrorClass error = ErrorClass::None;
  int blocked_by = -1;  // session, when Blocked
};

// REQUIRES: ctx.session is a session of the statement's database; ctx.locals its task's locals; `locals` the same, writable.
// On Blocked the session's wait is recorded. On Error an explicit transaction is left failed, an implicit one rolled back.
// When ctx.limit is set afterwards the world is not meaningful and must be dropped.
ExecResult exec_sql(Context& ctx, const SqlStatement& statement, std::uint8_t* locals);

// Ends the wait of a blocked statement with an error (deadlock, lock time-out, cancel) and undoes what the engine undoes then.
// Gives the error that the client gets.
ErrorClass fail_waiting_statement(const Plan& plan, std::uint8_t* w, int session, ErrorClass error);

// GET_LOCK gives 0 when it times out, and NULL when it is cancelled (MariaDB): no error. Then true; the statement is to go on.
bool wait_gives_result(const Plan& plan, std::uint8_t* w, int session, ErrorClass error);

// Whether the statement, run now, may make something permanent that the end of the session does not undo: what an autocommitted
// write stores, what it commits by itself (MySQL's BEGIN and SET autocommit = 1 inside of a transaction), numbers that it takes.
bool may_last(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& statement);

// SET lock_timeout, SET statement_timeout and their like.
void set_timeout(const Plan& plan, std::uint8_t* w, int session, const SqlStatement& statement);

}  // namespace oncecheck

// Transactions of a session on InnoDB. commit_transaction and rollback_transaction (transaction.hpp) come here by
// engine.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

void innodb_commit(const Plan& plan, std::uint8_t* w, int session);
// Also for the victim of a deadlock: the BEGIN is undone too, and the next statement commits by itself.
void innodb_rollback(const Plan& plan, std::uint8_t* w, int session);

// The running statement has ended well, or has been undone.
void innodb_end_statement(const Plan& plan, std::uint8_t* w, int session);
// An error undoes the statement and keeps its locks; without a BEGIN the transaction is at its end.
void innodb_fail_statement(const Plan& plan, std::uint8_t* w, int session);

// What waits gives up: the victim of a deadlock (1213), innodb_lock_wait_timeout (1205), KILL QUERY (1317). A deadlock
// over GET_LOCK undoes nothing. With innodb_rollback_on_timeout a time-out ends the transaction. Gives the error that the
// client gets: of a wait for the AUTO-INC lock it hears only that no number could be read (1467), whatever has happened.
ErrorClass innodb_fail_waiting(const Plan& plan, std::uint8_t* w, int session, ErrorClass error);

// GET_LOCK waits no longer: executed again it gives 0, or NULL when it was cancelled.
void innodb_give_up_name(const Plan& plan, std::uint8_t* w, int session, bool cancelled);
inline constexpr std::uint8_t kNameTimedOut = 254, kNameCancelled = 253;  // in place of the rows counted

// ROLLBACK TO: what was done since the savepoint is undone; the locks stay, unless the transaction had not used InnoDB
// before.
void innodb_rollback_to(const Plan& plan, std::uint8_t* w, int session, int level);
// What was done at `level` or deeper now belongs to the level above it (RELEASE, or the name is set again).
void innodb_merge_level(const Plan& plan, std::uint8_t* w, int session, int level);

// Purge of what no snapshot needs (InnodbRows::purge): of everything, or of one deleted row or replaced version.
void innodb_purge(const Plan& plan, std::uint8_t* w, int db);
bool innodb_purgeable(const Plan& plan, const std::uint8_t* w, int table, int slot);
void innodb_purge_row(const Plan& plan, std::uint8_t* w, int table, int slot);

// The weight by which InnoDB chooses the victim of a deadlock: rows changed and locks.
int innodb_weight(const Plan& plan, std::uint8_t* w, int session);

// Whether NOW() of the session stands still: its statement waits.
bool innodb_statement_runs(const Plan& plan, const std::uint8_t* w, int session);

}  // namespace oncecheck

#include "model/world/transaction.hpp"

#include <cstring>

#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/savepoint.hpp"
#include "model/world/sequence.hpp"
#include "model/world/session_settings.hpp"
#include "model/world/ssi.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

int db_of(const Plan& plan, int session) { return plan.layout.sessions[static_cast<std::size_t>(session)].db; }

const DatabaseLayout& database_of(const Plan& plan, int session) {
  return plan.layout.databases[static_cast<std::size_t>(db_of(plan, session))];
}

void drop_locks(const Plan& plan, std::uint8_t* w, int session) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  each_version(plan.layout, w, db_of(plan, session), [&](const TableLayout& table, std::uint8_t* v) {
    if (table.locks >= 0) v[table.locks + s.number] = 0;
  });
}

void clear_wait(const Plan& plan, std::uint8_t* w, int session) {
  std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  if (s[kWaits] != 0 && s[kWaitKind] == kWaitAdvisory) stop_waiting_advisory(plan, w, session);
  for (int k : {kWaits, kPosition, kWaitKind, kPart, kWaitTable, kWaitSlot}) s[k] = 0;
}

void leave(const Plan& plan, std::uint8_t* w, int session, TxState next, bool committed) {
  std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  s[kTx] = next;
  if (next == kNoTx) {
    s[kIsolation] = 0;
    s[kSessionFlags] = static_cast<std::uint8_t>(s[kSessionFlags] & ~kTxReadOnly);
  }
  clear_wait(plan, w, session);
  end_settings(plan.layout, w, session, committed);
  clear_savepoints(plan.layout, w, session);
  if (database_of(plan, session).advisory.offset >= 0) end_transaction_advisory(plan, w, session, 0);
  drop_locks(plan, w, session);
  wake_waiters(plan, w, session);
  forget_session_time(plan, w, session);
  forget_number(plan, w, session);
}

}  // namespace

void wake_waiters(const Plan& plan, std::uint8_t* w, int session) {
  for (int other : database_of(plan, session).sessions) {
    std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(other)].offset;
    if (s[kWaits] == session + 1 && s[kWaitKind] != kWaitAdvisory) s[kWaits] = 0;
  }
}

void commit_transaction(const Plan& plan, std::uint8_t* w, int session, Limit* limit) {
  if (is_innodb(database_of(plan, session).engine)) return innodb_commit(plan, w, session);
  if (ssi_tracked(plan, w, session)) {
    Limit full;
    ssi_committed(plan, w, session, full);
    if (full && limit != nullptr) *limit = full;
    CHECK_THAT(!full || limit != nullptr);
  }
  release_snapshot(plan.layout, w, session);
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  const std::uint8_t mine = mark_of(session);
  const auto committed = static_cast<std::uint8_t>(1 + live_snapshots(plan.layout, w, s.db));
  each_version(plan.layout, w, db_of(plan, session), [&](const TableLayout& table, std::uint8_t* v) {
    const bool made = v[kXmin] == mine;
    if (made) {
      v[kXmin] = committed;
      if (table.subs >= 0) v[table.subs] = 0;
    }
    if (v[kXmax] == mine) {
      v[kXmax] = committed;
      if (table.subs >= 0) v[table.subs + 1] = 0;
      // No live snapshot sees the version any more.
      if (committed == 1) {
        std::memset(v, 0, static_cast<std::size_t>(table.stride));
        return;
      }
    }
    if (made && v[kXmax] == 0) v[kFlags] = 0;
  });
  leave(plan, w, session, kNoTx, true);
}

void rollback_transaction(const Plan& plan, std::uint8_t* w, int session, TxState next) {
  if (is_innodb(database_of(plan, session).engine)) return innodb_rollback(plan, w, session);
  if (ssi_tracked(plan, w, session)) ssi_aborted(plan, w, session);
  release_snapshot(plan.layout, w, session);
  const std::uint8_t mine = mark_of(session);
  each_version(plan.layout, w, db_of(plan, session), [&](const TableLayout& table, std::uint8_t* v) {
    if (v[kXmin] == mine) {
      std::memset(v, 0, static_cast<std::size_t>(table.stride));
    } else if (v[kXmax] == mine) {
      v[kXmax] = 0;
      v[kNext] = 0;
      v[kFlags] = 0;
      if (table.subs >= 0) v[table.subs + 1] = 0;
    }
  });
  leave(plan, w, session, next, false);
}

void fail_transaction(const Plan& plan, std::uint8_t* w, int session) {
  const int depth = savepoint_depth(plan.layout, w, session);
  if (depth == 0) {
    rollback_transaction(plan, w, session, kFailedTx);
    return;
  }
  std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  undo_to_level(plan, w, session, depth);
  end_statement(plan, w, session);
  clear_wait(plan, w, session);
  s[kTx] = kFailedTx;
}

void end_session(const Plan& plan, std::uint8_t* w, int session) {
  std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  if (s[kTx] != kNoTx) rollback_transaction(plan, w, session, kNoTx);
  if (database_of(plan, session).advisory.offset >= 0) end_session_advisory(plan, w, session);
  clear_wait(plan, w, session);
  s[kSessionFlags] = 0;
  s[kIsolation] = 0;  // of SET TRANSACTION, with no transaction after it
}

void end_statement(const Plan& plan, std::uint8_t* w, int session) {
  const std::uint8_t mine = mark_of(session);
  each_version(plan.layout, w, db_of(plan, session), [&](const TableLayout&, std::uint8_t* v) {
    if (v[kXmin] == mine) v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & ~kMadeByCommand);
    if (v[kXmax] == mine) v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & ~kEndedByCommand);
  });
  std::uint8_t* s = w + plan.layout.sessions[static_cast<std::size_t>(session)].offset;
  s[kPosition] = 0;
  s[kPart] = 0;
  // The waiters behind us for a row that we have now wait for our transaction: they look again.
  if (s[kWaitTable] != 0) {
    for (int other : database_of(plan, session).sessions) {
      std::uint8_t* o = w + plan.layout.sessions[static_cast<std::size_t>(other)].offset;
      if (o[kWaits] == session + 1 && waits_behind(o)) o[kWaits] = 0;
    }
  }
  for (int k : {kWaitKind, kWaitTable, kWaitSlot}) s[k] = 0;
  const bool keeps = s[kTx] != kImplicitTx && s[kIsolation] >= static_cast<std::uint8_t>(Isolation::RepeatableRead);
  if (!keeps) release_snapshot(plan.layout, w, session);
}

void wait_for(const Plan& plan, std::uint8_t* w, int session, int holder) {
  w[plan.layout.sessions[static_cast<std::size_t>(session)].offset + kWaits] = static_cast<std::uint8_t>(holder + 1);
}

}  // namespace oncecheck

#include "model/world/innodb_transaction.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/advisory.hpp"
#include "model/world/innodb_rows.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/savepoint.hpp"
#include "model/world/sequence.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

const SessionLayout& layout_of(const Plan& plan, int session) {
  return plan.layout.sessions[static_cast<std::size_t>(session)];
}

InnodbRows rows_of(const Plan& plan, std::uint8_t* w, int session) {
  return InnodbRows(plan, w, layout_of(plan, session).db, session);
}

// For the purge thread, which has no session of its own: seen from the first one of the table's database.
InnodbRows rows_of_table(const Plan& plan, std::uint8_t* w, int table) {
  const auto db = static_cast<std::size_t>(plan.layout.tables[static_cast<std::size_t>(table)].db);
  return rows_of(plan, w, plan.layout.databases[db].sessions.front());
}

void forget_statement(const Plan& plan, std::uint8_t* w, int session, LockTable& locks) {
  std::uint8_t* s = w + layout_of(plan, session).offset;
  if (s[kWaits] != 0 && s[kWaitKind] == kWaitAdvisory) stop_waiting_advisory(plan, w, session);
  for (int k : {kWaits, kPosition, kWaitKind, kPart}) s[k] = 0;
  std::uint8_t* bytes = locks.session_bytes(session);
  bytes[0] = static_cast<std::uint8_t>(bytes[0] & ~(kStatementRuns | kKeepsGaps | kByCovering));
  std::memset(bytes + 1, 0, kInnodbSessionBytes - 1);
}

void leave(const Plan& plan, std::uint8_t* w, int session) {
  InnodbRows rows = rows_of(plan, w, session);
  std::uint8_t* s = w + layout_of(plan, session).offset;
  rows.locks().stop_waiting(session);
  rows.locks().release_all(session);
  forget_statement(plan, w, session, rows.locks());
  rows.locks().session_bytes(session)[0] = 0;
  s[kTx] = kNoTx;
  s[kIsolation] = 0;
  s[kSessionFlags] = static_cast<std::uint8_t>(s[kSessionFlags] & ~kTxReadOnly);
  clear_savepoints(plan.layout, w, session);
  rows.locks().grant();
  rows.purge();
  forget_session_time(plan, w, session);
  forget_number(plan, w, session);
}

}  // namespace

void innodb_commit(const Plan& plan, std::uint8_t* w, int session) {
  InnodbRows rows = rows_of(plan, w, session);
  rows.release_snapshot();
  rows.commit();
  leave(plan, w, session);
}

void innodb_rollback(const Plan& plan, std::uint8_t* w, int session) {
  InnodbRows rows = rows_of(plan, w, session);
  rows.locks().stop_waiting(session);
  rows.undo_all();
  rows.release_snapshot();
  leave(plan, w, session);
}

void innodb_end_statement(const Plan& plan, std::uint8_t* w, int session) {
  InnodbRows rows = rows_of(plan, w, session);
  rows.end_statement();
  rows.locks().release_numbers(session);
  if (innodb_isolation(plan.layout, w, session) <= Isolation::ReadCommitted) rows.release_snapshot();
  forget_statement(plan, w, session, rows.locks());
  rows.locks().grant();
  rows.purge();
  forget_session_time(plan, w, session);
}

void innodb_fail_statement(const Plan& plan, std::uint8_t* w, int session) {
  if (w[layout_of(plan, session).offset + kTx] != kOpenTx) {
    innodb_rollback(plan, w, session);
    return;
  }
  InnodbRows rows = rows_of(plan, w, session);
  rows.locks().stop_waiting(session);
  rows.undo_statement();
  innodb_end_statement(plan, w, session);
}

ErrorClass innodb_fail_waiting(const Plan& plan, std::uint8_t* w, int session, ErrorClass error) {
  const bool numbers = rows_of(plan, w, session).locks().waits_for_numbers(session);
  const DatabaseLayout& db = plan.layout.databases[static_cast<std::size_t>(layout_of(plan, session).db)];
  const bool name = w[layout_of(plan, session).offset + kWaitKind] == kWaitAdvisory;
  const bool whole = error == ErrorClass::Deadlock || (error == ErrorClass::LockTimeout && db.rollback_on_timeout);
  if (whole && !name) {
    innodb_rollback(plan, w, session);
  } else {
    innodb_fail_statement(plan, w, session);
  }
  return numbers ? ErrorClass::Other : error;
}

void innodb_give_up_name(const Plan& plan, std::uint8_t* w, int session, bool cancelled) {
  stop_waiting_advisory(plan, w, session);
  w[layout_of(plan, session).offset + kWaits] = 0;
  InnodbRows rows = rows_of(plan, w, session);
  rows.locks().session_bytes(session)[1] = cancelled ? kNameCancelled : kNameTimedOut;
}

void innodb_rollback_to(const Plan& plan, std::uint8_t* w, int session, int level) {
  InnodbRows rows = rows_of(plan, w, session);
  std::uint8_t& flags = rows.locks().session_bytes(session)[0];
  if ((flags & kRegistered) && (flags >> kDepthShift) >= level) {
    rows.undo_all();
    rows.release_snapshot();
    rows.locks().release_all(session);
    flags = 0;
  } else {
    rows.undo_level(level);
  }
  rows.locks().grant();
  rows.purge();
}

void innodb_merge_level(const Plan& plan, std::uint8_t* w, int session, int level) {
  InnodbRows rows = rows_of(plan, w, session);
  std::uint8_t& flags = rows.locks().session_bytes(session)[0];
  if ((flags & kRegistered) && (flags >> kDepthShift) >= level) {
    flags = static_cast<std::uint8_t>(flags - (1 << kDepthShift));
  }
  for (int t : plan.layout.databases[static_cast<std::size_t>(layout_of(plan, session).db)].tables) {
    const TableLayout& table = plan.layout.tables[static_cast<std::size_t>(t)];
    for (int i = 0; i < table.slots; ++i) {
      std::uint8_t* v = w + table.offset + i * table.stride;
      if (v[kXmin] == mark_of(session) && v[table.subs] >= level) --v[table.subs];
      if (v[kXmax] == mark_of(session) && v[table.subs + 1] >= level) --v[table.subs + 1];
    }
  }
}

void innodb_purge(const Plan& plan, std::uint8_t* w, int db) {
  const std::vector<int>& sessions = plan.layout.databases[static_cast<std::size_t>(db)].sessions;
  if (!sessions.empty()) rows_of(plan, w, sessions.front()).purge_all();
}

bool innodb_purgeable(const Plan& plan, const std::uint8_t* w, int table, int slot) {
  const std::uint8_t* v = slot_of(plan.layout.tables[static_cast<std::size_t>(table)], w, slot);
  if (v[kXmin] == 0 || v[kXmax] != 1) return false;
  // Only looked at: InnodbRows changes nothing before it is asked to.
  return rows_of_table(plan, const_cast<std::uint8_t*>(w), table).purgeable(table, slot);
}

void innodb_purge_row(const Plan& plan, std::uint8_t* w, int table, int slot) {
  rows_of_table(plan, w, table).purge_row(table, slot);
}

int innodb_weight(const Plan& plan, std::uint8_t* w, int session) {
  InnodbRows rows = rows_of(plan, w, session);
  return rows.changed_rows() + rows.locks().entries_of(session);
}

bool innodb_statement_runs(const Plan& plan, const std::uint8_t* w, int session) {
  const SessionLayout& s = layout_of(plan, session);
  const LockTableLayout& locks = plan.layout.databases[static_cast<std::size_t>(s.db)].lock_table;
  return (w[locks.sessions + s.number * kInnodbSessionBytes] & kStatementRuns) != 0;
}

}  // namespace oncecheck

#include "model/world/ssi.hpp"

#include <algorithm>

#include "model/world/access_path.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/ssi_records.hpp"
#include "model/world/ssi_subqueries.hpp"
#include "model/world/statement_run.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

// Marks conflicts of one database's records and looks for dangerous structures.
class Conflicts {
 public:
  Conflicts(const Plan& plan, std::uint8_t* w, int db) : records_(plan, w, db) {}

  SsiRecords& records() { return records_; }

  // reader -> writer, found by `me` (one of the two). False when `me` must fail: then the conflict is not recorded, and after a
  // ROLLBACK TO SAVEPOINT the same step fails again (FlagRWConflict).
  bool add(int reader, int writer, int me) {
    if (reader == writer || !records_.concurrent(reader, writer)) return true;
    const int other = me == reader ? writer : reader;
    if (records_.doomed(other) || records_.has_edge(reader, writer)) return true;
    if (dangerous(reader, writer) && !abort_one(writer, me)) return false;
    records_.add_edge(reader, writer);
    return true;
  }

 private:
  // OnConflict_CheckForSerializationFailure of predicate.c.
  bool dangerous(int reader, int writer) {
    // The writer committed with a conflict out to one that committed before it.
    if (records_.committed(writer) && records_.flag(writer, kSsiConflictOut)) return true;
    bool found = false;
    records_.each(records_.out_of(writer), [&](int t2) {
      found = found || (records_.committed(t2) && (!records_.committed(reader) || t2 == reader || t2 < reader) &&
                        (!records_.committed(writer) || t2 < writer) &&
                        (!records_.read_only(reader) || !records_.concurrent(reader, t2)));
    });
    if (found) return true;
    if (!records_.committed(writer) || records_.read_only(reader)) return false;
    records_.each(records_.in_of(reader), [&](int t0) {
      found = found || (!records_.doomed(t0) && (!records_.committed(t0) || t0 >= writer) &&
                        (!records_.read_only(t0) || !records_.concurrent(t0, writer)));
    });
    return found;
  }

  // The writer fails, now or at its next step; when it has committed the reader does. False when that is `me`.
  bool abort_one(int writer, int me) {
    if (me == writer || records_.committed(writer)) return false;
    records_.set_flag(writer, kSsiDoomed);
    return true;
  }

  SsiRecords records_;
};

int database_of(const Context& ctx) { return ctx.plan.layout.sessions[static_cast<std::size_t>(ctx.session)].db; }
int record_of(const Plan& plan, int session) { return plan.layout.sessions[static_cast<std::size_t>(session)].number; }

// Context::choice while a statement runs.
constexpr int kGrainBits = 3, kMeetsRemains = 4;

bool checks_foreign_keys(const Plan& plan, const SqlStatement& s) {
  if (s.kind != SqlKind::Insert && s.kind != SqlKind::Update && s.kind != SqlKind::Delete) return false;
  const DatabaseLayout& db = plan.layout.databases[static_cast<std::size_t>(s.db)];
  if (!db.foreign_keys) return false;
  if (!plan.layout.tables[static_cast<std::size_t>(s.table)].foreign_keys.empty()) return true;
  return std::any_of(db.tables.begin(), db.tables.end(), [&](int t) {
    const auto& keys = plan.layout.tables[static_cast<std::size_t>(t)].foreign_keys;
    return std::any_of(keys.begin(), keys.end(), [&](const ForeignKey& key) { return key.parent == s.table; });
  });
}

// Whether it reads something through an index.
bool by_index(const Plan& plan, const SqlStatement& s) {
  return s.reads_by_index || checks_foreign_keys(plan, s) ||
         std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) { return checks_foreign_keys(plan, part); });
}

// Whether the remains of a row make a difference: the statement scans, and its transaction must fail.
bool remains_count(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& statement) {
  const bool scans = statement.kind == SqlKind::Select || statement.kind == SqlKind::SelectLock || statement.kind == SqlKind::Insert ||
                     statement.kind == SqlKind::Update || statement.kind == SqlKind::Delete;
  if (!scans) return false;
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  const std::uint8_t* record = w + plan.layout.databases[static_cast<std::size_t>(s.db)].ssi.offset + s.number * kSsiRecordBytes;
  return record[0] == kSsiActive && (record[1] & kSsiDoomed) != 0;
}

class Tracker {
 public:
  Tracker(Context& ctx, int table)
      : ctx_(ctx),
        table_(ctx.plan.layout.tables[static_cast<std::size_t>(table)]),
        conflicts_(ctx.plan, ctx.w, database_of(ctx)),
        me_(record_of(ctx.plan, ctx.session)),
        number_(table) {}

  void scan(const AccessPath& access, int waited_at) {
    const bool full = access.index < 0 || grain() == SsiGrain::Table;
    if (full) {
      records().read(records().table_mask(number_), me_);
    } else if (!remember_keys(access)) {
      records().read(records().index_mask(number_, access.index), me_);
    }
    visit(full, ctx_.snapshot, waited_at, [&](const std::uint8_t* v) { return full || in_ranges(ctx_, table_, access, v); });
  }

  void look_up(const std::vector<int>& columns, const CellId* values, int snapshot) {
    int index = -1, key = -1;
    for (std::size_t x = 0; x < table_.indexes.size() && index < 0; ++x) {
      const auto at = std::find(columns.begin(), columns.end(), table_.indexes[x].columns[0]);
      if (at == columns.end() || table_.indexes[x].where != kNoExpr) continue;
      index = static_cast<int>(x);
      key = static_cast<int>(at - columns.begin());
    }
    const bool full = index < 0 || grain() == SsiGrain::Table;
    if (full) {
      records().read(records().table_mask(number_), me_);
    } else if (grain() == SsiGrain::Key) {
      remember_key(index, values[key]);
    } else {
      records().read(records().index_mask(number_, index), me_);
    }
    visit(full, snapshot, -1, [&](const std::uint8_t* v) {
      bool same = true;
      for (std::size_t c = 0; c < columns.size(); ++c) same = same && column_of(ctx_.plan.layout, table_, v, columns[c]) == values[c];
      return full || same;
    });
  }

  void end(std::uint8_t* v) {
    fail_if_doomed();
    readers(v + table_.ssi + 2);
    readers(records().table_mask(number_));
    v[table_.ssi + 1] = static_cast<std::uint8_t>(me_ + 1);
    records().set_flag(me_, kSsiWrote);
  }

  void stored(std::uint8_t* v) {
    fail_if_doomed();
    v[table_.ssi] = static_cast<std::uint8_t>(me_ + 1);
    records().set_flag(me_, kSsiWrote);
    readers(records().table_mask(number_));
  }

  void key_readers(int index, CellId first) {
    fail_if_doomed();
    readers(records().index_mask(number_, index));
    records().each_key(number_, index, first, [&](std::uint8_t* mask) { readers(mask); });
  }

 private:
  SsiRecords& records() { return conflicts_.records(); }
  void fail() { ctx_.serialization_failure = true; }
  void fail_if_doomed() {
    if (records().doomed(me_)) fail();
  }
  SsiGrain grain() const { return static_cast<SsiGrain>(ctx_.choice & kGrainBits); }

  // HeapCheckForSerializableConflictOut for each version that the scan fetches. A scan of the table fetches a page at once, so
  // before any wait; one through an index goes on fetching after it.
  template <class Fetches>
  void visit(bool full, int snapshot, int waited_at, Fetches fetches) {
    const std::uint8_t* session = ctx_.w + ctx_.plan.layout.sessions[static_cast<std::size_t>(ctx_.session)].offset;
    const bool resumed = has_waited(session);
    const bool doomed = records().doomed(me_);
    bool met = false;
    for (int i = 0; i < table_.slots; ++i) {
      std::uint8_t* v = slot_of(table_, ctx_.w, i);
      if (v[kXmin] == 0 || !fetches(v)) continue;
      met = met || !resumed || (!full && waited_at >= 0 && i != waited_at);
      const bool mine = v[kXmin] == mark_of(ctx_.session);
      if (version_visible(v, ctx_.session, snapshot)) {
        if (!mine && !full) records().read(v + table_.ssi + 2, me_);
        wrote(v[table_.ssi + 1]);
      } else if (!mine) {
        wrote(v[table_.ssi]);
      }
    }
    if (doomed && (met || (!resumed && (ctx_.choice & kMeetsRemains) != 0))) fail();
  }

  void wrote(std::uint8_t record) {
    if (record != 0 && !conflicts_.add(me_, record - 1, me_)) fail();
  }

  void readers(const std::uint8_t* mask) {
    records().each(load_mask(mask), [&](int reader) {
      if (!conflicts_.add(reader, me_, me_)) fail();
    });
  }

  // The values that an equality looks up; false when only the whole index will do.
  bool remember_keys(const AccessPath& access) {
    if (grain() != SsiGrain::Key) return false;
    for (const KeyRange& range : access.ranges) {
      if (range.equal.empty()) return false;
    }
    for (const KeyRange& range : access.ranges) {
      const Val v = eval(ctx_, range.equal[0]);
      if (v.is_null() || v.kind == Kind::NowRel || v.kind == Kind::Interval) continue;
      Limit lacking;  // a value outside the domain is never stored, so nobody can write it
      const CellId cell = ctx_.plan.domain.encode(v, lacking);
      if (!lacking) remember_key(access.index, cell);
    }
    return true;
  }

  void remember_key(int index, CellId value) {
    if (!records().remember_key(number_, index, value, me_)) ctx_.fail(LimitKind::SerializableHistory);
  }

  Context& ctx_;
  const TableLayout& table_;
  Conflicts conflicts_;
  int me_;
  int number_;
};

}  // namespace

int ssi_choices(const Plan& plan, const std::uint8_t* w, int session, int settings, const SqlStatement& statement) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  if (plan.layout.databases[static_cast<std::size_t>(s.db)].ssi.offset < 0) return 1;
  const std::uint8_t* me = w + s.offset;
  const int set = session_level(w + plan.layout.sessions[static_cast<std::size_t>(settings)].offset);
  const Isolation outside = set > 0 ? static_cast<Isolation>(set - 1) : s.isolation;
  const Isolation level = me[kTx] == kNoTx ? outside : static_cast<Isolation>(me[kIsolation]);
  if (level != Isolation::Serializable || me[kTx] == kFailedTx || me[kPosition] == kCommitPending) return 1;
  return (by_index(plan, statement) ? kSsiGrains : 1) * (asks_subqueries(plan.code, statement) ? 2 : 1) *
         (remains_count(plan, w, session, statement) ? 2 : 1);
}

bool ssi_take_choice(Context& ctx, const SqlStatement& statement) {
  int rest = ctx.choice;
  auto digit = [&](bool there, int base) {
    if (!there) return 0;
    const int value = rest % base;
    rest /= base;
    return value;
  };
  const int grain = digit(by_index(ctx.plan, statement), kSsiGrains);
  const int ahead = digit(asks_subqueries(ctx.plan.code, statement), 2);
  const int remains = digit(remains_count(ctx.plan, ctx.w, ctx.session, statement), 2);
  ctx.choice = grain | (remains != 0 ? kMeetsRemains : 0);
  return ahead != 0;
}

void ssi_begin(const Plan& plan, std::uint8_t* w, int session, bool read_only) {
  SsiRecords records(plan, w, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  records.begin(record_of(plan, session), read_only);
}

bool ssi_tracked(const Plan& plan, const std::uint8_t* w, int session) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  const SsiLayout& ssi = plan.layout.databases[static_cast<std::size_t>(s.db)].ssi;
  return ssi.offset >= 0 && w[ssi.offset + s.number * kSsiRecordBytes] == kSsiActive;
}

void ssi_scan(Context& ctx, int table, const AccessPath& access, int waited_at) { Tracker(ctx, table).scan(access, waited_at); }

void ssi_look_up(Context& ctx, int table, const std::vector<int>& columns, const CellId* values, int snapshot) {
  Tracker(ctx, table).look_up(columns, values, snapshot);
}

void ssi_end_version(Context& ctx, int table, std::uint8_t* version) { Tracker(ctx, table).end(version); }

void ssi_new_version(Context& ctx, int table, std::uint8_t* version) { Tracker(ctx, table).stored(version); }

bool ssi_enter_index(Context& ctx, int table, int index, const std::uint8_t* version) {
  const TableLayout& t = ctx.plan.layout.tables[static_cast<std::size_t>(table)];
  const int first = t.indexes[static_cast<std::size_t>(index)].columns[0];
  Tracker(ctx, table).key_readers(index, column_of(ctx.plan.layout, t, version, first));
  return !ctx.serialization_failure;
}

// PreCommit_CheckForSerializationFailure of predicate.c.
bool ssi_may_commit(const Plan& plan, std::uint8_t* w, int session) {
  SsiRecords records(plan, w, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  const int me = record_of(plan, session);
  if (records.doomed(me)) return false;
  records.each(records.in_of(me), [&](int near) {
    if (records.committed(near) || records.doomed(near)) return;
    records.each(records.in_of(near), [&](int far) {
      const bool pivot = far == me || (!records.committed(far) && !records.read_only(far) && !records.doomed(far));
      if (pivot) records.set_flag(near, kSsiDoomed);
    });
  });
  return true;
}

void ssi_committed(const Plan& plan, std::uint8_t* w, int session, Limit& limit) {
  SsiRecords records(plan, w, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  const int me = record_of(plan, session);
  if (!records.flag(me, kSsiWrote)) records.set_flag(me, kSsiReadOnly);
  if (!records.read_only(me)) {
    records.each(records.out_of(me), [&](int t) {
      if (records.committed(t)) records.set_flag(me, kSsiConflictOut);
    });
  }
  if (!records.finish(me)) limit = {LimitKind::SerializableHistory, 0};
}

void ssi_aborted(const Plan& plan, std::uint8_t* w, int session) {
  SsiRecords records(plan, w, plan.layout.sessions[static_cast<std::size_t>(session)].db);
  records.erase(record_of(plan, session));
  records.forget_old();
}

}  // namespace oncecheck

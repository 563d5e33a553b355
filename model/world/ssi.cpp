#include "model/world/ssi.hpp"

#include <cstring>

#include "model/world/access_path.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/ssi_records.hpp"

namespace oncecheck {

namespace {

// Marks conflicts of one database's records and looks for dangerous structures.
class Conflicts {
 public:
  Conflicts(const Plan& plan, std::uint8_t* w, int db) : records_(plan, w, db) {}

  SsiRecords& records() { return records_; }

  // reader -> writer, found by `me` (one of the two). False when `me` must fail.
  bool add(int reader, int writer, int me) {
    if (reader == writer || !records_.concurrent(reader, writer)) return true;
    const int other = me == reader ? writer : reader;
    if (records_.doomed(other) || records_.has_edge(reader, writer)) return true;
    records_.add_edge(reader, writer);
    return !dangerous(reader, writer) || abort_one(writer, me);
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

class Tracker {
 public:
  Tracker(Context& ctx, int table)
      : ctx_(ctx),
        table_(ctx.plan.layout.tables[static_cast<std::size_t>(table)]),
        conflicts_(ctx.plan, ctx.w, database_of(ctx)),
        me_(record_of(ctx.plan, ctx.session)),
        number_(table) {
    if (records().doomed(me_)) fail();
  }

  void scan(const AccessPath& access) {
    const bool full = access.index < 0 || ctx_.choice == static_cast<int>(SsiGrain::Table);
    if (full) {
      records().read(records().table_mask(number_), me_);
    } else if (!remember_keys(access)) {
      records().read(records().index_mask(number_, access.index), me_);
    }
    for (int i = 0; i < table_.slots; ++i) {
      std::uint8_t* v = slot_of(table_, ctx_.w, i);
      if (v[kXmin] == 0 || !in_ranges(ctx_, table_, access, v)) continue;
      const bool mine = v[kXmin] == mark_of(ctx_.session);
      if (version_visible(v, ctx_.session, ctx_.snapshot)) {
        if (!mine && !full) records().read(v + table_.ssi + 2, me_);
        wrote(v[table_.ssi + 1]);
      } else if (!mine) {
        wrote(v[table_.ssi]);
      }
    }
  }

  void end(std::uint8_t* v) {
    readers(v + table_.ssi + 2);
    readers(records().table_mask(number_));
    v[table_.ssi + 1] = static_cast<std::uint8_t>(me_ + 1);
    records().set_flag(me_, kSsiWrote);
  }

  void stored(std::uint8_t* v, bool new_keys) {
    v[table_.ssi] = static_cast<std::uint8_t>(me_ + 1);
    records().set_flag(me_, kSsiWrote);
    readers(records().table_mask(number_));
    if (!new_keys) return;
    for (std::size_t x = 0; x < table_.indexes.size(); ++x) {
      key_readers(static_cast<int>(x), column_of(ctx_.plan.layout, table_, v, table_.indexes[x].columns[0]));
    }
  }

  void key_readers(int index, CellId first) {
    readers(records().index_mask(number_, index));
    records().each_key(number_, index, first, [&](std::uint8_t* mask) { readers(mask); });
  }

 private:
  SsiRecords& records() { return conflicts_.records(); }
  void fail() { ctx_.serialization_failure = true; }

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
    if (ctx_.choice != static_cast<int>(SsiGrain::Key)) return false;
    for (const KeyRange& range : access.ranges) {
      if (range.equal.empty()) return false;
    }
    for (const KeyRange& range : access.ranges) {
      const Val v = eval(ctx_, range.equal[0]);
      if (v.is_null() || v.kind == Kind::NowRel || v.kind == Kind::Interval) continue;
      Limit lacking;  // a value outside the domain is never stored, so nobody can write it
      const CellId cell = ctx_.plan.domain.encode(v, lacking);
      if (!lacking && !records().remember_key(number_, access.index, cell, me_)) ctx_.fail(LimitKind::SerializableHistory);
    }
    return true;
  }

  Context& ctx_;
  const TableLayout& table_;
  Conflicts conflicts_;
  int me_;
  int number_;
};

}  // namespace

int ssi_choices(const Plan& plan, const std::uint8_t* w, int session, const SqlStatement& statement) {
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  if (!statement.reads_by_index || plan.layout.databases[static_cast<std::size_t>(s.db)].ssi.offset < 0) return 1;
  const std::uint8_t* me = w + s.offset;
  const Isolation level = me[kTx] == kNoTx ? s.isolation : static_cast<Isolation>(me[kIsolation]);
  return level == Isolation::Serializable && me[kTx] != kFailedTx ? kSsiGrains : 1;
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

void ssi_scan(Context& ctx, int table, const AccessPath& access) { Tracker(ctx, table).scan(access); }

void ssi_end_version(Context& ctx, int table, std::uint8_t* version) { Tracker(ctx, table).end(version); }

void ssi_new_version(Context& ctx, int table, std::uint8_t* version, bool new_keys) {
  Tracker(ctx, table).stored(version, new_keys);
}

void ssi_duplicate(Context& ctx, int table, int index, const CellId* cells) {
  const TableLayout& t = ctx.plan.layout.tables[static_cast<std::size_t>(table)];
  Tracker(ctx, table).key_readers(index, cells[t.indexes[static_cast<std::size_t>(index)].columns[0]]);
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

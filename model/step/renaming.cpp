#include "model/step/renaming.hpp"

#include <cstring>
#include <numeric>

#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/redis_store.hpp"
#include "model/world/ssi_records.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

Renaming::Renaming(const Program& program)
    : task(program.plan.layout.tasks.size()),
      session(program.plan.layout.sessions.size()),
      sender(program.senders.size()),
      operation(static_cast<std::size_t>(program.operations)),
      route(program.routes.size()),
      value(static_cast<std::size_t>(program.plan.domain.size())) {
  for (int count : program.plan.layout.instance_counts) instance.emplace_back(static_cast<std::size_t>(count));
  moves_clients = true;
  clear();
}

void Renaming::clear() {
  for (auto* numbers : {&task, &session, &sender}) std::iota(numbers->begin(), numbers->end(), std::uint8_t{0});
  for (auto& numbers : instance) std::iota(numbers.begin(), numbers.end(), std::uint8_t{0});
  if (moves_clients) {
    for (auto* numbers : {&operation, &route}) std::iota(numbers->begin(), numbers->end(), std::uint8_t{0});
    std::iota(value.begin(), value.end(), CellId{0});
  }
  moves_tasks = moves_senders = moves_instances = moves_clients = false;
}

void Renaming::move_task(const Layout& layout, int from, int to) {
  task[static_cast<std::size_t>(from)] = static_cast<std::uint8_t>(to);
  moves_tasks = moves_tasks || from != to;
  const std::vector<int>& mine = layout.tasks[static_cast<std::size_t>(from)].sessions;
  const std::vector<int>& there = layout.tasks[static_cast<std::size_t>(to)].sessions;
  for (std::size_t db = 0; db < mine.size(); ++db) {
    if (mine[db] >= 0) session[static_cast<std::size_t>(mine[db])] = static_cast<std::uint8_t>(there[db]);
  }
}

namespace {

class Renamer {
 public:
  Renamer(const Program& p, const Renaming& r, const std::uint8_t* from, std::uint8_t* to)
      : l_(p.plan.layout), r_(r), from_(from), w_(to) {}

  void run() {
    std::memcpy(w_, from_, static_cast<std::size_t>(l_.bytes));
    if (r_.moves_tasks) {
      move_tasks();
      move_sessions();
      for (const DatabaseLayout& db : l_.databases) database(db);
      redis_owners();
      provider_callers();
    }
    if (r_.moves_senders && sees(Reference::Senders)) {
      each(r_.sender, [&](int a, int b) {
        copy(l_.senders + a * kSenderBytes, l_.senders + b * kSenderBytes, kSenderBytes);
        if (l_.sender_zones >= 0) copy(l_.sender_zones + a, l_.sender_zones + b, 1);
      });
    }
    if (r_.moves_clients && sees(Reference::Told)) each(r_.operation, [&](int a, int b) { operation(a, b); });
    if (r_.moves_instances && sees(Reference::Flags)) instances();
    tasks();
    messages();
    if (r_.moves_tasks || r_.moves_instances) deadlines();
    if (r_.moves_clients && sees(Reference::Values)) values();
  }

 private:
  bool sees(Reference r) const { return oncecheck::sees(r_.forgotten, r); }
  static int at(const std::vector<std::uint8_t>& numbers, int i) { return numbers[static_cast<std::size_t>(i)]; }
  template <class Visit>
  static void each(const std::vector<std::uint8_t>& numbers, Visit visit) {
    for (int i = 0; i < static_cast<int>(numbers.size()); ++i) {
      if (at(numbers, i) != i) visit(i, at(numbers, i));
    }
  }
  void copy(int from, int to, int bytes) { std::memcpy(w_ + to, from_ + from, static_cast<std::size_t>(bytes)); }

  void move_tasks() {
    each(r_.task, [&](int a, int b) {
      const TaskLayout &old = l_.tasks[static_cast<std::size_t>(a)], &now = l_.tasks[static_cast<std::size_t>(b)];
      copy(old.offset, now.offset, old.bytes);
      for (const RedisLayout& redis : l_.redis) {
        const RedisConnections& c = redis.connections;
        if (c.bytes == 0 || c.offset[static_cast<std::size_t>(a)] < 0 || !sees(Reference::Connection)) continue;
        copy(c.offset[static_cast<std::size_t>(a)], c.offset[static_cast<std::size_t>(b)], c.bytes);
      }
    });
  }

  void move_sessions() {
    each(r_.session, [&](int a, int b) {
      const SessionLayout &old = l_.sessions[static_cast<std::size_t>(a)], &now = l_.sessions[static_cast<std::size_t>(b)];
      copy(old.offset, now.offset, kSessionBytes);
      if (old.savepoints >= 0 && sees(Reference::Savepoints)) copy(old.savepoints, now.savepoints, 1 + kMaxSavepoints);
      if (old.number_taken >= 0 && sees(Reference::NumberTaken)) copy(old.number_taken, now.number_taken, 3);
    });
    if (!sees(Reference::Waits)) return;
    for (const SessionLayout& s : l_.sessions) name(w_[s.offset + kWaits]);
  }

  // The name of a session: 1 + its number, 0 for none.
  void name(std::uint8_t& session) const {
    if (session != 0) session = static_cast<std::uint8_t>(at(r_.session, session - 1) + 1);
  }
  void mark(std::uint8_t& x) const {
    if (in_progress(x)) x = mark_of(at(r_.session, owner_of(x)));
  }

  int number(int session) const { return l_.sessions[static_cast<std::size_t>(session)].number; }

  void database(const DatabaseLayout& db) {
    for (int t : db.tables) rows(db, l_.tables[static_cast<std::size_t>(t)]);
    const LockTableLayout& locks = db.lock_table;
    for (int i = 0; locks.offset >= 0 && i < locks.slots && sees(Reference::LockEntry); ++i) name(w_[locks.entries + i * kLockBytes]);
    for (int s : db.sessions) {
      const int other = at(r_.session, s);
      if (other == s) continue;
      if (locks.offset >= 0 && sees(Reference::LockTableBytes)) {
        copy(locks.sessions + number(s) * kInnodbSessionBytes, locks.sessions + number(other) * kInnodbSessionBytes, kInnodbSessionBytes);
      }
      if (db.ssi.offset >= 0 && sees(Reference::SsiRecords)) {
        copy(db.ssi.offset + number(s) * kSsiRecordBytes, db.ssi.offset + number(other) * kSsiRecordBytes, kSsiRecordBytes);
      }
    }
    for (int i = 0; db.advisory.offset >= 0 && i < db.advisory.slots && sees(Reference::AdvisoryOwner); ++i) {
      name(w_[db.advisory.offset + i * db.advisory.stride]);
    }
    if (db.ssi.offset >= 0) ssi(db);
  }

  void rows(const DatabaseLayout& db, const TableLayout& t) {
    for (int i = 0; i < t.slots; ++i) {
      std::uint8_t* v = slot_of(t, w_, i);
      if (v[kXmin] == 0) continue;
      if (sees(Reference::RowMarks)) {
        mark(v[kXmin]);
        mark(v[kXmax]);
      }
      if (t.locks >= 0 && sees(Reference::RowLocks)) {
        const std::uint8_t* before = slot_of(t, from_, i);
        for (int s : db.sessions) v[t.locks + number(at(r_.session, s))] = before[t.locks + number(s)];
      }
      if (t.ssi < 0) continue;
      record(db, v[t.ssi]);
      record(db, v[t.ssi + 1]);
      mask(db, v + t.ssi + 2);
    }
  }

  // Active records have the number of their session within the database; committed ones come after and stay.
  int record_of(const DatabaseLayout& db, int record) const {
    return record < db.ssi.sessions ? number(at(r_.session, db.sessions[static_cast<std::size_t>(record)])) : record;
  }
  void record(const DatabaseLayout& db, std::uint8_t& name) const {
    if (name != 0 && sees(Reference::SsiNumbers)) name = static_cast<std::uint8_t>(record_of(db, name - 1) + 1);
  }
  void mask(const DatabaseLayout& db, std::uint8_t* p) const {
    if (!sees(Reference::SsiMasks)) return;
    const SsiMask before = load_mask(p);
    SsiMask after = 0;
    for (int r = 0; before >> r != 0; ++r) {
      if ((before >> r) & 1) after = static_cast<SsiMask>(after | bit_of(record_of(db, r)));
    }
    store_mask(p, after);
  }
  void ssi(const DatabaseLayout& db) {
    for (int r = 0; r < db.ssi.sessions + db.ssi.committed; ++r) {
      for (int field : {2, 4, 6}) mask(db, w_ + db.ssi.offset + r * kSsiRecordBytes + field);
    }
    for (std::size_t t = 0; t < db.tables.size(); ++t) mask(db, w_ + db.ssi.tables + 2 * static_cast<int>(t));
    for (int i = 0; i < db.ssi.index_count; ++i) mask(db, w_ + db.ssi.indexes + 2 * i);
    for (int i = 0; i < db.ssi.key_slots; ++i) mask(db, w_ + db.ssi.keys + i * db.ssi.key_stride + 1 + l_.cell);
  }

  void redis_owners() {
    auto owner = [&](std::uint8_t& name) {
      if (name != 0) name = static_cast<std::uint8_t>(at(r_.task, name - 1) + 1);
    };
    for (const RedisLayout& redis : l_.redis) {
      if (!redis.tracks_owners) continue;
      each_store(redis, [&](const RedisStore& store) {
        for (int i = 0; i < redis.slots && sees(Reference::KeyOwner); ++i) owner(w_[store.entries + i * redis.stride + 2 * l_.cell + 1]);
        for (int i = 0; store.queue >= 0 && i < redis.queue_slots && sees(Reference::WriteOwner); ++i) {
          owner(w_[store.queue + i * redis.queue_stride + 2 + 2 * l_.cell]);
        }
      });
    }
  }

  void provider_callers() {
    for (const ProviderLayout& p : l_.providers) {
      for (int i = 0; i < p.inbox_slots; ++i) {
        std::uint8_t* m = w_ + p.inbox + i * p.inbox_stride;
        if (m[0] != 0 && m[1] != kNobody && sees(Reference::ProviderCaller)) m[1] = r_.task[m[1]];
      }
    }
  }

  void caller(std::uint8_t& who) const {
    if (who == kNobody) return;
    if (who < l_.sender_count) {
      if (sees(Reference::CallingSender)) who = r_.sender[who];
    } else if (sees(Reference::CallingTask)) {
      who = static_cast<std::uint8_t>(l_.sender_count + at(r_.task, who - l_.sender_count));
    }
  }

  void operation(int a, int b) {
    copy(l_.told + a, l_.told + b, 1);
    if (l_.refused >= 0) copy(l_.refused + a, l_.refused + b, 1);
    const int bytes = kKeptAnswers * (1 + l_.cell);
    if (l_.answers >= 0) copy(l_.answers + a * bytes, l_.answers + b * bytes, bytes);
  }

  void instances() {
    for (std::size_t s = 0; s < r_.instance.size(); ++s) {
      const int flags = l_.instances[s];
      if (flags >= 0) each(r_.instance[s], [&](int a, int b) { copy(flags + a, flags + b, 1); });
    }
  }

  void tasks() {
    for (const TaskLayout& t : l_.tasks) {
      std::uint8_t* me = w_ + t.offset;
      if (me[kStatus] == kFree) continue;
      caller(me[kSender]);
      if (me[kInstance] != kNobody && sees(Reference::TaskInstance)) me[kInstance] = r_.instance[static_cast<std::size_t>(t.service)][me[kInstance]];
    }
  }

  void messages() {
    for (int m = 0; m < l_.message_slots; ++m) {
      std::uint8_t* me = message_at(l_, w_, m);
      if (me[0] == 0) continue;
      if (r_.moves_clients && sees(Reference::Routes)) me[0] = static_cast<std::uint8_t>(at(r_.route, me[0] - 1) + 1);
      caller(me[1]);
      if (l_.message_hold < 0 || !sees(Reference::HeldBy)) continue;
      std::uint8_t& hold = me[l_.message_hold];
      if (hold != kNotHeld && hold != kHeldByNobody && hold != kDeadLetter) hold = static_cast<std::uint8_t>(at(r_.task, hold - 1) + 1);
    }
  }

  void deadlines() {
    for (int d = 0; d < l_.deadline_slots; ++d) {
      const std::uint16_t state = deadline_state(l_, w_, d);
      if (state == 0 || state == kRunning) continue;
      std::uint16_t after = 0;
      for (int bit = 0; bit < kMaxSessions; ++bit) {
        if ((state >> bit) & 1) after = static_cast<std::uint16_t>(after | (1u << clock_of(bit)));
      }
      w_[l_.deadlines + 2 * d] = static_cast<std::uint8_t>(after);
      w_[l_.deadlines + 2 * d + 1] = static_cast<std::uint8_t>(after >> 8);
    }
  }
  // A session, or the clock of an instance.
  int clock_of(int bit) const {
    if (bit < static_cast<int>(l_.sessions.size())) return sees(Reference::SessionDeadline) ? at(r_.session, bit) : bit;
    if (!sees(Reference::ClockDeadline)) return bit;
    for (std::size_t s = 0; s < l_.clocks.size(); ++s) {
      const int first = l_.clocks[s];
      if (first >= 0 && bit >= first && bit < first + l_.instance_counts[s]) return first + r_.instance[s][static_cast<std::size_t>(bit - first)];
    }
    return bit;
  }

  void values() {
    for (int offset : l_.value_cells) store_cell(l_, w_ + offset, r_.value[load_cell(l_, w_ + offset)]);
  }

  const Layout& l_;
  const Renaming& r_;
  const std::uint8_t* from_;
  std::uint8_t* w_;
};

}  // namespace

void rename(const Program& program, const Renaming& renaming, const std::uint8_t* from, std::uint8_t* to) {
  Renamer(program, renaming, from, to).run();
}

}  // namespace oncecheck

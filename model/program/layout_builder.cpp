#include "model/program/layout_builder.hpp"

#include <algorithm>
#include <optional>

#include "model/program/capacity.hpp"
#include "model/program/layout_needs.hpp"
#include "model/program/redis_layout.hpp"
#include "model/world/session_settings.hpp"
#include "model/world/ssi.hpp"
#include "model/world/ssi_records.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

constexpr int kMaxSessionsPerScenario = 60;
constexpr int kMaxSlotBytes = 160;  // canonical.cpp sorts slots in a buffer of that size
constexpr int kMaxLocks = 120;
constexpr int kMaxInnodbRows = 64;
constexpr int kMaxAdvisoryLocks = 24;
constexpr int kMaxCommittedRecords = 6;

class LayoutBuilder {
 public:
  explicit LayoutBuilder(CompileState& state)
      : state_(state), p_(state.program), l_(state.program.plan.layout), b_(state.scenario.bounds), needs_(state.program) {}

  void build() {
    l_.cell = p_.plan.domain.cell_bytes();
    l_.budget_count = static_cast<int>(p_.faults.size());
    l_.budgets = take(l_.budget_count);
    l_.operation_count = p_.operations;
    l_.told = take(l_.operation_count);
    recorded_facts();
    l_.sender_count = static_cast<int>(p_.senders.size());
    l_.senders = take(l_.sender_count * kSenderBytes);
    if (!p_.network.cuts.empty()) {
      l_.cuts = take(1);
      l_.sender_zones = take(l_.sender_count);
    }
    databases();
    tasks();
    replicas();
    pools();
    tables();
    build_redis_layout(state_, next_);
    providers();
    for (SequenceLayout& s : l_.sequences) s.offset = take(2);
    messages();
    instances();
    l_.deadline_slots = p_.plan.domain.deadline_count();
    l_.deadlines = take(2 * l_.deadline_slots);
    l_.bytes = next_;
    std::sort(l_.value_cells.begin(), l_.value_cells.end());
    if (l_.cell > 1) return;
    l_.value_mask.assign(static_cast<std::size_t>(l_.bytes), 0);
    for (int offset : l_.value_cells) l_.value_mask[static_cast<std::size_t>(offset)] = 255;
  }

 private:
  int take(int bytes) {
    const int at = next_;
    next_ += bytes;
    return at;
  }
  void cell(int offset) { l_.value_cells.push_back(offset); }

  // What the world keeps for promises alone: a scenario whose promises do not ask stays as small as it was.
  void recorded_facts() {
    if (asks_for(p_, FactTable::Published)) {
      l_.published_slots = b_.messages;
      l_.published_stride = 1 + l_.cell;
      l_.published = slots_of(l_.published_slots, l_.published_stride, 1, 1);
    }
    if (asks_for(p_, FactTable::Refusals)) l_.refused = take(l_.operation_count);
    if (asks_for(p_, FactTable::Answers)) l_.answers = slots_of(l_.operation_count * kKeptAnswers, 1 + l_.cell, 1, 1);
  }

  void messages() {
    for (const RouteInfo& r : p_.routes) {
      l_.message_cells = std::max(l_.message_cells, static_cast<int>(r.payload.size()));
      if (r.deliveries > 0) l_.message_hold = 0;
    }
    l_.message_slots = std::min(b_.messages, most_messages(p_, b_));
    l_.message_stride = 2 + (1 + l_.message_cells) * l_.cell;
    if (l_.cuts >= 0) l_.message_zone = l_.message_stride++;
    if (l_.message_hold >= 0) {
      l_.message_hold = l_.message_stride;
      l_.message_stride += 2;
    }
    if (l_.message_stride > kMaxSlotBytes) {
      state_.errors.add({state_.scenario.file, "", 1, 1}, "a message to a service has too many fields for the model: drop those that nobody reads");
      return;
    }
    l_.messages = take(l_.message_slots * l_.message_stride);
    for (int i = 0; i < l_.message_slots; ++i) {
      for (int c = 0; c <= l_.message_cells; ++c) cell(l_.messages + i * l_.message_stride + 2 + c * l_.cell);
    }
  }

  // A byte for each instance whose code version or draining matters.
  void instances() {
    int clocks = 0;
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      const bool rolls = std::any_of(p_.faults.begin(), p_.faults.end(), [&](const FaultBudget& f) {
        const bool here = f.target == FaultTarget::Any || f.index == static_cast<int>(s);
        return here && (f.kind == FaultKind::RollingDeploy || (f.kind == FaultKind::Deploy && (p_.services[s].has_next || p_.services[s].drains)));
      });
      const bool jumps = std::any_of(p_.faults.begin(), p_.faults.end(), [&](const FaultBudget& f) {
        return f.kind == FaultKind::ClockJump && (f.target == FaultTarget::Any || f.index == static_cast<int>(s));
      });
      l_.instance_counts.push_back(p_.services[s].instances);
      l_.instances.push_back(rolls || jumps ? take(p_.services[s].instances) : -1);
      l_.clocks.push_back(jumps ? static_cast<int>(l_.sessions.size()) + clocks : -1);
      if (jumps) clocks += p_.services[s].instances;
    }
    if (clocks > 0 && static_cast<int>(l_.sessions.size()) + clocks > kMaxSessions) {
      state_.errors.add({state_.scenario.file, "", 1, 1}, "a scenario with clock_jump has at most 15 handlers and instances at once: lower clicks, retries, instances or bounds.tasks");
    }
  }

  void databases() {
    for (const auto& [name, database] : state_.scenario.databases) {
      DatabaseLayout layout;
      layout.name = name;
      const int db = static_cast<int>(l_.databases.size());
      layout.engine = state_.engine(db);
      layout.isolation = state_.default_isolation(db);
      layout.snapshot_isolation = state_.snapshot_isolation.count(db) > 0;
      layout.uses_savepoints = std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
        return s.db == db && s.kind == SqlKind::Savepoint;
      });
      for (std::size_t t = 0; t < l_.tables.size(); ++t) {
        if (l_.tables[t].db != db) continue;
        layout.tables.push_back(static_cast<int>(t));
        layout.foreign_keys = layout.foreign_keys || !l_.tables[t].foreign_keys.empty();
      }
      layout.synchronous = database.synchronous;
      l_.databases.push_back(std::move(layout));
    }
  }

  // A replica is one more session, whose snapshot is what it has applied. With nobody to read it and no failover it makes no
  // difference and is left out.
  void replicas() {
    for (std::size_t d = 0; d < l_.databases.size(); ++d) {
      const int db = static_cast<int>(d);
      const bool read = std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(),
                                    [&](const SqlStatement& s) { return s.db == db && s.on_replica; });
      const bool fails = std::any_of(p_.faults.begin(), p_.faults.end(), [&](const FaultBudget& f) {
        return f.kind == FaultKind::Failover &&
               (f.target == FaultTarget::Any || (f.target == FaultTarget::Database && f.index == db));
      });
      if (state_.scenario.databases[d].second.replicas == 0 || (!read && !fails)) continue;
      l_.databases[d].replica = static_cast<int>(l_.sessions.size());
      add_session(db, -1);
    }
  }

  // Whatever stays on a connection can stay on all of them.
  void pools() {
    for (std::size_t d = 0; d < l_.databases.size(); ++d) {
      PoolLayout& pool = l_.databases[d].pool;
      pool.connections = state_.scenario.databases[d].second.pooled;
      for (int i = 0; i < pool.connections; ++i) {
        SessionLayout s;
        s.db = static_cast<int>(d);
        s.task = -1;
        s.offset = take(kSessionBytes);
        s.number = -1;
        s.isolation = l_.databases[d].isolation;
        pool.idle.push_back(static_cast<int>(l_.sessions.size()));
        l_.sessions.push_back(s);
      }
    }
  }

  // A slot in which any of these bodies can run.
  int add_task(int service, TaskKind kind, int index, const std::vector<int>& bodies) {
    const int number = static_cast<int>(l_.tasks.size());
    TaskLayout t;
    t.service = service;
    t.kind = kind;
    t.index = index;
    for (int body : bodies) {
      t.local_cells = std::max(t.local_cells, static_cast<int>(p_.bodies[static_cast<std::size_t>(body)].cells.size()));
    }
    const int header = kAnswerId + l_.cell;
    t.bytes = header + t.local_cells * l_.cell + (l_.cuts >= 0 ? kTaskNetworkBytes : 0);
    t.offset = take(t.bytes);
    if (l_.cuts >= 0) t.network = t.offset + t.bytes - kTaskNetworkBytes;
    t.locals = t.offset + header;
    cell(t.offset + kAnswerId);
    for (int i = 0; i < t.local_cells; ++i) cell(t.locals + i * l_.cell);
    for (std::size_t db = 0; db < l_.databases.size(); ++db) {
      if (!needs_.bodies_use(bodies, static_cast<int>(db))) {
        t.sessions.push_back(-1);
        continue;
      }
      t.sessions.push_back(add_session(static_cast<int>(db), number));
    }
    l_.tasks.push_back(std::move(t));
    return number;
  }

  // `task` -1: the replica's.
  int add_session(int db, int task) {
    DatabaseLayout& database = l_.databases[static_cast<std::size_t>(db)];
    SessionLayout s;
    s.db = db;
    s.task = task;
    s.offset = take(kSessionBytes);
    s.number = static_cast<int>(database.sessions.size());
    s.isolation = database.isolation;
    const bool numbers = std::any_of(l_.sequences.begin(), l_.sequences.end(), [&](const SequenceLayout& q) { return q.db == db; });
    if (numbers) s.number_taken = take(3);
    const bool settings = !is_innodb(database.engine) && needs_.sets(db);
    if (database.uses_savepoints || settings) s.savepoints = take(1 + kMaxSavepoints + (is_innodb(database.engine) ? 0 : kSettingsBytes));
    const int number = static_cast<int>(l_.sessions.size());
    database.sessions.push_back(number);
    l_.sessions.push_back(s);
    return number;
  }

  static std::vector<int> present(int first, int second) {
    std::vector<int> out;
    if (first >= 0) out.push_back(first);
    if (second >= 0 && second != first) out.push_back(second);
    return out;
  }

  int copies_of(int service, const std::string& job) const {
    int copies = 1;
    const Service& spec = state_.scenario.services[static_cast<std::size_t>(service)].second;
    auto look = [&](const ServiceCode& code) {
      for (const auto& [name, j] : code.jobs) copies = name == job ? std::max(copies, j.copies) : copies;
    };
    look(spec);
    if (spec.next) look(*spec.next);
    return copies;
  }

  void tasks() {
    for (std::size_t s = 0; s < p_.services.size(); ++s) {
      ServiceInfo& info = p_.services[s];
      const int service = static_cast<int>(s);
      int slots = default_handlers(p_, service);
      if (b_.tasks > 0) {
        const std::optional<int> most = most_requests(p_, service);
        slots = most ? std::min(*most, b_.tasks) : b_.tasks;
        info.pool = true;
      }
      std::vector<int> handlers = info.request_bodies[0];
      handlers.insert(handlers.end(), info.request_bodies[1].begin(), info.request_bodies[1].end());
      for (int i = 0; i < slots; ++i) info.request_tasks.push_back(add_task(service, TaskKind::Request, i, handlers));
      const std::vector<int> starts = present(info.start_body[0], info.start_body[1]);
      for (int i = 0; !starts.empty() && i < info.instances; ++i) {
        info.start_tasks.push_back(add_task(service, TaskKind::Start, i, starts));
      }
      for (std::size_t j = 0; j < info.job_names.size(); ++j) {
        info.job_tasks.emplace_back();
        for (int copy = 0; copy < copies_of(service, info.job_names[j]); ++copy) {
          info.job_tasks.back().push_back(
              add_task(service, TaskKind::Job, static_cast<int>(j), present(info.job_bodies[0][j], info.job_bodies[1][j])));
        }
      }
    }
    // time.hpp keeps a bit for each session that may still see a deadline ahead.
    if (p_.plan.domain.deadline_count() > 0 && l_.sessions.size() > 15) {
      state_.errors.add({state_.scenario.file, "", 1, 1}, "a scenario that uses NOW() has at most 15 handlers at once: lower clicks, retries or bounds.tasks");
    }
    if (l_.sessions.size() > kMaxSessionsPerScenario || l_.tasks.size() > 250) {
      state_.errors.add({state_.scenario.file, "", 1, 1}, "too many handlers at once: lower clicks, retries or bounds.tasks");
    }
  }

  void advisory_locks(DatabaseLayout& db, int number) {
    const auto calls = std::count_if(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
      return s.db == number && s.kind == SqlKind::LockFunction;
    });
    if (calls == 0) return;
    db.advisory.stride = 3 + l_.cell;
    db.advisory.slots = std::min<int>(2 * static_cast<int>(db.sessions.size() + db.pool.idle.size()), kMaxAdvisoryLocks);
    db.advisory.offset = take(db.advisory.slots * db.advisory.stride);
    for (int i = 0; i < db.advisory.slots; ++i) cell(db.advisory.offset + i * db.advisory.stride + 3);
  }

  void serializable_history(DatabaseLayout& db, int number) {
    if (is_innodb(db.engine) || !needs_.serializable(number)) return;
    SsiLayout& ssi = db.ssi;
    ssi.sessions = static_cast<int>(db.sessions.size());
    ssi.committed = std::min(kMaxCommittedRecords, kMaxSsiRecords - ssi.sessions);
    if (ssi.committed < 2) {
      state_.errors.add({state_.scenario.file, "", 1, 1}, "a database with SERIALIZABLE transactions has at most 14 handlers at once: lower clicks, retries or bounds.tasks");
      ssi.committed = 2;
    }
    ssi.offset = take((ssi.sessions + ssi.committed) * kSsiRecordBytes);
    ssi.tables = take(2 * static_cast<int>(db.tables.size()));
    for (int t : db.tables) ssi.index_count += static_cast<int>(l_.tables[static_cast<std::size_t>(t)].indexes.size());
    ssi.indexes = take(2 * ssi.index_count);
    ssi.key_slots = 2 * ssi.sessions + 4;
    ssi.key_stride = 3 + l_.cell;
    ssi.keys = take(ssi.key_slots * ssi.key_stride);
    for (int i = 0; i < ssi.key_slots; ++i) cell(ssi.keys + i * ssi.key_stride + 1);
  }

  // Room for the locks of InnoDB: a few of each session at a time, and one for each row that all hold together.
  void lock_table(DatabaseLayout& db) {
    if (!is_innodb(db.engine)) return;
    const int sessions = static_cast<int>(db.sessions.size());
    int rows = 0;
    for (int t : db.tables) {
      const TableLayout& table = l_.tables[static_cast<std::size_t>(t)];
      rows += table.slots;
      if (table.slots > kMaxInnodbRows || table.indexes.size() > 15) {
        state_.errors.add({state_.scenario.file, "", 1, 1}, "table \"" + table.name + "\" of an InnoDB database is too large: at most 64 rows (bounds.rows) and 15 indexes");
      }
    }
    db.lock_table.slots = std::min(kMaxLocks, 6 + 6 * sessions + rows);
    db.lock_table.offset = take(1);
    db.lock_table.sessions = take(kInnodbSessionBytes * sessions);
    db.lock_table.entries = take(kLockBytes * db.lock_table.slots);
  }

  void tables() {
    for (std::size_t d = 0; d < l_.databases.size(); ++d) {
      lock_table(l_.databases[d]);
      advisory_locks(l_.databases[d], static_cast<int>(d));
      serializable_history(l_.databases[d], static_cast<int>(d));
    }
    for (TableLayout& t : l_.tables) {
      t.cells = 4;
      t.lock_sessions = static_cast<int>(l_.databases[static_cast<std::size_t>(t.db)].sessions.size());
      const DatabaseLayout& db = l_.databases[static_cast<std::size_t>(t.db)];
      if (db.uses_savepoints) {
        t.subs = t.cells;
        t.cells += 2;
      }
      if (db.ssi.offset >= 0) {
        t.ssi = t.cells;
        t.cells += 4;
      }
      if (needs_.locks_rows(t.db)) {
        t.locks = t.cells;
        t.cells += t.lock_sessions;
      }
      t.stride = t.cells + static_cast<int>(t.columns.size()) * l_.cell;
      if (t.stride > kMaxSlotBytes) {
        state_.errors.add({state_.scenario.file, "", 1, 1}, "a row of table \"" + t.name + "\" is too wide for the model: drop columns that no step reads");
        return;
      }
      t.offset = take(t.slots * t.stride);
      for (int i = 0; i < t.slots; ++i) {
        for (std::size_t c = 0; c < t.columns.size(); ++c) cell(t.offset + i * t.stride + t.cells + static_cast<int>(c) * l_.cell);
      }
    }
  }

  void providers() {
    for (const ProviderInfo& info : p_.providers) {
      ProviderLayout layout;
      layout.name = info.name;
      layout.inbox_slots = b_.messages;
      layout.targets = std::any_of(info.operations.begin(), info.operations.end(),
                                   [](const OperationInfo& o) { return o.undoes >= 0 || o.cancels >= 0; });
      const int request_cells = layout.targets ? 4 : 3;
      layout.inbox_stride = 2 + request_cells * l_.cell;
      if (l_.cuts >= 0) layout.zone = layout.inbox_stride++;
      layout.inbox = slots_of(layout.inbox_slots, layout.inbox_stride, 2, request_cells);
      layout.ledger_slots = b_.effects;
      layout.ledger_stride = 2 + 3 * l_.cell;
      layout.ledger = slots_of(layout.ledger_slots, layout.ledger_stride, 2, 3);
      if (std::any_of(info.operations.begin(), info.operations.end(), [](const OperationInfo& o) { return o.key_records; })) {
        const bool of_refunds = std::any_of(info.operations.begin(), info.operations.end(),
                                            [](const OperationInfo& o) { return o.undoes >= 0 && o.key_records; });
        layout.key_slots = (of_refunds ? 2 : 1) * b_.effects + 2;
        layout.key_stride = 3 + 2 * l_.cell;
        layout.keys = slots_of(layout.key_slots, layout.key_stride, 3, 2);
      }
      l_.providers.push_back(std::move(layout));
    }
  }

  // Room for a bag of slots, each with `cells` value cells from `first` on.
  int slots_of(int slots, int stride, int first, int cells) {
    const int at = take(slots * stride);
    for (int i = 0; i < slots; ++i) {
      for (int c = 0; c < cells; ++c) cell(at + i * stride + first + c * l_.cell);
    }
    return at;
  }

  CompileState& state_;
  Program& p_;
  Layout& l_;
  const Bounds& b_;
  LayoutNeeds needs_;
  int next_ = 0;
};

}  // namespace

bool asks_for(const Program& program, FactTable table) {
  const auto& queries = program.plan.code.queries;
  return std::any_of(queries.begin(), queries.end(), [&](const Query& q) {
    return std::any_of(q.sources.begin(), q.sources.end(), [&](const Source& s) {
      return s.kind == Source::Kind::Facts && s.index == static_cast<int>(table);
    });
  });
}

void build_layout(CompileState& state) { LayoutBuilder(state).build(); }

}  // namespace oncecheck

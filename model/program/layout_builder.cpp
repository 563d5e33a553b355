#include "model/program/layout_builder.hpp"

#include <algorithm>

#include "model/program/redis_layout.hpp"
#include "model/world/access_path.hpp"
#include "model/world/code_walk.hpp"
#include "model/world/ssi.hpp"
#include "model/world/ssi_records.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

constexpr int kMaxSessionsPerScenario = 60;
constexpr int kMaxSlotBytes = 160;  // canonical.cpp sorts slots in a buffer of that size
constexpr int kMaxDefaultTasks = 6;
constexpr int kMaxLocks = 120;
constexpr int kMaxInnodbRows = 64;
constexpr int kMaxAdvisoryLocks = 24;
constexpr int kMaxCommittedRecords = 6;

class LayoutBuilder {
 public:
  explicit LayoutBuilder(CompileState& state)
      : state_(state), p_(state.program), l_(state.program.plan.layout), b_(state.scenario.bounds) {}

  void build() {
    l_.cell = p_.plan.domain.cell_bytes();
    l_.budget_count = static_cast<int>(p_.faults.size());
    l_.budgets = take(l_.budget_count);
    l_.operation_count = p_.operations;
    l_.told = take(l_.operation_count);
    l_.sender_count = static_cast<int>(p_.senders.size());
    l_.senders = take(l_.sender_count * kSenderBytes);
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
  }

 private:
  int take(int bytes) {
    const int at = next_;
    next_ += bytes;
    return at;
  }
  void cell(int offset) { l_.value_cells.push_back(offset); }

  int fault_total(FaultKind kind) const {
    int n = 0;
    for (const FaultBudget& f : p_.faults) n += f.kind == kind ? f.max : 0;
    return n;
  }

  // Of a client that tries again without end: it does so when it has an answer, or when none can come any more, or when a
  // fault lets it give up early.
  int retries_at_once(const SenderInfo& s) const {
    return s.retries == kUnlimited ? 1 + fault_total(FaultKind::Timeout) : s.retries;
  }

  // Requests to services that can ever be sent; of webhooks, queues and calls between services nobody knows how many.
  int most_messages() const {
    int n = fault_total(FaultKind::DuplicateRequest);
    for (const SenderInfo& s : p_.senders) n += 1 + retries_at_once(s) + (s.poll_route >= 0 ? 1 : 0);
    for (const RouteInfo& r : p_.routes) {
      if (r.kind != RouteKind::Client) return b_.messages;
    }
    return std::max(n, 1);
  }

  int most_requests(int service) const {
    int n = fault_total(FaultKind::DuplicateRequest);
    for (const SenderInfo& s : p_.senders) {
      if (p_.routes[static_cast<std::size_t>(s.route)].service == service) n += 1 + retries_at_once(s);
      if (s.poll_route >= 0 && p_.routes[static_cast<std::size_t>(s.poll_route)].service == service) n += 1;
    }
    for (const RouteInfo& r : p_.routes) {
      if (r.kind != RouteKind::Client && r.service == service) n += 2;
    }
    return n;
  }

  void messages() {
    for (const RouteInfo& r : p_.routes) {
      l_.message_cells = std::max(l_.message_cells, static_cast<int>(r.payload.size()));
      if (r.deliveries > 0) l_.message_hold = 0;
    }
    l_.message_slots = std::min(b_.messages, most_messages());
    l_.message_stride = 2 + (1 + l_.message_cells) * l_.cell;
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

  bool bodies_use(const std::vector<int>& bodies, int db) const {
    return std::any_of(bodies.begin(), bodies.end(), [&](int body) { return body_uses(body, db); });
  }

  bool body_uses(int body, int db) const {
    const auto b = static_cast<std::size_t>(body);
    const int end = b + 1 < p_.bodies.size() ? p_.bodies[b + 1].entry : static_cast<int>(p_.code.size());
    for (int pc = p_.bodies[b].entry; pc < end; ++pc) {
      const Instr& i = p_.code[static_cast<std::size_t>(pc)];
      if (i.kind == InstrKind::Sql && p_.plan.statements[static_cast<std::size_t>(i.index)].db == db) return true;
    }
    return false;
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
    t.bytes = header + t.local_cells * l_.cell;
    t.offset = take(t.bytes);
    t.locals = t.offset + header;
    cell(t.offset + kAnswerId);
    for (int i = 0; i < t.local_cells; ++i) cell(t.locals + i * l_.cell);
    for (std::size_t db = 0; db < l_.databases.size(); ++db) {
      if (!bodies_use(bodies, static_cast<int>(db))) {
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
    if (database.uses_savepoints) s.savepoints = take(1 + kMaxSavepoints);
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
      const int most = most_requests(service);
      int slots = std::min(most, kMaxDefaultTasks);
      if (b_.tasks > 0) {
        slots = std::min(most, b_.tasks);
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

  bool locks_rows(int db) const {
    if (is_innodb(l_.databases[static_cast<std::size_t>(db)].engine)) return false;  // it has a lock table
    if (l_.databases[static_cast<std::size_t>(db)].foreign_keys) return true;
    return std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(),
                       [&](const SqlStatement& s) { return s.db == db && locks_rows(s); });
  }

  bool locks_rows(const SqlStatement& s) const {
    return s.kind == SqlKind::SelectLock || (s.conflict_update && s.conflict_where != kNoExpr) || keeps_lost_rows(s) ||
           std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) { return locks_rows(part); });
  }

  // An UPDATE or DELETE at READ COMMITTED locks the row that it waited for before it tests the WHERE again. Whether that may say
  // no, and the transaction go on.
  bool keeps_lost_rows(const SqlStatement& s) const {
    const auto& all = p_.plan.statements;
    const bool read_committed =
        l_.databases[static_cast<std::size_t>(s.db)].isolation < Isolation::RepeatableRead ||
        std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return o.db == s.db && o.isolation && *o.isolation < Isolation::RepeatableRead; });
    if (!read_committed || (s.kind != SqlKind::Update && s.kind != SqlKind::Delete) || s.where == kNoExpr) return false;
    const bool begins = std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return o.db == s.db && o.kind == SqlKind::Begin; });
    const bool ends_at_once = !begins && !s.reads_first && s.parts.empty();
    if (ends_at_once && one_row_at_most(l_.tables[static_cast<std::size_t>(s.table)], s.access)) return false;
    bool turns = false;
    walk_expr(p_.plan.code, s.where, [&](const Node& n) {
      turns = turns || (n.op == Op::Column && std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return sets(o, s.table, n.a); }));
    }, [&](const Query&) { turns = true; });
    return turns;
  }

  static bool sets(const SqlStatement& s, int table, int column) {
    auto named = [&](const auto& set) { return std::any_of(set.begin(), set.end(), [&](const auto& one) { return one.first == column; }); };
    return (s.table == table && (named(s.set) || named(s.conflict_set))) ||
           std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) { return sets(part, table, column); });
  }

  // Whether some transaction of the database may be SERIALIZABLE.
  bool serializable(const DatabaseLayout& db, int number) const {
    return db.isolation == Isolation::Serializable ||
           std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
             return s.db == number && s.isolation == Isolation::Serializable;
           });
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
    if (is_innodb(db.engine) || !serializable(db, number)) return;
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
      if (locks_rows(t.db)) {
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
      layout.inbox = slots_of(layout.inbox_slots, layout.inbox_stride, 2, request_cells);
      layout.ledger_slots = b_.effects;
      layout.ledger_stride = 2 + 3 * l_.cell;
      layout.ledger = slots_of(layout.ledger_slots, layout.ledger_stride, 2, 3);
      if (std::any_of(info.operations.begin(), info.operations.end(), [](const OperationInfo& o) { return o.key_records; })) {
        layout.key_slots = b_.effects + 2;
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
  int next_ = 0;
};

}  // namespace

void build_layout(CompileState& state) { LayoutBuilder(state).build(); }

}  // namespace oncecheck

#include "model/program/redis_layout.hpp"

#include <algorithm>

#include "model/program/layout_builder.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

constexpr int kMostWatched = 6;
constexpr int kMostQueued = kMaxRedisItems;
constexpr int kMostSkewedDeadlines = 48;

class RedisLayoutBuilder {
 public:
  RedisLayoutBuilder(CompileState& state, std::size_t number, int& next)
      : state_(state), p_(state.program), l_(state.program.plan.layout), number_(static_cast<int>(number)),
        name_(state.scenario.redis[number].first), spec_(state.scenario.redis[number].second), next_(next) {}

  RedisLayout build() {
    r_.name = name_;
    r_.replicas = spec_.replicas;
    r_.min_replicas = spec_.min_replicas;
    r_.persistence = spec_.persistence == "always" ? RedisPersistence::Always
                     : spec_.persistence == "everysec" ? RedisPersistence::EverySec
                                                        : RedisPersistence::None;
    r_.eviction = spec_.eviction == "volatile" ? RedisEviction::Volatile
                  : spec_.eviction == "allkeys" ? RedisEviction::AllKeys
                                                 : RedisEviction::None;
    r_.serves_stale = spec_.serves_stale;
    r_.recorded = spec_.recorded;
    r_.slots = state_.scenario.bounds.rows;
    r_.tracks_owners = asks_for(p_, FactTable::ForeignReleases);
    if (r_.tracks_owners) r_.foreign_release = take(1);
    r_.stride = 2 * l_.cell + (r_.tracks_owners ? 2 : 1);
    r_.queue_slots = state_.scenario.bounds.redis_log;
    r_.queue_stride = r_.stride + 1;
    r_.failover_budgets = budgets(FaultKind::Failover);
    r_.restart_budgets = budgets(FaultKind::RestartRedis);
    r_.stepped = spec_.recorded || (spec_.replicas > 0 && told_apart());
    nodes();
    if (r_.stepped) r_.roles = take(2 * static_cast<int>(r_.nodes.size()));
    if (spec_.clocks_differ || spec_.recorded) {
      r_.deadlines = kMostSkewedDeadlines;
      r_.clocks = take(r_.deadlines);
    }
    connections();
    return std::move(r_);
  }

 private:
  int take(int bytes) {
    const int at = next_;
    next_ += bytes;
    return at;
  }
  void cell(int offset) { l_.value_cells.push_back(offset); }

  std::vector<int> budgets(FaultKind kind) const {
    std::vector<int> out;
    for (std::size_t i = 0; i < p_.faults.size(); ++i) {
      const FaultBudget& f = p_.faults[i];
      const bool here = f.target == FaultTarget::Any || (f.target == FaultTarget::Redis && f.index == number_);
      if (f.kind == kind && here) out.push_back(l_.budgets + static_cast<int>(i));
    }
    return out;
  }

  // Whether what a replica has can be seen before it takes over, or matters in another way than by what a failover loses.
  bool told_apart() const {
    const auto& commands = p_.plan.redis_commands;
    const bool read = std::any_of(commands.begin(), commands.end(), [&](const RedisCommand& c) { return c.redis == number_ && c.on_replica; });
    return read || spec_.clocks_differ || spec_.min_replicas > 0 || !budgets(FaultKind::Partition).empty() ||
           (!r_.restart_budgets.empty() && !r_.failover_budgets.empty());
  }

  void nodes() {
    const int nodes = r_.stepped ? 1 + spec_.replicas : spec_.replicas > 0 && !r_.failover_budgets.empty() ? 2 : 1;
    for (int n = 0; n < nodes; ++n) r_.nodes.push_back(store(r_.stepped || n > 0));
    const bool disks = r_.persistence == RedisPersistence::EverySec && (spec_.recorded || !r_.restart_budgets.empty());
    for (int n = 0; disks && n < nodes; ++n) r_.disks.push_back(store(true));
  }

  RedisStore store(bool has_queue) {
    RedisStore out;
    out.entries = take(r_.slots * r_.stride);
    for (int i = 0; i < r_.slots; ++i) {
      cell(out.entries + i * r_.stride);
      cell(out.entries + i * r_.stride + l_.cell);
    }
    if (!has_queue) return out;
    out.queue = take(r_.queue_slots * r_.queue_stride);
    for (int i = 0; i < r_.queue_slots; ++i) {
      cell(out.queue + i * r_.queue_stride + 1);
      cell(out.queue + i * r_.queue_stride + 1 + l_.cell);
    }
    return out;
  }

  int instructions_of(const RedisOp op, const TaskLayout& task) const {
    int n = 0;
    each_command(task, [&](const RedisCommand& c) { n += c.call.op == op ? 1 : 0; });
    return n;
  }

  template <class Visit>
  void each_command(const TaskLayout& task, Visit visit) const {
    each_instruction(task, [&](int pc) {
      const Instr& i = p_.code[static_cast<std::size_t>(pc)];
      if (i.kind != InstrKind::Redis) return;
      const RedisCommand& c = p_.plan.redis_commands[static_cast<std::size_t>(i.index)];
      if (c.redis == number_) visit(c);
    });
  }

  template <class Visit>
  void each_instruction(const TaskLayout& task, Visit visit) const {
    for (std::size_t b = 0; b < p_.bodies.size(); ++b) {
      if (!may_run(p_.bodies[b], task)) continue;
      const int end = b + 1 < p_.bodies.size() ? p_.bodies[b + 1].entry : static_cast<int>(p_.code.size());
      for (int pc = p_.bodies[b].entry; pc < end; ++pc) visit(pc);
    }
  }

  // Whether the slot of the task may run the body: any endpoint and version of its service, or its own job.
  static bool may_run(const Body& body, const TaskLayout& task) {
    return body.service == task.service && body.kind == task.kind && (task.kind != TaskKind::Job || body.job == task.index);
  }

  static bool is_queued(RedisOp op) {
    return op != RedisOp::Multi && op != RedisOp::Exec && op != RedisOp::Discard && op != RedisOp::Watch;
  }

  // Whether the task may come to a command again: a loop.
  bool repeats(const TaskLayout& task) const {
    bool out = false;
    each_instruction(task, [&](int pc) {
      const Instr& i = p_.code[static_cast<std::size_t>(pc)];
      out = out || (i.kind == InstrKind::Jump && i.target <= pc);
    });
    return out;
  }

  // The same bytes for every connection: room for the most that some handler needs.
  void connections() {
    RedisConnections& c = r_.connections;
    std::vector<bool> needs;
    int watched = 0, queued = 0, args = 0;
    bool waits = false;
    const bool splits = !budgets(FaultKind::Partition).empty() && r_.stepped;
    for (const TaskLayout& task : l_.tasks) {
      int mine = 0, commands = 0, queueable = 0;
      each_command(task, [&](const RedisCommand& command) {
        ++commands;
        args = std::max(args, static_cast<int>(command.args.size()));
        if (command.call.op == RedisOp::Watch) mine += static_cast<int>(command.args.size());
        queueable += is_queued(command.call.op) ? 1 : 0;
      });
      const bool multi = instructions_of(RedisOp::Multi, task) > 0;
      const bool wait = instructions_of(RedisOp::Wait, task) > 0;
      watched = std::max(watched, mine);
      if (multi) queued = std::max(queued, repeats(task) ? kMostQueued : queueable);
      waits = waits || wait;
      needs.push_back(multi || wait || mine > 0 || (splits && commands > 0));
    }
    if (std::none_of(needs.begin(), needs.end(), [](bool b) { return b; })) return;
    c.watch_slots = std::min(watched, kMostWatched);
    c.queued_slots = std::min(std::max(queued, 0), kMostQueued);
    c.queued_stride = 2 + args * l_.cell;
    c.bytes = 1;
    if (c.watch_slots > 0) {
      c.watches = c.bytes;
      c.bytes += c.watch_slots * l_.cell;
    }
    if (c.queued_slots > 0) {
      c.queued = c.bytes;
      c.bytes += c.queued_slots * c.queued_stride;
    }
    if (waits && r_.nodes.size() > 1) {
      c.waits = c.bytes;
      c.bytes += static_cast<int>(r_.nodes.size());
    }
    for (bool need : needs) {
      c.offset.push_back(need ? take(c.bytes) : -1);
      if (!need) continue;
      for (int i = 0; i < c.watch_slots; ++i) cell(c.offset.back() + c.watches + i * l_.cell);
      for (int i = 0; i < c.queued_slots; ++i) {
        for (int a = 0; a < args; ++a) cell(c.offset.back() + c.queued + i * c.queued_stride + 2 + a * l_.cell);
      }
    }
  }

  CompileState& state_;
  Program& p_;
  Layout& l_;
  int number_;
  const std::string& name_;
  const Redis& spec_;
  int& next_;
  RedisLayout r_;
};

}  // namespace

void build_redis_layout(CompileState& state, int& next) {
  for (std::size_t r = 0; r < state.scenario.redis.size(); ++r) {
    state.program.plan.layout.redis.push_back(RedisLayoutBuilder(state, r, next).build());
  }
}

void start_redis(const Plan& plan, std::uint8_t* w) {
  for (std::size_t r = 0; r < plan.layout.redis.size(); ++r) {
    const RedisLayout& layout = plan.layout.redis[r];
    for (int n = 0; layout.stepped && n < static_cast<int>(layout.nodes.size()); ++n) {
      set_role(plan, w, static_cast<int>(r), n, n == 0 ? kPrimary : kReplicaOf);
    }
  }
}

}  // namespace oncecheck

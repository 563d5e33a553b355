#include "sim/conform/redis_server.hpp"

#include <algorithm>

#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {
constexpr int kRedis = 0;          // a vector has one
constexpr int kMostDeadlines = 48;
using Files = RedisVectorProgram::Files;
}  // namespace

RedisServers::RedisServers(const RedisVector& vector, const RedisVectorProgram& program)
    : program_(program), plan_(program.program->plan), world_(program.program->initial) {
  for (const RedisNode& n : vector.nodes) {
    State s;
    s.offset = n.clock_offset;
    s.slow_fsync = n.slow_fsync;
    node_.push_back(s);
  }
  for (int n = 0; n < count(); ++n) {
    const int primary = vector.nodes[at(n)].primary;
    set_role(plan_, world_.data(), kRedis, n, static_cast<std::uint8_t>(primary < 0 ? kPrimary : kReplicaOf + primary));
    if (primary >= 0) ++node_[at(primary)].full_copies;
  }
}

void RedisServers::act(const std::function<void(Context&)>& what) {
  Context ctx(plan_, world_.data(), scratch_);
  seen_ = {};
  ctx.seen = &seen_;
  ctx.missing = &missing_;
  const std::size_t mark = scratch_.mark();
  what(ctx);
  scratch_.release(mark);
  if (ctx.limit && !limit_) limit_ = ctx.limit;
}

bool RedisServers::has_disks() const { return !redis_of(plan_, kRedis).disks.empty(); }

RedisAnswer RedisServers::command(int task, int command) {
  const int node = program_.nodes[at(task)];
  RedisAnswer answer;
  act([&](Context& ctx) {
    ctx.task = task;
    std::uint8_t* locals = world_.data() + plan_.layout.tasks[at(task)].locals;
    ctx.locals = locals;
    // EXPIRE with GT or LT: the driver knows which of the two times is the later one.
    RedisWay way{node, 0};
    const RedisCommand& c = plan_.redis_commands[at(command)];
    if (c.call.op == RedisOp::Expire && (c.call.gt || c.call.lt)) {
      const RedisKeys keys = keys_of(plan_, world_.data(), kRedis, node);
      const int slot = keys.find(plan_.redis_string[eval_cell(ctx, c.args[0])]);
      if (slot >= 0 && keys.ttl(slot) != 0) {
        const std::int64_t end = clock_ + node_[at(node)].offset + c.call.milliseconds, old = expiry_[keys.ttl(slot)];
        way.choice = (c.call.gt ? end > old : end < old) ? 0 : 1;
      }
    }
    // In a transaction the driver does not follow which time is the later one.
    if (c.call.op == RedisOp::Exec && redis_ways(plan_, world_.data(), task, command) > 1) ctx.fail(LimitKind::InstantOrder);
    answer = exec_redis(ctx, command, locals, way);
  });
  for (const auto& [deadline, length] : seen_.deadlines_set) {
    expiry_[at(deadline)] = length == 0 ? kNever : clock_ + node_[at(node)].offset + length;
  }
  return answer;
}

int RedisServers::confirming(int task) { return confirming_replicas(plan_, world_.data(), kRedis, program_.nodes[at(task)], task); }

bool RedisServers::due(int node, int deadline) const {
  return expiry_[at(deadline)] <= clock_ + node_[at(node)].offset &&
         redis_deadline_runs(plan_, world_.data(), kRedis, static_cast<std::uint8_t>(deadline), node);
}

void RedisServers::expire_due() {
  for (int d = 1; d <= kMostDeadlines; ++d) {
    for (int n = 0; n < count(); ++n) {
      if (!due(n, d) || (is_primary_node(n) && up(n) && !node_[at(n)].active_expire)) continue;
      act([&](Context& ctx) { pass_redis_deadline(ctx, kRedis, static_cast<std::uint8_t>(d), n); });
    }
  }
}

void RedisServers::look_at(int node, const std::vector<std::string>& args) {
  for (int d = 1; d <= kMostDeadlines; ++d) {
    if (!is_primary_node(node) || !due(node, d)) continue;
    const Json key = shown(redis_key_of_deadline(plan_, world_.data(), kRedis, static_cast<std::uint8_t>(d)));
    if (std::none_of(args.begin(), args.end(), [&](const std::string& a) { return key == a; })) continue;
    act([&](Context& ctx) { pass_redis_deadline(ctx, kRedis, static_cast<std::uint8_t>(d), node); });
  }
}

void RedisServers::carry_streams() {
  for (bool moved = true; moved && !limit_;) {
    moved = false;
    for (int n = 0; n < count(); ++n) {
      State& s = node_[at(n)];
      if (!s.up || s.paused || s.cut || !can_replicate(plan_, world_.data(), kRedis, n)) continue;
      const int from = primary_of(plan_, world_.data(), kRedis, n);
      if (!up(from) || paused(from)) continue;
      if (link_of(plan_, world_.data(), kRedis, n) == kLinkSyncs) ++node_[at(from)].full_copies;
      act([&](Context& ctx) { replicate_redis(ctx, kRedis, n); });
      moved = true;
    }
  }
}

// What an fsync has covered: everysec one a second, each takes its time.
void RedisServers::sync_files() {
  for (int n = 0; has_disks() && n < count(); ++n) {
    State& s = node_[at(n)];
    const auto pending = static_cast<std::size_t>(unsynced_writes(plan_, world_.data(), kRedis, n));
    if (s.written.size() > pending) s.written.clear();
    s.written.resize(pending, clock_);
    if (program_.files != Files::AofEverySec || !s.up) continue;
    const std::int64_t age = 1000 + std::max<std::int64_t>(s.slow_fsync, 0);
    const auto first = std::find_if(s.written.begin(), s.written.end(), [&](std::int64_t t) { return clock_ - t < age; });
    const auto synced = static_cast<int>(first - s.written.begin());
    act([&](Context& ctx) { sync_disk(ctx, kRedis, n, synced); });
    s.written.erase(s.written.begin(), first);
  }
}

void RedisServers::settle() {
  for (int n = 0; n < count(); ++n) {
    const State& s = node_[at(n)];
    if (s.cut && !s.reset && clock_ - s.cut_at > program_.max_lag && link_of(plan_, world_.data(), kRedis, n) == kLinkCut) {
      set_link(plan_, world_.data(), kRedis, n, kLinkDown);
    }
  }
  expire_due();
  carry_streams();
  sync_files();
}

void RedisServers::pass(std::int64_t milliseconds) {
  sync_files();  // before: when the writes came
  clock_ += milliseconds;
  settle();
}

bool RedisServers::is_primary_node(int node) const { return is_primary(plan_, world_.data(), kRedis, node); }

void RedisServers::set_memory_full(int node, bool full) {
  std::uint8_t& link = world_[at(redis_of(plan_, kRedis).roles + 2 * node + 1)];
  link = static_cast<std::uint8_t>(full ? link | kMemoryFull : link & ~kMemoryFull);
}

void RedisServers::stop(int node, RedisVectorOp how) {
  State& s = node_[at(node)];
  sync_files();
  const int pending = unsynced_writes(plan_, world_.data(), kRedis, node);
  switch (program_.files) {
    case Files::None:
    case Files::AofAlways: s.kept = 0; break;
    case Files::Rdb: s.kept = how == RedisVectorOp::SigTerm ? pending : 0; break;
    case Files::AofNo:
    case Files::AofEverySec: s.kept = how == RedisVectorOp::PowerCut ? 0 : pending; break;
  }
  for (int n = 0; n < count(); ++n) {
    if (primary_of(plan_, world_.data(), kRedis, n) == node && !node_[at(n)].cut) node_[at(n)].buffered = true;
  }
  s.up = false;
  set_role(plan_, world_.data(), kRedis, node, kRedisDown);
  for (std::size_t t = 0; t < program_.nodes.size(); ++t) {
    if (program_.nodes[t] == node) RedisConnection(plan_, world_.data(), kRedis, static_cast<int>(t)).close();
  }
}

void RedisServers::restart(int node, int primary) {
  State& s = node_[at(node)];
  s.up = true;
  s.paused = false;
  s.written.clear();
  set_role(plan_, world_.data(), kRedis, node, kPrimary);
  act([&](Context& ctx) { load_disk(ctx, kRedis, node, s.kept); });
  set_memory_full(node, false);
  if (primary >= 0) follow(node, primary);
  for (int n = 0; n < count(); ++n) {
    if (n != node && primary_of(plan_, world_.data(), kRedis, n) == node) {
      node_[at(n)].buffered = false;
      oncecheck::follow(plan_, world_.data(), kRedis, n, node);
    }
  }
}

// What lies in the socket of a replica is applied though its primary is dead.
void RedisServers::drain(int node) {
  State& s = node_[at(node)];
  while (s.buffered && !s.paused && !limit_ && queue_of(plan_, world_.data(), kRedis, node).size() > 0 &&
         link_of(plan_, world_.data(), kRedis, node) == kLinkUp) {
    act([&](Context& ctx) { replicate_redis(ctx, kRedis, node); });
  }
  s.buffered = false;
}

void RedisServers::promote(int node) {
  drain(node);
  set_role(plan_, world_.data(), kRedis, node, kPrimary);
  set_link(plan_, world_.data(), kRedis, node, kLinkUp);
  queue_of(plan_, world_.data(), kRedis, node).clear();
  arrived(plan_, world_.data(), kRedis, node, 255);
  drop_expired(plan_, world_.data(), kRedis, node);
}

void RedisServers::follow(int node, int primary) {
  oncecheck::follow(plan_, world_.data(), kRedis, node, primary < 0 ? node : primary);
}

void RedisServers::swap(int old_primary) {
  settle();
  const int next = elect();
  if (next < 0) return;
  promote(next);
  for (int n = 0; n < count(); ++n) {
    if (n == next || !up(n)) continue;
    follow(n, next);
  }
  (void)old_primary;
}

void RedisServers::save(int node) {
  if (!has_disks()) return;
  rewrite_disk(plan_, world_.data(), kRedis, node);
  node_[at(node)].written.clear();
}

void RedisServers::cut(int node, bool reset) {
  State& s = node_[at(node)];
  s.cut = true;
  s.reset = reset;
  s.cut_at = clock_;
  if (link_of(plan_, world_.data(), kRedis, node) == kLinkUp) {
    set_link(plan_, world_.data(), kRedis, node, reset ? kLinkDown : kLinkCut);
  }
}

void RedisServers::heal(int node) {
  node_[at(node)].cut = false;
  const std::uint8_t link = link_of(plan_, world_.data(), kRedis, node);
  if (link == kLinkCut || link == kLinkDown) set_link(plan_, world_.data(), kRedis, node, kLinkUp);
}

int RedisServers::elect() const {
  int best = -1, lacks = 0;
  for (int n = 0; n < count(); ++n) {
    if (!up(n) || primary_of(plan_, world_.data(), kRedis, n) < 0) continue;
    const int missing = queue_of(plan_, world_.data(), kRedis, n).size();
    if (best < 0 || missing < lacks) {
      best = n;
      lacks = missing;
    }
  }
  return best;
}

std::int64_t RedisServers::left(int node, int deadline) const {
  return std::max<std::int64_t>(0, expiry_[at(deadline)] - clock_ - node_[at(node)].offset);
}

Json RedisServers::shown(CellId cell) const {
  const Val v = plan_.domain.decode(cell);
  if (v.kind == Kind::Int) return std::to_string(v.n);
  if (v.kind == Kind::Text && v.n != kUnknownText) return std::string(plan_.domain.text(v.n));
  return nullptr;
}

Json RedisServers::contents(int node) const {
  if (!up(node)) return "down";
  const RedisLayout& r = redis_of(plan_, kRedis);
  Json out = Json::object();
  out["role"] = is_primary_node(node) ? "master" : "slave";
  if (!is_primary_node(node) && !r.serves_stale && link_of(plan_, world_.data(), kRedis, node) != kLinkUp) {
    out["error"] = "MASTERDOWN";
    return out;
  }
  out["keys"] = Json::object();
  const RedisKeys keys = keys_of(plan_, world_.data(), kRedis, node);
  for (int i = 0; i < keys.count(); ++i) {
    if (redis_hidden(plan_, world_.data(), kRedis, node, keys.ttl(i)) || (keys.ttl(i) != 0 && due(node, keys.ttl(i)))) continue;
    out["keys"][shown(keys.key(i)).get<std::string>()] = {{"value", shown(keys.value(i))}, {"volatile", keys.ttl(i) != 0}};
  }
  return out;
}

}  // namespace oncecheck

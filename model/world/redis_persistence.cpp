#include "model/world/redis_persistence.hpp"

#include "model/world/redis_connection.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

const RedisStore* disk_of(const RedisLayout& r, int node) {
  return r.disks.empty() ? nullptr : &r.disks[static_cast<std::size_t>(node)];
}

}  // namespace

bool keep_on_disk(const Plan& plan, std::uint8_t* w, int redis, int node, const RedisWrite& write) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.disks.empty() || !(r.recorded || can_pay(w, r.restart_budgets))) return true;
  return disk_queue_of(plan, w, redis, node).append(write);
}

void rewrite_disk(const Plan& plan, std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  const RedisStore* disk = disk_of(r, node);
  if (disk == nullptr) return;
  disk_queue_of(plan, w, redis, node).clear();
  const RedisKeys keys(plan.layout, r, *disk, w);
  // When no restart can come any more, nobody will ask.
  if (r.recorded || can_pay(w, r.restart_budgets)) {
    keys.copy(keys_of(plan, w, redis, node));
  } else {
    keys.clear();
  }
}

RedisQueue disk_queue_of(const Plan& plan, std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  return {plan.layout, r, *disk_of(r, node), w};
}

int unsynced_writes(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  if (redis_of(plan, redis).disks.empty()) return 0;
  return disk_queue_of(plan, const_cast<std::uint8_t*>(w), redis, node).size();
}

void sync_disk(Context& ctx, int redis, int node, int n) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  const RedisKeys keys(ctx.plan.layout, r, *disk_of(r, node), ctx.w);
  const RedisQueue queue = disk_queue_of(ctx.plan, ctx.w, redis, node);
  for (int i = 0; i < n; ++i) {
    if (!keys.perform(queue.get(i))) ctx.fail(LimitKind::RedisKeys, redis);
  }
  queue.drop(n);
}

void load_disk(Context& ctx, int redis, int node, int kept) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  const RedisKeys keys = keys_of(ctx.plan, ctx.w, redis, node);
  if (r.persistence == RedisPersistence::None) keys.clear();
  if (const RedisStore* disk = disk_of(r, node); disk != nullptr) {
    const RedisQueue queue = disk_queue_of(ctx.plan, ctx.w, redis, node);
    keys.copy(RedisKeys(ctx.plan.layout, r, *disk, ctx.w));
    for (int i = 0; i < kept; ++i) {
      if (!keys.perform(queue.get(i))) ctx.fail(LimitKind::RedisKeys, redis);
    }
  }
  drop_expired(ctx.plan, ctx.w, redis, node);
  rewrite_disk(ctx.plan, ctx.w, redis, node);
}

void restart_redis(Context& ctx, int redis, int node, int kept) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  load_disk(ctx, redis, node, kept);
  lose_connections(ctx.plan, ctx.w, redis);
  for (int n = 0; n < static_cast<int>(r.nodes.size()); ++n) {
    if (r.stepped && primary_of(ctx.plan, ctx.w, redis, n) == node) follow(ctx.plan, ctx.w, redis, n, node);
  }
}

}  // namespace oncecheck

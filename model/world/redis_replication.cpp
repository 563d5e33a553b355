#include "model/world/redis_replication.hpp"

#include <algorithm>

#include "model/world/redis_connection.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"

namespace oncecheck {

namespace {

int node_count(const RedisLayout& r) { return static_cast<int>(r.nodes.size()); }

}  // namespace

std::uint8_t role_of(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  if (!r.stepped) return node == 0 ? kPrimary : kReplicaOf;
  return w[r.roles + 2 * node];
}

void set_role(const Plan& plan, std::uint8_t* w, int redis, int node, std::uint8_t role) {
  w[redis_of(plan, redis).roles + 2 * node] = role;
}

std::uint8_t link_of(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  return r.stepped ? w[r.roles + 2 * node + 1] & 3 : kLinkUp;
}

void set_link(const Plan& plan, std::uint8_t* w, int redis, int node, std::uint8_t link) {
  std::uint8_t& at = w[redis_of(plan, redis).roles + 2 * node + 1];
  at = static_cast<std::uint8_t>((at & kMemoryFull) | link);
}

bool is_primary(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const std::uint8_t role = role_of(plan, w, redis, node);
  return role == kPrimary || role == kOldPrimary;
}

bool is_old_primary(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  return role_of(plan, w, redis, node) == kOldPrimary;
}

int current_primary(const Plan& plan, const std::uint8_t* w, int redis) {
  for (int n = 0; n < node_count(redis_of(plan, redis)); ++n) {
    if (role_of(plan, w, redis, n) == kPrimary) return n;
  }
  return -1;
}

int old_primary(const Plan& plan, const std::uint8_t* w, int redis) {
  for (int n = 0; n < node_count(redis_of(plan, redis)); ++n) {
    if (role_of(plan, w, redis, n) == kOldPrimary) return n;
  }
  return -1;
}

int primary_of(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const std::uint8_t role = role_of(plan, w, redis, node);
  return role >= kReplicaOf ? role - kReplicaOf : -1;
}

bool is_replica(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  return role_of(plan, w, redis, node) >= kReplicaOf;
}

bool can_pay(const std::uint8_t* w, const std::vector<int>& budgets) {
  return std::any_of(budgets.begin(), budgets.end(), [&](int at) { return w[at] > 0; });
}

void propagate(Context& ctx, int redis, int node, const RedisWrite& write) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  bool room = keep_on_disk(ctx.plan, ctx.w, redis, node, write);
  for (int n = 0; n < node_count(r); ++n) {
    if (primary_of(ctx.plan, ctx.w, redis, n) != node || link_of(ctx.plan, ctx.w, redis, n) == kLinkSyncs) continue;
    // When no failover can come any more, nobody will ask what a replica has that nobody reads.
    if (!r.stepped && !can_pay(ctx.w, r.failover_budgets)) continue;
    room = queue_of(ctx.plan, ctx.w, redis, n).append(write) && room;
  }
  if (!room) ctx.fail(LimitKind::RedisLog, redis);
}

int good_replicas(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  if (!r.stepped) return r.replicas;
  int n = 0;
  for (int i = 0; i < node_count(r); ++i) {
    const std::uint8_t link = link_of(plan, w, redis, i);
    if (primary_of(plan, w, redis, i) == node && (link == kLinkUp || link == kLinkCut)) ++n;
  }
  return n;
}

bool can_replicate(const Plan& plan, const std::uint8_t* w, int redis, int node) {
  const int from = primary_of(plan, w, redis, node);
  if (from < 0 || !is_primary(plan, w, redis, from)) return false;
  const std::uint8_t link = link_of(plan, w, redis, node);
  return link == kLinkSyncs || (link == kLinkUp && queue_of(plan, const_cast<std::uint8_t*>(w), redis, node).size() > 0);
}

void replicate_redis(Context& ctx, int redis, int node) {
  const RedisKeys keys = keys_of(ctx.plan, ctx.w, redis, node);
  const RedisQueue queue = queue_of(ctx.plan, ctx.w, redis, node);
  if (link_of(ctx.plan, ctx.w, redis, node) == kLinkSyncs) {
    keys.copy(keys_of(ctx.plan, ctx.w, redis, primary_of(ctx.plan, ctx.w, redis, node)));
    queue.clear();
    set_link(ctx.plan, ctx.w, redis, node, kLinkUp);
    rewrite_disk(ctx.plan, ctx.w, redis, node);
    return;
  }
  int n = 0;
  for (bool more = true; more; ++n) {
    const RedisWrite write = queue.get(n);
    more = write.more;
    if (!keys.perform(write)) ctx.fail(LimitKind::RedisKeys, redis);
    if (!keep_on_disk(ctx.plan, ctx.w, redis, node, write)) ctx.fail(LimitKind::RedisLog, redis);
  }
  queue.drop(n);
  arrived(ctx.plan, ctx.w, redis, node, n);
}

void follow(const Plan& plan, std::uint8_t* w, int redis, int node, int primary) {
  set_role(plan, w, redis, node, static_cast<std::uint8_t>(kReplicaOf + primary));
  set_link(plan, w, redis, node, kLinkSyncs);
  queue_of(plan, w, redis, node).clear();
  arrived(plan, w, redis, node, 255);
}

int unreplicated_writes(const Plan& plan, const std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.stepped || node_count(r) < 2) return 0;
  return queue_of(plan, const_cast<std::uint8_t*>(w), redis, 1).size();
}

bool ends_transaction(const RedisQueue& queue, int n) { return n == 0 || !queue.get(n - 1).more; }

void confirm_writes(Context& ctx, int redis, int n) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  if (n == 0 || r.stepped || node_count(r) < 2) return;
  const RedisKeys keys = keys_of(ctx.plan, ctx.w, redis, 1);
  const RedisQueue queue = queue_of(ctx.plan, ctx.w, redis, 1);
  for (int i = 0; i < n; ++i) {
    if (!keys.perform(queue.get(i))) ctx.fail(LimitKind::RedisKeys, redis);
  }
  queue.drop(n);
  arrived(ctx.plan, ctx.w, redis, 1, n);
}

void fail_over_redis(Context& ctx, int redis, int kept) {
  const Plan& plan = ctx.plan;
  const RedisLayout& r = redis_of(plan, redis);
  if (!r.stepped) {
    confirm_writes(ctx, redis, kept);
    lose_connections(plan, ctx.w, redis);
    const RedisKeys keys = keys_of(plan, ctx.w, redis, 0), replica = keys_of(plan, ctx.w, redis, 1);
    keys.copy(replica);
    queue_of(plan, ctx.w, redis, 1).clear();
    // The old primary comes back with what the new one has. When no failover can follow, nobody asks.
    if (!can_pay(ctx.w, r.failover_budgets)) replica.clear();
    return;
  }
  const int old = current_primary(plan, ctx.w, redis);
  const bool split = is_cut(plan, ctx.w, redis);
  if (split) {
    // Who has something open at the old primary goes on there.
    for (std::size_t t = 0; t < r.connections.offset.size(); ++t) {
      const RedisConnection c(plan, ctx.w, redis, static_cast<int>(t));
      if (c.open()) c.set(kAtOldPrimary);
    }
  } else {
    lose_connections(plan, ctx.w, redis);
  }
  set_role(plan, ctx.w, redis, kept, kPrimary);
  set_link(plan, ctx.w, redis, kept, kLinkUp);
  queue_of(plan, ctx.w, redis, kept).clear();
  arrived(plan, ctx.w, redis, kept, 255);
  drop_expired(plan, ctx.w, redis, kept);
  for (int n = 0; n < node_count(r); ++n) {
    if (n == kept || (n == old && split)) continue;
    follow(plan, ctx.w, redis, n, kept);
  }
  if (split) set_role(plan, ctx.w, redis, old, kOldPrimary);
}

bool is_cut(const Plan& plan, const std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  if (!r.stepped) return false;
  if (old_primary(plan, w, redis) >= 0) return true;
  for (int n = 0; n < node_count(r); ++n) {
    const std::uint8_t link = link_of(plan, w, redis, n);
    if (is_replica(plan, w, redis, n) && (link == kLinkCut || link == kLinkDown)) return true;
  }
  return false;
}

void cut_redis(const Plan& plan, std::uint8_t* w, int redis) {
  for (int n = 0; n < node_count(redis_of(plan, redis)); ++n) {
    if (is_replica(plan, w, redis, n)) set_link(plan, w, redis, n, kLinkCut);
  }
}

bool can_notice_cut(const Plan& plan, const std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.min_replicas == 0 || !r.stepped) return false;
  for (int n = 0; n < node_count(r); ++n) {
    if (is_replica(plan, w, redis, n) && link_of(plan, w, redis, n) == kLinkCut) return true;
  }
  return false;
}

void notice_cut(const Plan& plan, std::uint8_t* w, int redis) {
  for (int n = 0; n < node_count(redis_of(plan, redis)); ++n) {
    if (is_replica(plan, w, redis, n) && link_of(plan, w, redis, n) == kLinkCut) set_link(plan, w, redis, n, kLinkDown);
  }
}

void heal_redis(const Plan& plan, std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  const int old = old_primary(plan, w, redis);
  if (old >= 0) {
    for (std::size_t t = 0; t < r.connections.offset.size(); ++t) {
      const RedisConnection c(plan, w, redis, static_cast<int>(t));
      if (c.has(kAtOldPrimary)) c.lose();
      c.unset(kMoved);
    }
    follow(plan, w, redis, old, current_primary(plan, w, redis));
  }
  for (int n = 0; n < node_count(r); ++n) {
    const std::uint8_t link = link_of(plan, w, redis, n);
    if (link == kLinkCut || link == kLinkDown) set_link(plan, w, redis, n, kLinkUp);
  }
}

}  // namespace oncecheck

#include "model/world/redis_expiry.hpp"

#include <array>

#include "model/world/redis_connection.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

constexpr int kMostDeadlines = 250;

// Calls visit(ttl) with every deadline that an entry or a write on its way has. The world is only read.
template <class Visit>
void each_deadline(const Plan& plan, const std::uint8_t* w, const RedisLayout& r, Visit visit) {
  auto* bytes = const_cast<std::uint8_t*>(w);  // the views can write, this function does not
  each_store(r, [&](const RedisStore& store) {
    const RedisKeys keys(plan.layout, r, store, bytes);
    for (int i = 0; i < r.slots; ++i) {
      if (keys.ttl(i) != 0) visit(keys.ttl(i), keys.key(i));
    }
    if (store.queue < 0) return;
    const RedisQueue queue(plan.layout, r, store, bytes);
    for (int i = 0, n = queue.size(); i < n; ++i) {
      const RedisWrite write = queue.get(i);
      if (write.ttl != 0) visit(write.ttl, write.key);
    }
  });
}

std::uint8_t all_nodes(const RedisLayout& r) { return static_cast<std::uint8_t>((1 << r.nodes.size()) - 1); }

// It has passed for everybody: what has it is gone wherever it stands.
void eliminate(const Plan& plan, std::uint8_t* w, int redis, std::uint8_t ttl) {
  const RedisLayout& r = redis_of(plan, redis);
  each_store(r, [&](const RedisStore& store) {
    const RedisKeys keys(plan.layout, r, store, w);
    for (int i = r.slots - 1; i >= 0; --i) {
      if (keys.ttl(i) == ttl) keys.remove(i);
    }
    if (store.queue < 0) return;
    const RedisQueue queue(plan.layout, r, store, w);
    for (int i = 0, n = queue.size(); i < n; ++i) {
      RedisWrite write = queue.get(i);
      if (write.ttl != ttl) continue;
      write.op = kLogDel;
      write.value = kNullCell;
      write.ttl = write.owner = 0;
      queue.set(i, write);
    }
  });
  if (r.clocks >= 0) w[r.clocks + ttl - 1] = 0;
}

}  // namespace

std::uint8_t take_redis_deadline(Context& ctx, int redis) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  std::array<bool, 256> used{};
  each_deadline(ctx.plan, ctx.w, r, [&](std::uint8_t d, CellId) { used[d] = true; });
  const int most = r.clocks >= 0 ? r.deadlines : kMostDeadlines;
  for (int d = 1; d <= most; ++d) {
    if (!used[static_cast<std::size_t>(d)]) {
      if (r.clocks >= 0) ctx.w[r.clocks + d - 1] = 0;
      return static_cast<std::uint8_t>(d);
    }
  }
  ctx.fail(LimitKind::RedisLog, redis);
  return 0;
}

bool redis_hidden(const Plan& plan, const std::uint8_t* w, int redis, int node, std::uint8_t ttl) {
  const RedisLayout& r = redis_of(plan, redis);
  return ttl != 0 && r.clocks >= 0 && ((w[r.clocks + ttl - 1] >> node) & 1) != 0;
}

bool redis_deadline_runs(const Plan& plan, const std::uint8_t* w, int redis, std::uint8_t ttl, int node) {
  if (redis_key_of_deadline(plan, w, redis, ttl) == kNullCell) return false;
  return node < 0 || !redis_hidden(plan, w, redis, node, ttl);
}

CellId redis_key_of_deadline(const Plan& plan, const std::uint8_t* w, int redis, std::uint8_t ttl) {
  CellId found = kNullCell;
  each_deadline(plan, w, redis_of(plan, redis), [&](std::uint8_t d, CellId key) {
    if (d == ttl && found == kNullCell) found = key;
  });
  return found;
}

void pass_redis_deadline(Context& ctx, int redis, std::uint8_t ttl, int node) {
  const RedisLayout& r = redis_of(ctx.plan, redis);
  for (int n = 0; n < static_cast<int>(r.nodes.size()); ++n) {
    if ((node >= 0 && n != node) || !is_primary(ctx.plan, ctx.w, redis, n)) continue;
    const RedisKeys keys = keys_of(ctx.plan, ctx.w, redis, n);
    for (int i = r.slots - 1; i >= 0; --i) {
      if (keys.ttl(i) != ttl) continue;
      const CellId key = keys.key(i);
      keys.remove(i);
      touch_watched(ctx.plan, ctx.w, redis, n, key);
      // Where the clocks agree its replicas and its disk know by themselves.
      if (r.clocks >= 0) propagate(ctx, redis, n, {kLogDel, false, key, kNullCell, 0, 0});
    }
  }
  if (r.clocks < 0) {
    eliminate(ctx.plan, ctx.w, redis, ttl);
    return;
  }
  std::uint8_t& mask = ctx.w[r.clocks + ttl - 1];
  mask = static_cast<std::uint8_t>(node < 0 ? all_nodes(r) : mask | (1 << node));
  if (mask == all_nodes(r) || redis_key_of_deadline(ctx.plan, ctx.w, redis, ttl) == kNullCell) {
    eliminate(ctx.plan, ctx.w, redis, ttl);
  }
}

void drop_expired(const Plan& plan, std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  const RedisKeys keys = keys_of(plan, w, redis, node);
  for (int i = r.slots - 1; i >= 0; --i) {
    if (redis_hidden(plan, w, redis, node, keys.ttl(i))) keys.remove(i);
  }
}

bool can_evict(const Plan& plan, const std::uint8_t* w, int redis, int node, int slot) {
  const RedisLayout& r = redis_of(plan, redis);
  const RedisKeys keys = keys_of(plan, const_cast<std::uint8_t*>(w), redis, node);
  if (keys.key(slot) == kNullCell) return false;
  return r.eviction == RedisEviction::AllKeys || (r.eviction == RedisEviction::Volatile && keys.ttl(slot) != 0);
}

void evict_key(Context& ctx, int redis, int node, int slot) {
  const RedisKeys keys = keys_of(ctx.plan, ctx.w, redis, node);
  const CellId key = keys.key(slot);
  keys.remove(slot);
  touch_watched(ctx.plan, ctx.w, redis, node, key);
  propagate(ctx, redis, node, {kLogDel, false, key, kNullCell, 0, 0});
}

}  // namespace oncecheck

#include "model/world/redis.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

// The entries of one node: the primary's, or the replica's as of its last certain point.
class Entries {
 public:
  Entries(const Layout& layout, const RedisLayout& r, std::uint8_t* first) : layout_(layout), r_(r), first_(first) {}

  std::uint8_t* at(int slot) const { return first_ + slot * r_.stride; }
  CellId key(int slot) const { return load_cell(layout_, at(slot)); }
  CellId value(int slot) const { return load_cell(layout_, at(slot) + layout_.cell); }
  std::uint8_t& ttl(int slot) const { return at(slot)[2 * layout_.cell]; }
  std::uint8_t& owner(int slot) const { return at(slot)[2 * layout_.cell + 1]; }  // REQUIRES: tracks_owners

  int find(CellId k) const {
    for (int i = 0; i < r_.slots && key(i) != kNullCell; ++i) {
      if (key(i) == k) return i;
    }
    return -1;
  }

  // False when there is no room.
  bool put(CellId k, CellId v, std::uint8_t ttl_state) const {
    int slot = find(k);
    for (int i = 0; slot < 0 && i < r_.slots; ++i) {
      if (key(i) == kNullCell) slot = i;
    }
    if (slot < 0) return false;
    store_cell(layout_, at(slot), k);
    store_cell(layout_, at(slot) + layout_.cell, v);
    ttl(slot) = ttl_state;
    sort();
    return true;
  }

  void remove(CellId k) const {
    const int slot = find(k);
    if (slot < 0) return;
    std::memset(at(slot), 0, static_cast<std::size_t>(r_.stride));
    sort();
  }

 private:
  // By key, free entries last: equal key spaces have equal bytes.
  void sort() const {
    std::uint8_t spare[8];
    for (int i = 1; i < r_.slots; ++i) {
      for (int j = i; j > 0; --j) {
        const CellId a = key(j - 1), b = key(j);
        if (b == kNullCell || (a != kNullCell && a <= b)) break;
        std::memcpy(spare, at(j), static_cast<std::size_t>(r_.stride));
        std::memcpy(at(j), at(j - 1), static_cast<std::size_t>(r_.stride));
        std::memcpy(at(j - 1), spare, static_cast<std::size_t>(r_.stride));
      }
    }
  }

  const Layout& layout_;
  const RedisLayout& r_;
  std::uint8_t* first_;
};

const RedisLayout& redis_of(const Plan& plan, int redis) { return plan.layout.redis[static_cast<std::size_t>(redis)]; }

Entries primary(const Plan& plan, std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  return {plan.layout, r, w + r.offset};
}

std::uint8_t* log_entry(const RedisLayout& r, std::uint8_t* w, int i) { return w + r.log + i * r.log_stride; }

// When no failover can come any more, nobody will ask what the replica has.
bool can_fail_over(const Plan& plan, const std::uint8_t* w, int redis) {
  const auto& budgets = plan.failover_budgets[static_cast<std::size_t>(redis)];
  return std::any_of(budgets.begin(), budgets.end(), [&](int at) { return w[at] > 0; });
}

// The replica has all that the primary has.
void catch_up(const Plan& plan, std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.log < 0 || !can_fail_over(plan, w, redis)) return;
  std::memcpy(w + r.base, w + r.offset, static_cast<std::size_t>(r.slots * r.stride));
  std::memset(w + r.log, 0, static_cast<std::size_t>(r.log_slots * r.log_stride));
}

// False when the log is full.
bool append_log(const Plan& plan, std::uint8_t* w, int redis, RedisLogOp op, CellId key, CellId value, std::uint8_t ttl) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.log < 0 || !can_fail_over(plan, w, redis)) return true;
  const int n = unreplicated_writes(plan, w, redis);
  if (n == r.log_slots) return false;
  std::uint8_t* e = log_entry(r, w, n);
  e[0] = op;
  store_cell(plan.layout, e + 1, key);
  store_cell(plan.layout, e + 1 + plan.layout.cell, value);
  e[1 + 2 * plan.layout.cell] = ttl;
  return true;
}

void write(Context& ctx, int redis, RedisLogOp op, CellId key, CellId value, std::uint8_t ttl) {
  const Entries entries = primary(ctx.plan, ctx.w, redis);
  const RedisLayout& r = redis_of(ctx.plan, redis);
  if (op == kLogDel) {
    const int slot = entries.find(key);
    if (r.tracks_owners && entries.owner(slot) != 0 && entries.owner(slot) != ctx.task + 1) ctx.w[r.foreign_release] = 1;
    entries.remove(key);
  } else if (!entries.put(key, value, ttl)) {
    ctx.fail(LimitKind::RedisKeys, redis);
  } else if (r.tracks_owners) {
    entries.owner(entries.find(key)) = static_cast<std::uint8_t>(ctx.task + 1);
  }
  if (!append_log(ctx.plan, ctx.w, redis, op, key, value, ttl)) ctx.fail(LimitKind::RedisLog, redis);
}

void answer(Context& ctx, const RedisCommand& c, std::uint8_t* locals, CellId value, int count) {
  const Layout& layout = ctx.plan.layout;
  if (c.into_value >= 0) store_cell(layout, locals + c.into_value * layout.cell, value);
  if (c.into_count >= 0) {
    store_cell(layout, locals + c.into_count * layout.cell, ctx.plan.domain.encode(int_val(count), ctx.limit));
  }
  if (ctx.seen != nullptr) {
    ctx.seen->count = count;
    ctx.seen->columns = {"answer"};
    ctx.seen->rows = {{ctx.plan.domain.decode(value)}};
  }
}

}  // namespace

void exec_redis(Context& ctx, const RedisCommand& c, std::uint8_t* locals, bool acknowledged) {
  if (c.kind == RedisKind::Wait) {
    if (acknowledged) catch_up(ctx.plan, ctx.w, c.redis);
    answer(ctx, c, locals, ctx.plan.domain.encode(int_val(acknowledged ? 1 : 0), ctx.limit), acknowledged ? 1 : 0);
    return;
  }
  const CellId key = eval_cell(ctx, c.key);
  const Entries entries = primary(ctx.plan, ctx.w, c.redis);
  const int slot = entries.find(key);
  switch (c.kind) {
    case RedisKind::Set: {
      const CellId value = eval_cell(ctx, c.value);
      if ((c.nx && slot >= 0) || (c.xx && slot < 0)) {
        answer(ctx, c, locals, c.setnx ? ctx.plan.domain.encode(int_val(0), ctx.limit) : kNullCell, 0);
        return;
      }
      // A plain SET drops the time to live that was there.
      std::uint8_t ttl = c.ttl ? kTtlRunning : kNoTtl;
      if (c.keep_ttl && slot >= 0) ttl = entries.ttl(slot);
      write(ctx, c.redis, kLogSet, key, value, ttl);
      answer(ctx, c, locals, ctx.plan.domain.encode(c.setnx ? int_val(1) : text_val(ctx.plan.domain.text_index("OK")), ctx.limit), 1);
      return;
    }
    case RedisKind::Get:
      answer(ctx, c, locals, slot >= 0 ? entries.value(slot) : kNullCell, slot >= 0 ? 1 : 0);
      return;
    case RedisKind::Del:
    case RedisKind::DelIfEqual: {
      bool deletes = slot >= 0;
      if (c.kind == RedisKind::DelIfEqual && deletes) deletes = entries.value(slot) == eval_cell(ctx, c.value);
      if (deletes) write(ctx, c.redis, kLogDel, key, kNullCell, kNoTtl);
      answer(ctx, c, locals, ctx.plan.domain.encode(int_val(deletes ? 1 : 0), ctx.limit), deletes ? 1 : 0);
      return;
    }
    case RedisKind::Wait: return;  // above
  }
}

void forget_owner(const Plan& plan, std::uint8_t* w, int task) {
  for (const RedisLayout& r : plan.layout.redis) {
    if (!r.tracks_owners) continue;
    const Entries entries{plan.layout, r, w + r.offset};
    const Entries replica{plan.layout, r, w + (r.base >= 0 ? r.base : r.offset)};
    for (int i = 0; i < r.slots; ++i) {
      if (entries.owner(i) == task + 1) entries.owner(i) = 0;
      if (replica.owner(i) == task + 1) replica.owner(i) = 0;
    }
  }
}

int unreplicated_writes(const Plan& plan, const std::uint8_t* w, int redis) {
  const RedisLayout& r = redis_of(plan, redis);
  if (r.log < 0) return 0;
  int n = 0;
  while (n < r.log_slots && w[r.log + n * r.log_stride] != kLogNone) ++n;
  return n;
}

void failover(const Plan& plan, std::uint8_t* w, int redis, int kept, bool again) {
  const Layout& layout = plan.layout;
  const RedisLayout& r = redis_of(plan, redis);
  const auto bytes = static_cast<std::size_t>(r.slots * r.stride);
  const Entries replica{layout, r, w + r.base};
  for (int i = 0; i < kept; ++i) {
    const std::uint8_t* e = log_entry(r, w, i);
    const CellId key = load_cell(layout, e + 1);
    const std::uint8_t ttl = e[1 + 2 * layout.cell];
    if (e[0] == kLogDel || ttl == kTtlPassed) {
      replica.remove(key);
    } else {
      replica.put(key, load_cell(layout, e + 1 + layout.cell), ttl);
    }
  }
  for (int i = r.slots - 1; i >= 0; --i) {
    if (replica.key(i) != kNullCell && replica.ttl(i) == kTtlPassed) replica.remove(replica.key(i));
  }
  std::memcpy(w + r.offset, w + r.base, bytes);
  std::memset(w + r.log, 0, static_cast<std::size_t>(r.log_slots * r.log_stride));
  if (!again) std::memset(w + r.base, 0, bytes);
}

bool ttl_running(const Plan& plan, const std::uint8_t* w, int redis, int slot) {
  const RedisLayout& r = redis_of(plan, redis);
  const std::uint8_t* e = w + r.offset + slot * r.stride;
  return load_cell(plan.layout, e) != kNullCell && e[2 * plan.layout.cell] == kTtlRunning;
}

void expire_key(const Plan& plan, std::uint8_t* w, int redis, int slot) {
  const Layout& layout = plan.layout;
  const RedisLayout& r = redis_of(plan, redis);
  const Entries entries = primary(plan, w, redis);
  const CellId key = entries.key(slot);
  entries.remove(key);
  if (r.log < 0) return;
  // The same clock runs out wherever a copy with a time to live is, and earlier ones ran out before.
  const Entries replica{layout, r, w + r.base};
  const int there = replica.find(key);
  if (there >= 0 && replica.ttl(there) == kTtlRunning) replica.ttl(there) = kTtlPassed;
  for (int i = 0; i < unreplicated_writes(plan, w, redis); ++i) {
    std::uint8_t* e = log_entry(r, w, i);
    std::uint8_t& ttl = e[1 + 2 * layout.cell];
    if (e[0] == kLogSet && load_cell(layout, e + 1) == key && ttl == kTtlRunning) ttl = kTtlPassed;
  }
}

}  // namespace oncecheck

#include "model/world/redis_store.hpp"

#include <cstring>

#include "model/world/cells.hpp"

namespace oncecheck {

CellId RedisKeys::key(int slot) const { return load_cell(layout_, at(slot)); }
CellId RedisKeys::value(int slot) const { return load_cell(layout_, at(slot) + layout_.cell); }

int RedisKeys::find(CellId k) const {
  for (int i = 0; i < r_.slots && key(i) != kNullCell; ++i) {
    if (key(i) == k) return i;
  }
  return -1;
}

int RedisKeys::count() const {
  int n = 0;
  while (n < r_.slots && key(n) != kNullCell) ++n;
  return n;
}

bool RedisKeys::put(const RedisWrite& write) const {
  int slot = find(write.key);
  if (slot < 0) slot = count();
  if (slot == r_.slots) return false;
  store_cell(layout_, at(slot), write.key);
  store_cell(layout_, at(slot) + layout_.cell, write.value);
  ttl(slot) = write.ttl;
  if (r_.tracks_owners) owner(slot) = write.owner;
  sort();
  return true;
}

void RedisKeys::remove(int slot) const {
  if (slot < 0) return;
  std::memset(at(slot), 0, static_cast<std::size_t>(r_.stride));
  sort();
}

bool RedisKeys::perform(const RedisWrite& write) const {
  if (write.op == kLogSet) return put(write);
  remove(find(write.key));
  return true;
}

void RedisKeys::clear() const { std::memset(first_, 0, static_cast<std::size_t>(r_.slots * r_.stride)); }

void RedisKeys::copy(const RedisKeys& other) const {
  std::memcpy(first_, other.first_, static_cast<std::size_t>(r_.slots * r_.stride));
}

bool RedisKeys::same(const RedisKeys& other) const {
  return std::memcmp(first_, other.first_, static_cast<std::size_t>(r_.slots * r_.stride)) == 0;
}

void RedisKeys::sort() const {
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

int RedisQueue::size() const {
  int n = 0;
  while (n < r_.queue_slots && *at(n) != kLogNone) ++n;
  return n;
}

RedisWrite RedisQueue::get(int i) const {
  const std::uint8_t* e = at(i);
  RedisWrite out;
  out.op = static_cast<RedisLogOp>(e[0] & ~kLogMore);
  out.more = (e[0] & kLogMore) != 0;
  out.key = load_cell(layout_, e + 1);
  out.value = load_cell(layout_, e + 1 + layout_.cell);
  out.ttl = e[1 + 2 * layout_.cell];
  if (r_.tracks_owners) out.owner = e[2 + 2 * layout_.cell];
  return out;
}

void RedisQueue::set(int i, const RedisWrite& write) const {
  std::uint8_t* e = at(i);
  e[0] = static_cast<std::uint8_t>(write.op | (write.more ? kLogMore : 0));
  store_cell(layout_, e + 1, write.key);
  store_cell(layout_, e + 1 + layout_.cell, write.value);
  e[1 + 2 * layout_.cell] = write.ttl;
  if (r_.tracks_owners) e[2 + 2 * layout_.cell] = write.owner;
}

bool RedisQueue::append(const RedisWrite& write) const {
  const int n = size();
  if (n == r_.queue_slots) return false;
  set(n, write);
  return true;
}

void RedisQueue::drop(int n) const {
  const auto stride = static_cast<std::size_t>(r_.queue_stride);
  const auto left = static_cast<std::size_t>(r_.queue_slots - n);
  std::memmove(first_, at(n), left * stride);
  std::memset(first_ + left * stride, 0, static_cast<std::size_t>(n) * stride);
}

void RedisQueue::clear() const { drop(r_.queue_slots); }

RedisKeys keys_of(const Plan& plan, std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  return {plan.layout, r, r.nodes[static_cast<std::size_t>(node)], w};
}

RedisQueue queue_of(const Plan& plan, std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(plan, redis);
  return {plan.layout, r, r.nodes[static_cast<std::size_t>(node)], w};
}

void make_redis_canonical(const Plan& plan, std::uint8_t* w, std::vector<int>* renumbered) {
  for (const RedisLayout& r : plan.layout.redis) {
    std::uint8_t new_of_old[256] = {};
    std::uint8_t next = 0;
    auto renumber = [&](std::uint8_t& ttl) {
      if (ttl == 0) return;
      std::uint8_t& to = new_of_old[ttl];
      if (to == 0) to = ++next;
      ttl = to;
    };
    each_store(r, [&](const RedisStore& store) {
      const RedisKeys keys(plan.layout, r, store, w);
      keys.sort();
      for (int i = 0; i < r.slots; ++i) renumber(keys.ttl(i));
      if (store.queue < 0) return;
      const RedisQueue queue(plan.layout, r, store, w);
      for (int i = 0; i < r.queue_slots; ++i) renumber(queue.at(i)[1 + 2 * plan.layout.cell]);
    });
    for (const std::uint8_t to : new_of_old) {
      if (renumbered != nullptr) renumbered->push_back(to == 0 ? -1 : to);
    }
    if (r.clocks < 0) continue;
    std::uint8_t masks[256] = {};
    for (int d = 1; d <= r.deadlines; ++d) {
      if (new_of_old[d] != 0) masks[new_of_old[d]] = w[r.clocks + d - 1];
    }
    std::memcpy(w + r.clocks, masks + 1, static_cast<std::size_t>(r.deadlines));
  }
}

}  // namespace oncecheck

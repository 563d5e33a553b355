// The keys of a Redis node and the writes on their way to it, as bytes of the world.
//
// A write is kept as what it leaves behind: the whole entry, or that the key is gone. Applied in their order such writes give
// the same keys as the commands that Redis sends (it sends effects, not calls: redis.io, "Replication"), whatever has expired
// in between.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

struct RedisWrite {
  RedisLogOp op = kLogSet;
  bool more = false;  // the next one belongs to the same transaction
  CellId key = kNullCell;
  CellId value = kNullCell;
  std::uint8_t ttl = 0;
  std::uint8_t owner = 0;
};

class RedisKeys {
 public:
  RedisKeys(const Layout& layout, const RedisLayout& r, const RedisStore& store, std::uint8_t* w)
      : layout_(layout), r_(r), first_(w + store.entries) {}

  std::uint8_t* at(int slot) const { return first_ + slot * r_.stride; }
  CellId key(int slot) const;
  CellId value(int slot) const;
  std::uint8_t& ttl(int slot) const { return at(slot)[2 * layout_.cell]; }
  std::uint8_t& owner(int slot) const { return at(slot)[2 * layout_.cell + 1]; }  // REQUIRES: tracks_owners

  int find(CellId key) const;  // slot, or -1
  int count() const;
  bool put(const RedisWrite& write) const;  // false when there is no room
  void remove(int slot) const;
  bool perform(const RedisWrite& write) const;
  void clear() const;
  void copy(const RedisKeys& other) const;
  bool same(const RedisKeys& other) const;
  void sort() const;  // by key, the free ones last: equal key spaces have equal bytes

 private:
  const Layout& layout_;
  const RedisLayout& r_;
  std::uint8_t* first_;
};

class RedisQueue {
 public:
  // REQUIRES: the store has one.
  RedisQueue(const Layout& layout, const RedisLayout& r, const RedisStore& store, std::uint8_t* w)
      : layout_(layout), r_(r), first_(w + store.queue) {}

  int size() const;
  RedisWrite get(int i) const;
  void set(int i, const RedisWrite& write) const;
  bool append(const RedisWrite& write) const;  // false when it is full
  void drop(int n) const;                      // the oldest
  void clear() const;
  std::uint8_t* at(int i) const { return first_ + i * r_.queue_stride; }

 private:
  const Layout& layout_;
  const RedisLayout& r_;
  std::uint8_t* first_;
};

inline const RedisLayout& redis_of(const Plan& plan, int redis) { return plan.layout.redis[static_cast<std::size_t>(redis)]; }
RedisKeys keys_of(const Plan& plan, std::uint8_t* w, int redis, int node);
RedisQueue queue_of(const Plan& plan, std::uint8_t* w, int redis, int node);

// Calls visit(store) for every node, then every disk.
template <class Visit>
void each_store(const RedisLayout& r, Visit visit) {
  for (const RedisStore& s : r.nodes) visit(s);
  for (const RedisStore& s : r.disks) visit(s);
}

// Sorts entries and numbers the deadlines by first appearance. Fresh values must have their final numbers.
void make_redis_canonical(const Plan& plan, std::uint8_t* w, std::vector<int>* renumbered = nullptr);

}  // namespace oncecheck

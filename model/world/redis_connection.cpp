#include "model/world/redis_connection.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/cells.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

RedisConnection::RedisConnection(const Plan& plan, std::uint8_t* w, int redis, int task)
    : layout_(plan.layout), c_(&redis_of(plan, redis).connections) {
  if (task < 0 || c_->bytes == 0) return;
  const int offset = c_->offset[static_cast<std::size_t>(task)];
  if (offset >= 0) bytes_ = w + offset;
}

bool RedisConnection::open() const {
  return kept() && (has(kInMulti) || (c_->watches >= 0 && load_cell(layout_, bytes_ + c_->watches) != kNullCell));
}

bool RedisConnection::watches(CellId key) const {
  if (!kept() || c_->watches < 0) return false;
  for (int i = 0; i < c_->watch_slots; ++i) {
    if (load_cell(layout_, bytes_ + c_->watches + i * layout_.cell) == key) return true;
  }
  return false;
}

bool RedisConnection::watch(CellId key) const {
  if (watches(key)) return true;
  for (int i = 0; i < c_->watch_slots; ++i) {
    std::uint8_t* at = bytes_ + c_->watches + i * layout_.cell;
    if (load_cell(layout_, at) != kNullCell) continue;
    store_cell(layout_, at, key);
    return true;
  }
  return false;
}

void RedisConnection::unwatch() const {
  if (!kept() || c_->watches < 0) return;
  unset(kWatchTripped);
  std::memset(bytes_ + c_->watches, 0, static_cast<std::size_t>(c_->watch_slots * layout_.cell));
}

int RedisConnection::queued() const {
  int n = 0;
  while (n < c_->queued_slots && (queued_at(n)[0] != 0 || queued_at(n)[1] != 0)) ++n;
  return n;
}

bool RedisConnection::queue(int command, const CellId* args, int count) const {
  const int n = queued();
  if (n == c_->queued_slots) return false;
  std::uint8_t* at = queued_at(n);
  at[0] = static_cast<std::uint8_t>((command + 1) & 255);
  at[1] = static_cast<std::uint8_t>((command + 1) >> 8);
  for (int i = 0; i < count; ++i) store_cell(layout_, at + 2 + i * layout_.cell, args[i]);
  return true;
}

int RedisConnection::queued_command(int i) const { return (queued_at(i)[0] | (queued_at(i)[1] << 8)) - 1; }

void RedisConnection::queued_args(int i, CellId* args, int count) const {
  for (int a = 0; a < count; ++a) args[a] = load_cell(layout_, queued_at(i) + 2 + a * layout_.cell);
}

void RedisConnection::end_multi() const {
  if (!kept()) return;
  unset(kInMulti | kExecRefused);
  if (c_->queued >= 0) {
    std::memset(bytes_ + c_->queued, 0, static_cast<std::size_t>(c_->queued_slots * c_->queued_stride));
  }
  unwatch();
}

void RedisConnection::close() const {
  if (!kept()) return;
  end_multi();
  unset(kAtOldPrimary | kBroken);
  if (c_->waits >= 0) std::memset(bytes_ + c_->waits, 0, static_cast<std::size_t>(c_->bytes - c_->waits));
}

void RedisConnection::lose() const {
  if (!kept()) return;
  const bool notices = open();
  close();
  unset(kMoved);
  if (notices) set(kBroken);
}

int RedisConnection::asked(int node) const { return kept() && c_->waits >= 0 ? bytes_[c_->waits + node] : 0; }

void RedisConnection::set_asked(int node, int n) const {
  if (kept() && c_->waits >= 0) bytes_[c_->waits + node] = static_cast<std::uint8_t>(n);
}

namespace {

template <class Visit>
void each_connection(const Plan& plan, std::uint8_t* w, int redis, Visit visit) {
  const RedisConnections& c = redis_of(plan, redis).connections;
  if (c.bytes == 0) return;
  for (std::size_t t = 0; t < c.offset.size(); ++t) {
    if (c.offset[t] >= 0) visit(RedisConnection(plan, w, redis, static_cast<int>(t)));
  }
}

}  // namespace

void touch_watched(const Plan& plan, std::uint8_t* w, int redis, int node, CellId key) {
  const bool old = is_old_primary(plan, w, redis, node);
  each_connection(plan, w, redis, [&](const RedisConnection& c) {
    if (c.watches(key) && c.has(kAtOldPrimary) == old) c.set(kWatchTripped);
  });
}

void arrived(const Plan& plan, std::uint8_t* w, int redis, int node, int writes) {
  each_connection(plan, w, redis, [&](const RedisConnection& c) { c.set_asked(node, std::max(0, c.asked(node) - writes)); });
}

bool has_open_connection(const Plan& plan, const std::uint8_t* w, int redis) {
  bool open = false;
  each_connection(plan, const_cast<std::uint8_t*>(w), redis, [&](const RedisConnection& c) { open = open || c.open(); });
  return open;
}

void lose_connections(const Plan& plan, std::uint8_t* w, int redis) {
  each_connection(plan, w, redis, [](const RedisConnection& c) { c.lose(); });
}

void forget_connections(const Plan& plan, std::uint8_t* w, int task) {
  for (const RedisLayout& r : plan.layout.redis) {
    const RedisConnections& c = r.connections;
    if (c.bytes == 0 || c.offset[static_cast<std::size_t>(task)] < 0) continue;
    std::memset(w + c.offset[static_cast<std::size_t>(task)], 0, static_cast<std::size_t>(c.bytes));
  }
}

}  // namespace oncecheck

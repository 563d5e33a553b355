// What a server keeps of a connection: MULTI's queue, WATCH's keys, and how far the stream was at its last command (WAIT).
// Sources: redis.io "Transactions", multi.c, replication.c of Redis 7.0.
//
// A task has one connection to each redis. It opens when the task begins and is gone with it. Where the server has nothing to
// remember of a connection, a client that lost it connects anew without noticing; with a WATCH or MULTI open its next command
// fails with connection_lost.
#pragma once

#include "model/world/redis_store.hpp"

namespace oncecheck {

inline constexpr std::uint8_t kInMulti = 1;
inline constexpr std::uint8_t kWatchTripped = 2;  // EXEC will answer nil
inline constexpr std::uint8_t kExecRefused = 4;   // EXEC will answer EXECABORT
inline constexpr std::uint8_t kMoved = 8;         // the client has found the new primary of a split and stays with it
inline constexpr std::uint8_t kAtOldPrimary = 16; // what it has open is at the old primary of a split
inline constexpr std::uint8_t kBroken = 32;       // what it had open is gone; the next command finds out

// Added to the redis in the argument of LimitKind::RedisKeys: what there is no room for is not a key.
inline constexpr int kLimitQueue = 64;     // a command of a MULTI
inline constexpr int kLimitWatches = 128;  // a key of WATCH

class RedisConnection {
 public:
  RedisConnection(const Plan& plan, std::uint8_t* w, int redis, int task);

  bool kept() const { return bytes_ != nullptr; }  // false: the server need not remember anything
  bool has(std::uint8_t flag) const { return kept() && (bytes_[0] & flag) != 0; }
  void set(std::uint8_t flag) const { if (kept()) bytes_[0] = static_cast<std::uint8_t>(bytes_[0] | flag); }
  void unset(std::uint8_t flag) const { if (kept()) bytes_[0] = static_cast<std::uint8_t>(bytes_[0] & ~flag); }
  bool open() const;  // a MULTI or a WATCH

  bool watches(CellId key) const;
  bool watch(CellId key) const;  // false when there is no room
  void unwatch() const;
  int queued() const;
  bool queue(int command, const CellId* args, int count) const;  // false when there is no room
  int queued_command(int i) const;
  void queued_args(int i, CellId* args, int count) const;
  void end_multi() const;        // and every WATCH with it
  void close() const;            // all but its place in a split
  void lose() const;             // the server is gone

  // WAIT: how many of the writes on their way to the node came before this connection's last command.
  int asked(int node) const;
  void set_asked(int node, int n) const;

 private:
  std::uint8_t* queued_at(int i) const { return bytes_ + c_->queued + i * c_->queued_stride; }
  const Layout& layout_;
  const RedisConnections* c_;
  std::uint8_t* bytes_ = nullptr;
};

// A key has changed: whoever watches it at this node will not EXEC.
void touch_watched(const Plan& plan, std::uint8_t* w, int redis, int node, CellId key);

// Writes that a WAIT may ask for have arrived at the node.
void arrived(const Plan& plan, std::uint8_t* w, int redis, int node, int writes);

// Whether somebody would notice that the server is gone.
bool has_open_connection(const Plan& plan, const std::uint8_t* w, int redis);

// Every connection of a redis, as one that its server has lost.
void lose_connections(const Plan& plan, std::uint8_t* w, int redis);

// The task has ended.
void forget_connections(const Plan& plan, std::uint8_t* w, int task);

}  // namespace oncecheck

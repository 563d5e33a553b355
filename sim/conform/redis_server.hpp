// The nodes of a recorded Redis case over time: processes, links, clocks, files. It moves the model by its events.
#pragma once

#include <array>
#include <functional>

#include "model/world/context.hpp"
#include "sim/conform/redis_vector_program.hpp"
#include "sim/conform/timers.hpp"

namespace oncecheck {

class RedisServers {
 public:
  RedisServers(const RedisVector& vector, const RedisVectorProgram& program);

  // Runs a compiled command. REQUIRES: the node is up.
  RedisAnswer command(int task, int command);
  int confirming(int task);  // replicas that a WAIT of the connection counts now

  // Time goes on; what is due happens.
  void pass(std::int64_t milliseconds);
  std::int64_t clock() const { return clock_; }
  // An open link carries everything; what is due happens.
  void settle();
  // A primary without active expiry deletes what is due when a command names it.
  void look_at(int node, const std::vector<std::string>& args);
  void set_active_expire(int node, bool on) { node_[at(node)].active_expire = on; }
  void set_memory_full(int node, bool full);

  void stop(int node, RedisVectorOp how);
  void restart(int node, int primary);
  void promote(int node);
  void follow(int node, int primary);  // primary -1: nobody that can be reached
  void swap(int old_primary);          // FAILOVER
  void save(int node);
  void cut(int node, bool reset);
  void heal(int node);
  void pause(int node, bool paused) { node_[at(node)].paused = paused; }
  void set_clock(int node, std::int64_t offset) { node_[at(node)].offset = offset; }

  bool up(int node) const { return node_[at(node)].up; }
  bool paused(int node) const { return node_[at(node)].paused; }
  bool is_cut(int node) const { return node_[at(node)].cut; }
  bool is_primary_node(int node) const;
  int full_copies(int node) const { return node_[at(node)].full_copies; }
  int elect() const;                   // the replica that Sentinel takes: of those that are up the one that lacks least
  std::int64_t left(int node, int deadline) const;
  Json contents(int node) const;       // as "final" of a vector
  Json shown(CellId cell) const;

  const Limit& limit() const { return limit_; }
  const Missing& missing() const { return missing_; }

 private:
  struct State {
    bool up = true, paused = false, cut = false, reset = false, active_expire = true;
    bool buffered = false;             // what its dead primary had sent lies in its socket
    std::int64_t offset = 0;           // of its wall clock
    std::int64_t cut_at = 0;
    std::int64_t slow_fsync = -1;
    int kept = 0;                      // writes of the disk's queue that survive, while it is down
    int full_copies = 0;               // that it gave
    std::vector<std::int64_t> written; // when each write of the disk's queue came
  };
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }
  int count() const { return static_cast<int>(node_.size()); }
  void act(const std::function<void(Context&)>& what);
  void expire_due();
  bool due(int node, int deadline) const;
  void carry_streams();
  void drain(int node);
  void sync_files();
  bool has_disks() const;

  const RedisVectorProgram& program_;
  const Plan& plan_;
  mutable std::vector<std::uint8_t> world_;
  Scratch scratch_;
  std::vector<State> node_;
  std::array<std::int64_t, 256> expiry_{};  // by deadline: wall clock
  std::int64_t clock_ = 0;
  Limit limit_;
  Missing missing_;
  Observation seen_;
};

}  // namespace oncecheck

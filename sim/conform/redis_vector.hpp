// A recorded case of Redis: commands at several nodes, and what happens to the nodes. docs/vectors.md describes the format.
#pragma once

#include "model/program/json_tree.hpp"
#include "sim/conform/vector.hpp"

namespace oncecheck {

enum class RedisVectorOp : std::uint8_t {
  Command,
  Sleep,
  Kill,      // SIGKILL: the kernel keeps what was written
  PowerCut,  // only what an fsync had covered is left
  SigTerm,
  Restart,
  Promote,   // REPLICAOF NO ONE
  ReplicaOf,
  Sync,      // waits until the replica has caught up
  Partition, // of the replica from its primary
  Heal,
  Pause,     // SIGSTOP
  Resume,
  Clock,     // moves the node's wall clock
  Info,
  SentinelStart,
  SentinelWait,
  WaitRole,
  Other,     // known to the recorder only
};

struct RedisNode {
  std::string name;
  std::map<std::string, std::string> config;
  int primary = -1;              // node that it replicates
  std::int64_t slow_fsync = -1;  // milliseconds that an fsync takes
  std::int64_t clock_offset = 0;
  Origin at;
};

struct RedisStep {
  RedisVectorOp op = RedisVectorOp::Command;
  int node = -1;
  std::vector<std::string> args;
  std::string connection;        // "" is the default one of the node
  std::int64_t milliseconds = 0; // Sleep; Clock: the offset
  int primary = -1;              // ReplicaOf, Restart, Sync: -1 for none
  std::string word;              // Partition: mode; Info: field; WaitRole: role; Other: the operation
  Origin at;
};

struct RedisVector {
  std::vector<RedisNode> nodes;
  std::vector<RedisStep> steps;
};

bool is_redis_vector(const JsonNode& root);

// Fills `log` with mistakes.
Vector read_redis_vector(const JsonNode& root, const JsonPlaces& places, DiagnosticLog& log);

// For people.
std::string describe_redis(const Json& result, const std::string& error, int step, int until);

}  // namespace oncecheck

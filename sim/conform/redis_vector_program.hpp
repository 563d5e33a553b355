// A vector of Redis as a compiled scenario: each connection is a service whose start-up program sends its commands.
#pragma once

#include <memory>

#include "sim/conform/redis_vector.hpp"
#include "sim/conform/vector_program.hpp"

namespace oncecheck {

// What the driver does itself, since it is about the server and not about data: CONFIG, DEBUG, REPLICAOF, FAILOVER, SAVE, CLIENT.
bool is_server_command(const RedisStep& step);

struct RedisVectorProgram {
  std::unique_ptr<Program> program;
  std::vector<int> commands;  // of each step: the model's command, -1 for everything else
  std::vector<int> tasks;     // of each step with a command: the task that stands for its connection
  std::vector<int> nodes;     // by task: the node that it is connected with
  // How the nodes keep their data; the model has one way for all.
  enum class Files { None, Rdb, AofNo, AofEverySec, AofAlways } files = Files::None;
  std::int64_t max_lag = 10'000;  // milliseconds after which a silent replica does not count (min-replicas-max-lag)
};

// Throws ScenarioError with what the model refuses.
RedisVectorProgram compile_redis_vector(const Vector& vector, const ExtraValues& extra);

}  // namespace oncecheck

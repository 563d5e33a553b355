// A Redis command of a task: which node it reaches, MULTI and EXEC, WATCH, WAIT, EVAL, and where its answer goes.
#pragma once

#include "model/world/redis_reply.hpp"
#include "model/world/redis_store.hpp"

namespace oncecheck {

// One of the ways in which a command can go: the node that it reaches and what that does. choice: WAIT: how many fewer replicas
// confirm than could; EXPIRE with GT or LT: 1 when it does nothing, where the order of two times is not known;
// EXEC: a digit for each such EXPIRE and each WAIT in its queue.
struct RedisWay {
  int node = 0;
  int choice = 0;
};

// How many ways there are: 0 when the command waits for ever as things are (WAIT without a time-out). The likeliest is the first.
int redis_ways(const Plan& plan, const std::uint8_t* w, int task, int command);
RedisWay redis_way(const Plan& plan, const std::uint8_t* w, int task, int command, int number);

// Runs a command for ctx.task, whose locals are given; stores the answer there unless it is an error.
RedisAnswer exec_redis(Context& ctx, int command, std::uint8_t* locals, const RedisWay& way);

// How many replicas of the node have what a WAIT of this connection asks for.
int confirming_replicas(const Plan& plan, std::uint8_t* w, int redis, int node, int task);

// The task has ended: what it set has no running owner any more, and its connections are closed.
void forget_task(const Plan& plan, std::uint8_t* w, int task);

}  // namespace oncecheck

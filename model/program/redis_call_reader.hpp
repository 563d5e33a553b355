// A Redis command word by word, from a step's text or from a redis.call of a script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/world/redis_plan.hpp"

namespace oncecheck {

struct RedisWord {
  std::optional<std::string> literal;  // nothing: known only when it runs
  int handle = -1;                     // the caller's name for the value
};

struct RedisCallText {
  RedisCall call;
  std::vector<int> args;       // handles, in the order that RedisOp tells
  std::string error;           // what is wrong with it, "" for nothing
  std::string hint;            // the nearest known name
  bool server_refuses = false; // the server itself answers ERR
};

// Everything but EVAL. REQUIRES: at least one word.
RedisCallText read_redis_call(const std::vector<RedisWord>& words);

std::string upper_case(std::string text);

}  // namespace oncecheck

// One command, or one transaction or script, at one node.
#pragma once

#include <array>

#include "model/world/redis_connection.hpp"
#include "model/world/redis_reply.hpp"

namespace oncecheck {

class RedisRun {
 public:
  RedisRun(Context& ctx, int redis, int node) : ctx_(ctx), r_(redis_of(ctx.plan, redis)), redis_(redis), node_(node), keys_(keys_of(ctx.plan, ctx.w, redis, node)) {}

  // REQUIRES: no command about the connection (WAIT, MULTI, WATCH, ...), no EVAL. `choice` 1: EXPIRE with GT or LT does nothing,
  // where the order of two times is not known.
  RedisAnswer perform(const RedisCall& call, const CellId* args, int count, int choice);

  // Runs a script (lua semantics of Redis 7.0: an error ends it, what it has done stays done).
  RedisAnswer script(const LuaScript& script, const CellId* keys, int key_count, const CellId* args, int arg_count);

  // Nothing, or why the server refuses such a command before it runs.
  ErrorClass refusal(const RedisCall& call) const;

  // What was written goes out, as one transaction.
  void finish();

 private:
  RedisReply set(const RedisCall& call, const CellId* args, int count);
  RedisReply increment(const RedisCall& call, const CellId* args, int count);
  RedisReply expire(const RedisCall& call, const CellId* args, int count, int choice);
  int find(CellId key) const;  // -1 also when it is hidden
  bool is_past(const RedisCall& call, const CellId* args, int count) const;
  std::uint8_t deadline(const RedisCall& call, const CellId* args, int count, bool& passed);
  // The key is then this task's, unless `owned_as` is the slot whose owner keeps it: a command that changes no value, or counts.
  void put(CellId key, CellId value, std::uint8_t ttl, int owned_as = -1);
  void remove(int slot);
  void note(const RedisWrite& write);

  static constexpr int kMostWrites = 24;
  Context& ctx_;
  const RedisLayout& r_;
  int redis_, node_;
  RedisKeys keys_;
  std::array<RedisWrite, kMostWrites> writes_{};
  int write_count_ = 0;
};

// Absolute times are compared with this, in milliseconds: a scenario has no wall clock (docs/format.md, "Time").
inline constexpr std::int64_t kRedisNow = 1'767'225'600'000;  // 2026

// A time to live, or a time, in milliseconds. False when the server refuses it because it overflows.
bool redis_length(std::int64_t n, std::int64_t unit, bool absolute, std::int64_t& milliseconds);

// Lists that a script may make: answers of MGET and tables.
inline constexpr int kMaxLuaLists = 8;

// The number that a string stands for in Redis: decimal digits, a sign, no blanks, no leading zeros.
bool redis_number(const Domain& domain, CellId cell, std::int64_t& number);

}  // namespace oncecheck

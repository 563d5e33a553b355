// Redis commands and scripts as the compiler makes them (model/program/redis_compiler.hpp, lua_parser.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/world/expr.hpp"

namespace oncecheck {

enum class RedisOp : std::uint8_t {
  Get,      // key
  GetDel,   // key
  MGet,     // keys
  Set,      // key, value
  MSet,     // keys and values by turns
  Del,      // keys
  Exists,   // keys
  Incr,     // key
  Expire,   // key
  Persist,  // key
  Ttl,      // key
  Type,     // key
  DbSize,
  Ping,
  Wait,
  Eval,
  Multi,
  Exec,
  Discard,
  Watch,    // keys
  Unwatch,
  Refused,  // the server answers ERR whatever it finds
};

enum class RedisTtlKind : std::uint8_t {
  None,
  Keep,    // KEEPTTL
  Runs,    // EX, PX, EXPIRE with a number above zero
  Passed,  // a number that is not, or a time that is past: the key is gone at once
  Argument,  // the last argument is the number
};

// The fixed part of a command. What varies are its arguments.
struct RedisCall {
  RedisOp op = RedisOp::Get;
  bool nx = false, xx = false, gt = false, lt = false;
  bool get = false;            // SET ... GET, GETSET: answers the old value
  bool setnx = false;          // SETNX answers 1 or 0, not OK or nil
  RedisTtlKind ttl = RedisTtlKind::None;
  std::int64_t number = 0;     // INCRBY: the step (-1 for DECR); TTL and EXPIRE: milliseconds in a unit; WAIT: replicas
  bool number_argument = false;  // INCRBY: the step is the last argument, times `number`
  std::int64_t milliseconds = 0; // length of a time to live that is written out; WAIT: time-out, 0 is for ever
};

bool redis_writes(const RedisCall& call);
bool redis_takes_memory(const RedisCall& call);  // refused with OOM
bool is_key(const RedisCall& call, int argument);

// A subset of Lua: locals, if, return, redis.call and redis.pcall; no loops, tables only as answers.
enum class LuaOp : std::uint8_t {
  Nil, True, False, Number, Text, Key, Argument, Local, Call, PCall, Not, And, Or, Equal, Less, LessEqual, Add, Subtract, ToNumber,
  ToText, Table, Error, Status,
};
struct LuaExpr {
  LuaOp op = LuaOp::Nil;
  int a = -1, b = -1;
  std::int64_t n = 0;      // Number; Key, Argument: 0 is the first; Local; Less, LessEqual: 1 when b is evaluated first
  ExprId text = kNoExpr;   // Text, Error, Status
  RedisCall call;
  std::vector<int> list;   // Call: arguments; Table: members; ToText: the words nil, false, true
};
struct LuaStatement {
  enum class Kind : std::uint8_t { Assign, If, Return, Do };
  Kind kind = Kind::Do;
  int local = -1;
  int expr = -1;           // Return: -1 answers nil
  std::vector<LuaStatement> then, otherwise;
};
struct LuaScript {
  std::vector<LuaExpr> exprs;
  std::vector<LuaStatement> body;
  int locals = 0;
};

inline constexpr int kMaxRedisArgs = 8;
inline constexpr int kMaxRedisItems = 8;  // of an answer that is a list
inline constexpr int kMaxLuaLocals = 8;

struct RedisCommand {
  RedisCall call;
  int redis = 0;
  bool on_replica = false;
  std::vector<ExprId> args;  // Eval: the keys, then the others
  int script = -1;           // Eval
  int keys = 0;              // Eval
  int into_value = -1;       // cell: the answer (OK, a string, a number) or NULL
  int into_count = -1;       // cell: 1 when the command took effect or found something, else 0; a number that it answers
  int into_items[kMaxRedisItems] = {-1, -1, -1, -1, -1, -1, -1, -1};  // cells: the answer's items when it is a list
  std::string text;
};
bool is_key(const RedisCommand& command, int argument);

// Answers that are words.
struct RedisWords {
  std::uint16_t ok = 0, queued = 0, pong = 0, type_string = 0, type_none = 0;
};

}  // namespace oncecheck

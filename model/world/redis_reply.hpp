// What a Redis command answers (RESP).
#pragma once

#include <cstdint>

#include "model/world/plan.hpp"

namespace oncecheck {

struct RedisReply {
  enum class Kind : std::uint8_t {
    Nil,
    Int,     // n
    Bulk,    // cell
    Ok,
    Queued,
    Pong,
    Text,    // cell: a status of a script
    TypeString, TypeNone,
    Error,   // error; cell: the text of one that a script made up
    Left,    // TTL of a key with one: n is the number of its deadline
    List,
  };
  Kind kind = Kind::Nil;
  ErrorClass error = ErrorClass::None;
  CellId cell = kNullCell;
  std::int64_t n = 0;

  bool failed() const { return kind == Kind::Error; }
};

struct RedisAnswer : RedisReply {
  int count = 0;  // List
  RedisReply items[kMaxRedisItems];
};

inline RedisReply redis_int(std::int64_t n) { return {RedisReply::Kind::Int, ErrorClass::None, kNullCell, n}; }
inline RedisReply redis_bulk(CellId cell) { return {RedisReply::Kind::Bulk, ErrorClass::None, cell, 0}; }
inline RedisReply redis_error(ErrorClass e) { return {RedisReply::Kind::Error, e, kNullCell, 0}; }
inline RedisReply redis_kind(RedisReply::Kind kind) { return {kind, ErrorClass::None, kNullCell, 0}; }

}  // namespace oncecheck

// A bound of the model that a step ran into. The step is then not explored and the run is inconclusive: never a pass.
#pragma once

#include <cstdint>

namespace oncecheck {

enum class LimitKind : std::uint8_t {
  None,
  IntRange,        // an integer outside bounds.int_min..int_max and not a literal of the scenario
  UnknownText,     // a text that was not foreseen when the scenario was compiled
  Rows,            // arg: table
  Messages,        // arg: 0 = requests to services, 1 + p = provider p
  Effects,         // arg: provider
  Fresh,
  Deadlines,
  RedisLog,        // arg: redis
  RedisKeys,       // arg: redis, with kLimitQueue or kLimitWatches added (redis_connection.hpp)
  Tasks,           // arg: service
  LocalLoop,       // local steps that do not come to an end
  InstantOrder,    // two stored instants were compared whose order is not known
  StoreInterval,   // an interval was stored
  Locks,           // arg: database
  AdvisoryLocks,
  Savepoints,
  SerializableHistory,  // committed transactions, or key ranges, that SSI must remember
  Scratch,         // a query result too large for the scratch space
  ExpressionError, // arg: ErrorClass. Within a statement it becomes the statement's error; elsewhere nobody handles it
};

struct Limit {
  LimitKind kind = LimitKind::None;
  std::uint8_t arg = 0;
  explicit operator bool() const { return kind != LimitKind::None; }
};

}  // namespace oncecheck

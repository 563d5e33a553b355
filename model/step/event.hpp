// One transition of the model. What each kind does: apply.cpp; when it can happen: enabled.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "model/program/program.hpp"

namespace oncecheck {

enum class EventKind : std::uint8_t {
  // What the system does by itself.
  Send,           // a: sender; a client sends (or sends again)
  Deliver,        // a: message, b: instance; a service takes a request
  Step,           // a: task; it runs its next visible step, or goes on with a statement after a wait. b: which connection it gets
                  // of a pool (connection_of_way). c: for a Redis command, which way it goes (redis_way); for a statement at
                  // SERIALIZABLE, how finely reads are remembered (SsiGrain)
  Deadlock,       // a: task; the database breaks a cycle of waits by failing this one's statement
  Process,        // a: provider, b: request in its inbox, c: ProcessChoice
  Answer,         // a: task; the provider's answer arrives
  Receive,        // a: sender; the service's answer arrives
  StartJob,       // a: task, b: instance
  LockTimeout,    // a: task, b: 0 lock_timeout ends its wait, 1 statement_timeout
  PoolTimeout,    // a: task; the pool has no connection for it in time
  Replicate,      // a: database; its replica applies what is committed
  Purge,          // a: table, b: slot; InnoDB drops a deleted row or a replaced version that no snapshot needs
  IndexEffects,   // a: provider; its look-up catches up with its ledger
  Redeliver,      // a: message; it is delivered again: its consumer is dead, or a fault pays
  ReplaceInstance,  // a: service, b: instance; a rolling deploy comes to it
  ReplicateRedis, // a: redis, b: node; it applies the next transaction of its primary, or takes a full copy
  NoticeCut,      // a: redis; the primary finds that its replicas do not answer (min-replicas-max-lag)
  HealRedis,      // a: redis; the partition ends
  HealNetwork,    // a: cut; the partition between its groups ends
  EndSession,     // a: task, b: database; behind a cut, the server finds that it hears nothing from the session, and ends it
  // Timers. Free when what they wait for can no longer come, or nothing else can happen; otherwise a fault pays for them.
  CallTimeout,    // a: task
  ClientTimeout,  // a: sender
  PassDeadline,   // a: deadline slot; b: 0, or 1 + the clock that was behind and comes to it
  ExpireKey,      // a: redis, b: deadline, c: 0, or 1 + the node on whose clock it passes
  ForgetKey,      // a: provider, b: key record
  DrainTimeout,   // a: service, b: instance; a deploy waits no longer for what runs there
  // Faults.
  LoseRequest,    // a: message
  LoseCall,       // a: provider, b: request in its inbox
  LoseResponse,   // a: sender
  LoseAnswer,     // a: task
  Duplicate,      // a: message
  DuplicateCall,  // a: provider, b: request in its inbox
  Crash,          // a: service, b: instance, c: 0, or 1 + the one task whose process dies
  Deploy,         // a: service
  RollingDeploy,  // a: service
  ClockJump,      // a: service, b: instance, c: 0 ahead, 1 behind
  Failover,       // a: redis, b: how many unreplicated writes survive; stepped: the node that takes over
  RestartRedis,   // a: redis, b: how many writes of those that are not on disk for certain survive
  CutRedis,       // a: redis; a partition between the primary with some clients and its replicas with the others
  CutNetwork,     // a: cut; a partition between its groups
  Evict,          // a: redis, b: entry
  FailoverDatabase,  // a: database; the replica takes over
  LoseConnection, // a: task; b: 0 before its statement or publication ran, 1 before the answer came; c: as in Step;
                  // free behind a cut
  CloseIdle,      // a: session; a pool loses an idle connection, and what was left on it
};

enum class ProcessChoice : std::uint8_t {
  Normal,
  Decline,
  ErrorAfterEffect,
  ErrorBeforeEffect,
  OkWithoutEffect,
  AsNew,  // the key is known, and is not looked at
};

inline constexpr std::uint8_t kNoBudget = 255;

struct Event {
  EventKind kind = EventKind::Send;
  std::uint8_t a = 0, b = 0, c = 0;
  std::uint8_t fault = kNoBudget;  // budget that pays, kNoBudget when it costs nothing

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace oncecheck

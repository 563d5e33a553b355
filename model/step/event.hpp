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
  Step,           // a: task; it runs its next visible step, or goes on with a statement after a wait. c: for a WAIT, 1 when
                  // it is not confirmed in time; for a statement at SERIALIZABLE, how finely reads are remembered (SsiGrain)
  Deadlock,       // a: task; the database breaks a cycle of waits by failing this one's statement
  Process,        // a: provider, b: request in its inbox, c: ProcessChoice
  Answer,         // a: task; the provider's answer arrives
  Receive,        // a: sender; the service's answer arrives
  StartJob,       // a: task, b: instance
  LockTimeout,    // a: task, b: 0 lock_timeout ends its wait, 1 statement_timeout
  Replicate,      // a: database; its replica applies what is committed
  Purge,          // a: table, b: slot; InnoDB drops a deleted row or a replaced version that no snapshot needs
  // Timers. Free when what they wait for can no longer come, or nothing else can happen; otherwise a fault pays for them.
  CallTimeout,    // a: task
  ClientTimeout,  // a: sender
  PassDeadline,   // a: deadline slot
  ExpireKey,      // a: redis, b: entry
  // Faults.
  LoseRequest,    // a: message
  LoseCall,       // a: provider, b: request in its inbox
  LoseResponse,   // a: sender
  LoseAnswer,     // a: task
  Duplicate,      // a: message
  DuplicateCall,  // a: provider, b: request in its inbox
  Crash,          // a: service, b: instance
  Deploy,         // a: service
  Failover,       // a: redis, b: how many unreplicated writes survive
  FailoverDatabase,  // a: database; the replica takes over
  LoseConnection, // a: task; b: 0 before its statement ran, 1 before the answer came
};

enum class ProcessChoice : std::uint8_t { Normal, Decline, ErrorAfterEffect, ErrorBeforeEffect };

inline constexpr std::uint8_t kNoBudget = 255;

struct Event {
  EventKind kind = EventKind::Send;
  std::uint8_t a = 0, b = 0, c = 0;
  std::uint8_t fault = kNoBudget;  // budget that pays, kNoBudget when it costs nothing

  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace oncecheck

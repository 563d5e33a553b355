// Redis: commands on the primary, what a failover loses, and time to live.
//
// Replication is asynchronous (redis.io, "Replication"): a promoted replica has some prefix of the primary's writes. Nobody
// reads the replica before that, so the model keeps its state as of the last certain point and the writes since, and chooses
// the prefix when the failover happens: the same outcomes as stepping the stream, with fewer states. A time to live is an
// absolute time on every node: a key that expires is gone from the replica too (expire.c: a replica hides it).
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Runs a command for the task whose locals are given; stores the answer there. `acknowledged` matters for WAIT only: whether
// the replica confirms in time. Then it has every write so far; if not, the writes stay all the same (Redis: WAIT). After a
// failover either can happen too: WAIT as the first command of a new connection asks for nothing that must be confirmed.
void exec_redis(Context& ctx, const RedisCommand& command, std::uint8_t* locals, bool acknowledged = true);

// The task has ended: what it set has no running owner any more.
void forget_owner(const Plan& plan, std::uint8_t* w, int task);

// Unreplicated writes: failover may keep 0..this many of them.
int unreplicated_writes(const Plan& plan, const std::uint8_t* w, int redis);

// The replica takes over with the first `kept` of the unreplicated writes. `again`: another failover is possible later, so
// the new primary gets a replica that has all it has.
void failover(const Plan& plan, std::uint8_t* w, int redis, int kept, bool again);

// Entries whose time to live runs; the time of entry `slot` passes.
bool ttl_running(const Plan& plan, const std::uint8_t* w, int redis, int slot);
void expire_key(const Plan& plan, std::uint8_t* w, int redis, int slot);

}  // namespace oncecheck

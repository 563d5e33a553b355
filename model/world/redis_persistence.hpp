// What a restart of a Redis node finds. Source: redis.io "Redis persistence", aof.c of Redis 7.0.
//
// none: nothing. always: everything that was answered. everysec: some prefix of the writes, cut between transactions, since the
// file is synced behind the answers. (A killed process loses less than a machine without power; the model does not tell them
// apart.) The disk is kept like a replica that nobody reads: what it has for certain, and the writes since.
#pragma once

#include "model/world/redis_store.hpp"

namespace oncecheck {

// False when there is no room.
bool keep_on_disk(const Plan& plan, std::uint8_t* w, int redis, int node, const RedisWrite& write);

// The disk has what the node has.
void rewrite_disk(const Plan& plan, std::uint8_t* w, int redis, int node);

// Writes that a restart may lose; 0 without a disk.
int unsynced_writes(const Plan& plan, const std::uint8_t* w, int redis, int node);
RedisQueue disk_queue_of(const Plan& plan, std::uint8_t* w, int redis, int node);

// The oldest n of them are on disk for certain. REQUIRES: the node has one.
void sync_disk(Context& ctx, int redis, int node, int n);

// The node comes back with the first `kept` of them. Every connection ends, and its replicas take a full copy.
void restart_redis(Context& ctx, int redis, int node, int kept);

// The keys alone, as the node finds them at its start.
void load_disk(Context& ctx, int redis, int node, int kept);

}  // namespace oncecheck

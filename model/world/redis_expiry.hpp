// Times to live and eviction.
//
// A time to live is an absolute time, in a replica and in a file too (expire.c): it runs on through a failover and while a
// node is down. The model gives each such time a number and lets it pass, on all nodes at once, or, where clocks differ, node
// by node. A primary deletes a key whose time has passed on its clock and tells its replicas; a replica hides it by its own
// clock, but keeps it until its primary's DEL comes. The model lets the primary delete at once. That loses no order of events
// where clocks agree (only DBSIZE could tell, and a SET that ends in the past is gone at once): an entry that is hidden
// everywhere is as good as gone, and is dropped everywhere.
#pragma once

#include "model/world/redis_store.hpp"

namespace oncecheck {

// A number that no entry and no write on its way has; 0 with a limit when there is none left.
std::uint8_t take_redis_deadline(Context& ctx, int redis);

// Whether the deadline has passed on this node's clock though the entry is still there.
bool redis_hidden(const Plan& plan, const std::uint8_t* w, int redis, int node, std::uint8_t ttl);

// Whether some entry or write has it, and whether it may still pass on this node (-1: on all at once).
bool redis_deadline_runs(const Plan& plan, const std::uint8_t* w, int redis, std::uint8_t ttl, int node);
void pass_redis_deadline(Context& ctx, int redis, std::uint8_t ttl, int node);

// A key that has it, for people; kNullCell when none has.
CellId redis_key_of_deadline(const Plan& plan, const std::uint8_t* w, int redis, std::uint8_t ttl);

// What the clock of a node that becomes a primary, or starts, says of its keys.
void drop_expired(const Plan& plan, std::uint8_t* w, int redis, int node);

// maxmemory: volatile-* evicts keys with a time to live only.
bool can_evict(const Plan& plan, const std::uint8_t* w, int redis, int node, int slot);
void evict_key(Context& ctx, int redis, int node, int slot);

}  // namespace oncecheck

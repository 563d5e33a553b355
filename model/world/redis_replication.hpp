// Who is primary, the stream to the replicas, failover, partition. Source: redis.io "Replication", replication.c of Redis 7.0.
//
// Replication is asynchronous: a replica has some prefix of its primary's writes, cut between transactions. Two layouts:
//
// - Not stepped: nobody can read a replica before a failover. Then the model need not follow the stream. It keeps one replica,
//   the one that has least for certain, and the writes since; a failover chooses the prefix. Other replicas have more, so what
//   they could take over with is among these prefixes.
// - Stepped: a replica can be read, a partition or a restart can be seen, or clocks differ. Each node has its own keys, and each
//   transaction arrives in an event of its own.
//
// A failover promotes any replica. Sentinel takes the one that has most among those that it reaches; the model does not
// follow who reaches whom. The old primary comes back as a replica: it takes a full copy, and its own writes are gone.
#pragma once

#include "model/world/redis_store.hpp"

namespace oncecheck {

bool is_primary(const Plan& plan, const std::uint8_t* w, int redis, int node);  // also the old one of a split
bool is_old_primary(const Plan& plan, const std::uint8_t* w, int redis, int node);
int current_primary(const Plan& plan, const std::uint8_t* w, int redis);  // -1: none
int old_primary(const Plan& plan, const std::uint8_t* w, int redis);      // -1: there is no split
int primary_of(const Plan& plan, const std::uint8_t* w, int redis, int node);  // of a replica; -1 for others
bool is_replica(const Plan& plan, const std::uint8_t* w, int redis, int node);

std::uint8_t link_of(const Plan& plan, const std::uint8_t* w, int redis, int node);  // RedisLink
void set_link(const Plan& plan, std::uint8_t* w, int redis, int node, std::uint8_t link);
void set_role(const Plan& plan, std::uint8_t* w, int redis, int node, std::uint8_t role);  // RedisRole; REQUIRES: stepped
std::uint8_t role_of(const Plan& plan, const std::uint8_t* w, int redis, int node);

// A primary has made a write: on to its disk and its replicas. Sets ctx.limit when there is no room.
void propagate(Context& ctx, int redis, int node, const RedisWrite& write);

// Replicas of the node that it counts as good (min-replicas-to-write).
int good_replicas(const Plan& plan, const std::uint8_t* w, int redis, int node);

// Stepped: whether something is on its way to the replica and can arrive; the next transaction, or the full copy, arrives.
bool can_replicate(const Plan& plan, const std::uint8_t* w, int redis, int node);
void replicate_redis(Context& ctx, int redis, int node);

// A node becomes a replica of another: it will take a full copy.
void follow(const Plan& plan, std::uint8_t* w, int redis, int node, int primary);

// Not stepped: writes that the replica may lack. `ends_transaction`: the first n of them can be all that it has.
int unreplicated_writes(const Plan& plan, const std::uint8_t* w, int redis);
bool ends_transaction(const RedisQueue& queue, int n);

// The replica has the first n of them for certain (WAIT).
void confirm_writes(Context& ctx, int redis, int n);

// Not stepped: the replica takes over with the first `kept` of the unreplicated writes. Stepped: the node `kept` takes over;
// with a partition the old primary lives on among its own clients.
void fail_over_redis(Context& ctx, int redis, int kept);

// Stepped. The primary is cut off from its replicas; it notices; the network is whole again.
bool is_cut(const Plan& plan, const std::uint8_t* w, int redis);
void cut_redis(const Plan& plan, std::uint8_t* w, int redis);
bool can_notice_cut(const Plan& plan, const std::uint8_t* w, int redis);
void notice_cut(const Plan& plan, std::uint8_t* w, int redis);
void heal_redis(const Plan& plan, std::uint8_t* w, int redis);

bool can_pay(const std::uint8_t* w, const std::vector<int>& budgets);

}  // namespace oncecheck

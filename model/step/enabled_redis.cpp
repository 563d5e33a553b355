#include "model/step/enabled_list.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

void Enabled::redis_network(int r) {
  const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
  if (!redis.stepped) return;
  for (int n = 0; n < static_cast<int>(redis.nodes.size()); ++n) {
    if (can_replicate(p_.plan, w_, r, n)) add(EventKind::ReplicateRedis, r, n);
  }
  if (can_notice_cut(p_.plan, w_, r)) add(EventKind::NoticeCut, r);
  if (is_cut(p_.plan, w_, r)) add(EventKind::HealRedis, r);
}

void Enabled::redis_expiry(int r, int pays) {
  const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
  // Numbers are given without gaps (make_redis_canonical).
  for (int d = 1; redis_key_of_deadline(p_.plan, w_, r, static_cast<std::uint8_t>(d)) != kNullCell; ++d) {
    if (redis.clocks < 0) {
      add(EventKind::ExpireKey, r, d, 0, pays);
      continue;
    }
    for (int n = 0; n < static_cast<int>(redis.nodes.size()); ++n) {
      if (redis_deadline_runs(p_.plan, w_, r, static_cast<std::uint8_t>(d), n)) add(EventKind::ExpireKey, r, d, n + 1, pays);
    }
  }
}

void Enabled::redis_faults(int r) {
  auto* bytes = const_cast<std::uint8_t*>(w_);  // the views can write, nothing here does
  const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
  const int primary = current_primary(p_.plan, w_, r);
  int b = budget(FaultKind::Failover, FaultTarget::Redis, r);
  for (int n = 0; b >= 0 && redis.stepped && n < static_cast<int>(redis.nodes.size()); ++n) {
    if (can_take_over(r, n, primary)) add(EventKind::Failover, r, n, 0, b);
  }
  // With nothing to lose a failover changes nothing, unless somebody notices it.
  const bool noticed = !redis.stepped && redis.nodes.size() > 1 && has_open_connection(p_.plan, w_, r);
  for (int kept = 0; b >= 0 && kept < unreplicated_writes(p_.plan, w_, r) + (noticed ? 1 : 0); ++kept) {
    if (ends_transaction(queue_of(p_.plan, bytes, r, 1), kept)) add(EventKind::Failover, r, kept, 0, b);
  }
  b = budget(FaultKind::Partition, FaultTarget::Redis, r);
  if (b >= 0 && redis.stepped && !is_cut(p_.plan, w_, r)) add(EventKind::CutRedis, r, 0, 0, b);
  b = budget(FaultKind::RestartRedis, FaultTarget::Redis, r);
  if (b >= 0) restarts(r, primary, b);
  b = budget(FaultKind::Evict, FaultTarget::Redis, r);
  for (int i = 0; b >= 0 && i < redis.slots; ++i) {
    if (can_evict(p_.plan, w_, r, primary, i)) add(EventKind::Evict, r, i, 0, b);
  }
}

bool Enabled::can_take_over(int r, int n, int primary) const {
  if (primary_of(p_.plan, w_, r, n) != primary || link_of(p_.plan, w_, r, n) == kLinkSyncs) return false;
  if (old_primary(p_.plan, w_, r) >= 0) return false;
  return is_cut(p_.plan, w_, r) || can_replicate(p_.plan, w_, r, n) || has_open_connection(p_.plan, w_, r);
}

void Enabled::restarts(int r, int primary, int pays) {
  const RedisLayout& redis = l_.redis[static_cast<std::size_t>(r)];
  const bool noticed = has_open_connection(p_.plan, w_, r);
  const RedisKeys keys = keys_of(p_.plan, const_cast<std::uint8_t*>(w_), r, primary);
  const int unsynced = unsynced_writes(p_.plan, w_, r, primary);
  if (redis.disks.empty()) {
    if (keys.count() > 0 || noticed) add(EventKind::RestartRedis, r, 0, 0, pays);
    return;
  }
  const RedisQueue queue = disk_queue_of(p_.plan, const_cast<std::uint8_t*>(w_), r, primary);
  for (int kept = 0; kept < unsynced + (noticed ? 1 : 0); ++kept) {
    if (ends_transaction(queue, kept)) add(EventKind::RestartRedis, r, kept, 0, pays);
  }
}

}  // namespace oncecheck

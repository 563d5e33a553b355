#include "model/check/seen_set.hpp"

#include <bit>

#include "model/world/check.hpp"

namespace oncecheck {

SeenSet::SeenSet(std::size_t capacity) {
  const std::size_t size = std::bit_ceil(capacity < 1024 ? std::size_t{1024} : capacity);
  slots_ = std::make_unique<Slot[]>(size);
  mask_ = size - 1;
}

SeenSet::Insert SeenSet::insert(std::uint64_t fingerprint, std::uint64_t parent, int depth) {
  // Depth is stored plus one, so that a written origin is never 0.
  const std::uint64_t mine = (static_cast<std::uint64_t>(depth + 1) << 48) | (parent & kLowBits);
  Insert result = Insert::Known;
  for (std::size_t i = fingerprint & mask_, probes = 0; probes <= mask_; i = (i + 1) & mask_, ++probes) {
    Slot& slot = slots_[i];
    std::uint64_t there = slot.fingerprint.load(std::memory_order_relaxed);
    if (there == 0) {
      if (slot.fingerprint.compare_exchange_strong(there, fingerprint, std::memory_order_relaxed)) {
        size_.fetch_add(1, std::memory_order_relaxed);
        result = Insert::New;
        there = fingerprint;
      }
    }
    if (there != fingerprint) continue;
    std::uint64_t origin = slot.origin.load(std::memory_order_relaxed);
    while (origin == 0 || ((origin >> 48) == (mine >> 48) && origin > mine)) {
      if (slot.origin.compare_exchange_weak(origin, mine, std::memory_order_relaxed)) break;
    }
    return result;
  }
  return Insert::Full;
}

void SeenSet::reserve(std::size_t more) {
  // Half full at most: probe sequences stay short.
  if ((size() + more) * 2 <= capacity()) return;
  SeenSet larger((size() + more) * 2);
  for (std::size_t i = 0; i <= mask_; ++i) {
    const std::uint64_t f = slots_[i].fingerprint.load(std::memory_order_relaxed);
    if (f == 0) continue;
    std::size_t at = f & larger.mask_;
    while (larger.slots_[at].fingerprint.load(std::memory_order_relaxed) != 0) at = (at + 1) & larger.mask_;
    larger.slots_[at].fingerprint.store(f, std::memory_order_relaxed);
    larger.slots_[at].origin.store(slots_[i].origin.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  slots_ = std::move(larger.slots_);
  mask_ = larger.mask_;
}

SeenSet::Entry SeenSet::find(std::uint64_t low_bits) const {
  low_bits &= kLowBits;
  for (std::size_t i = low_bits & mask_;; i = (i + 1) & mask_) {
    const std::uint64_t f = slots_[i].fingerprint.load(std::memory_order_relaxed);
    CHECK_THAT(f != 0);
    if ((f & kLowBits) != low_bits) continue;
    const std::uint64_t origin = slots_[i].origin.load(std::memory_order_relaxed);
    return {f, origin & kLowBits, static_cast<int>(origin >> 48) - 1};
  }
}

}  // namespace oncecheck

#include "model/check/seen_set.hpp"

#include <algorithm>
#include <cstring>

#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::size_t kFirstBuckets = 1024;
constexpr std::size_t kBlock = 4096;  // buckets that growth moves at a time

// Nine tenths full at most.
std::size_t slots_for(std::size_t states) { return states + states / 9 + 1; }

constexpr std::uint32_t kOld = 3;  // it keeps its parent; younger ones: 1 + the last bit of their depth
std::uint32_t age_of(int depth) { return 1 + static_cast<std::uint32_t>(depth & 1); }

}  // namespace

SeenSet::SeenSet() { resize(kFirstBuckets); }

SeenSet::Insert SeenSet::insert(std::uint64_t fingerprint, std::uint64_t parent, int depth) {
  const std::uint32_t mine = (age_of(depth) << kParentBits) | static_cast<std::uint32_t>(parent >> (64 - kParentBits));
  const Bucket* const end = buckets_ + count_ + kOverflow;
  for (Bucket* b = buckets_ + home(fingerprint); b != end; ++b) {
    for (int i = 0; i < kSlots; ++i) {
      std::uint64_t there = b->fingerprint[i].load(kRelaxed);
      Insert result = Insert::Known;
      if (there == 0 && b->fingerprint[i].compare_exchange_strong(there, fingerprint, kRelaxed)) {
        there = fingerprint;
        result = Insert::New;
      }
      if (there != fingerprint) continue;
      std::uint32_t origin = b->origin[i].load(kRelaxed);
      while (origin == 0 || ((origin >> kParentBits) == (mine >> kParentBits) && origin > mine)) {
        if (b->origin[i].compare_exchange_weak(origin, mine, kRelaxed)) break;
      }
      return result;
    }
  }
  return Insert::Full;
}

std::atomic<std::uint32_t>* SeenSet::origin_of(std::uint64_t fingerprint) {
  const Bucket* const end = buckets_ + count_ + kOverflow;
  for (Bucket* b = buckets_ + home(fingerprint); b != end; ++b) {
    for (int i = 0; i < kSlots; ++i) {
      const std::uint64_t there = b->fingerprint[i].load(kRelaxed);
      if (there == fingerprint) return &b->origin[i];
      CHECK_THAT(there != 0);
    }
  }
  CHECK_THAT(!"the state is in the set");
  return nullptr;
}

void SeenSet::settle(std::uint64_t fingerprint) {
  std::atomic<std::uint32_t>* origin = origin_of(fingerprint);
  origin->store(origin->load(kRelaxed) | (kOld << kParentBits), kRelaxed);
}

void SeenSet::reserve(std::size_t more) {
  const std::size_t slots = slots_for(size_ + more);
  if (slots <= count_ * kSlots) return;
  // By a fifth more than asked, so that it does not happen too often: small tables double.
  const std::size_t extra = std::max(slots / 5, std::min<std::size_t>(slots, std::size_t{1} << 16));
  resize((slots + extra) / kSlots + 1);
}

// In place: from the back, a block at a time is taken out and put where it belongs now, which is further back.
void SeenSet::resize(std::size_t buckets) {
  const std::size_t before = buckets_ == nullptr ? 0 : count_ + kOverflow;
  const std::size_t bytes = (buckets + kOverflow) * sizeof(Bucket);
  memory_.grow_to(bytes);
  buckets_ = static_cast<Bucket*>(memory_.data());
  count_ = buckets;

  std::vector<Entry> taken, later;  // later: homes before the block at hand, among entries that have not moved yet
  for (std::size_t end = before; end > 0;) {
    const std::size_t begin = end > kBlock ? end - kBlock : 0;
    taken.swap(later);
    later.clear();
    for (std::size_t b = begin; b < end; ++b) {
      for (int i = 0; i < kSlots; ++i) {
        const std::uint64_t f = buckets_[b].fingerprint[i].load(kRelaxed);
        if (f != 0) taken.push_back({f, buckets_[b].origin[i].load(kRelaxed)});
      }
    }
    std::memset(static_cast<void*>(buckets_ + begin), 0, (end - begin) * sizeof(Bucket));
    for (const Entry& e : taken) {
      if (home(e.fingerprint) < begin) {
        later.push_back(e);
      } else {
        put(e);
      }
    }
    taken.clear();
    end = begin;
  }
}

void SeenSet::put(const Entry& entry) {
  for (std::size_t b = home(entry.fingerprint);; ++b) {
    CHECK_THAT(b < count_ + kOverflow);
    for (int i = 0; i < kSlots; ++i) {
      if (buckets_[b].fingerprint[i].load(kRelaxed) != 0) continue;
      buckets_[b].fingerprint[i].store(entry.fingerprint, kRelaxed);
      buckets_[b].origin[i].store(entry.origin, kRelaxed);
      return;
    }
  }
}

std::vector<std::uint64_t> SeenSet::parents(std::uint64_t fingerprint) const {
  const std::uint32_t origin = const_cast<SeenSet*>(this)->origin_of(fingerprint)->load(kRelaxed);
  constexpr int kLow = 64 - kParentBits;
  const std::uint64_t high = origin & ((1u << kParentBits) - 1);
  const std::size_t last = home((high << kLow) | ((std::uint64_t{1} << kLow) - 1));
  std::vector<std::uint64_t> out;
  bool gap = false;  // a slot is free: nothing of an earlier home lies behind it
  for (std::size_t b = home(high << kLow); b < count_ + kOverflow && (b <= last || !gap); ++b) {
    for (int i = 0; i < kSlots; ++i) {
      const std::uint64_t there = buckets_[b].fingerprint[i].load(kRelaxed);
      if (there != 0 && there >> kLow == high) out.push_back(there);
      gap = gap || (b >= last && there == 0);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace oncecheck

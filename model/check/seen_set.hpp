// The set of fingerprints seen so far, each with a link to a parent: 12.8 bytes a slot, and a table that is up to nine tenths
// full. It grows in place, by a little at a time.
//
// A bucket is one cache line of five slots. Buckets are in the order of fingerprints: the home of one is its share of the
// range of all. So growth is one pass from the back to the front, and the high bits of a fingerprint say where it is.
// A full bucket overflows into the next.
//
// Of the parent 30 bits are kept. Which state they mean may be ambiguous (of n states, n in 2^30 times): parents() gives all
// that fit, and who follows the chain tries them by real steps.
//
// Thread safety: prefetch(), insert() and settle() may be called by any number of threads at once. Nothing else may run beside
// them; reserve() and parents() belong between the parallel phases.
// Invariant: of several parents in the level in which a state was first seen, the one with the smallest fingerprint is kept. So
// the tree of parents, and every counterexample, is the same for any number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/check/growing_memory.hpp"

namespace oncecheck {

class SeenSet {
 public:
  SeenSet();

  enum class Insert { New, Known, Full };
  void prefetch(std::uint64_t fingerprint) const { __builtin_prefetch(&buckets_[home(fingerprint)], 1); }
  // REQUIRES: fingerprint != 0. A new one counts in size() once added() has been told.
  Insert insert(std::uint64_t fingerprint, std::uint64_t parent, int depth);
  // The state keeps its parent from now on. REQUIRES: it is in the set; every state of one depth is settled before the first
  // insert() two levels deeper.
  void settle(std::uint64_t fingerprint);

  // Room for at least this many more; the table grows when needed.
  void reserve(std::size_t more);
  void added(std::size_t count) { size_ += count; }

  // What may be the parent of a state, ascending. REQUIRES: it is in the set, and is not the first.
  std::vector<std::uint64_t> parents(std::uint64_t fingerprint) const;

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return (count_ + kOverflow) * sizeof(Bucket); }

 private:
  static constexpr int kSlots = 5;
  static constexpr std::size_t kOverflow = 1024;  // buckets behind the last home
  static constexpr int kParentBits = 30;

  struct Bucket {
    std::atomic<std::uint64_t> fingerprint[kSlots];
    // [age, two bits][high bits of the parent]; 0 while being written
    std::atomic<std::uint32_t> origin[kSlots];
    std::uint32_t unused;
  };
  static_assert(sizeof(Bucket) == 64);
  struct Entry {
    std::uint64_t fingerprint;
    std::uint32_t origin;
  };

  std::size_t home(std::uint64_t fingerprint) const { return static_cast<std::size_t>((static_cast<unsigned __int128>(fingerprint) * count_) >> 64); }
  std::atomic<std::uint32_t>* origin_of(std::uint64_t fingerprint);
  void resize(std::size_t buckets);
  void put(const Entry& entry);

  GrowingMemory memory_;
  Bucket* buckets_ = nullptr;
  std::size_t count_ = 0;      // homes
  std::size_t size_ = 0;
};

}  // namespace oncecheck

// The set of fingerprints seen so far, with the depth and the parent of each: 16 bytes an entry. Open addressing.
//
// Thread safety: insert() may be called by any number of threads at once. Nothing else may run beside it; grow() and find()
// belong between the parallel phases.
// Invariant: of several parents at the depth at which a state was first seen, the smallest fingerprint is kept. So the tree
// of parents, and every counterexample, is the same for any number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace oncecheck {

class SeenSet {
 public:
  explicit SeenSet(std::size_t capacity);

  enum class Insert { New, Known, Full };
  // REQUIRES: fingerprint != 0, depth < 65,535.
  Insert insert(std::uint64_t fingerprint, std::uint64_t parent, int depth);

  // Room for at least this many more; rebuilds the table when needed.
  void reserve(std::size_t more);

  struct Entry {
    std::uint64_t fingerprint = 0;
    std::uint64_t parent = 0;  // low 48 bits of the parent's fingerprint
    int depth = 0;
  };
  // By the low 48 bits of a fingerprint. REQUIRES: it is in the set.
  Entry find(std::uint64_t low_bits) const;

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  std::size_t capacity() const { return mask_ + 1; }
  std::size_t bytes() const { return capacity() * sizeof(Slot); }

  static constexpr std::uint64_t kLowBits = (1ull << 48) - 1;

 private:
  struct Slot {
    std::atomic<std::uint64_t> fingerprint{0};
    std::atomic<std::uint64_t> origin{0};  // depth << 48 | parent; 0 while being written
  };

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace oncecheck

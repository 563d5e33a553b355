#include "model/check/growing_memory.hpp"

#include <sys/mman.h>

#include <new>

namespace oncecheck {

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ONCECHECK_SHADOWED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(ONCECHECK_SHADOWED)
constexpr std::size_t kMost = std::size_t{1} << 33;  // a sanitizer keeps books of every range of addresses
#else
constexpr std::size_t kMost = std::size_t{1} << 38;
#endif
constexpr std::size_t kLeast = std::size_t{1} << 28;
constexpr std::size_t kLargePage = std::size_t{1} << 21;
constexpr std::size_t kSmall = 4 * kLargePage;  // below that large pages cost more than they save

}  // namespace

GrowingMemory::GrowingMemory() {
  // Less where addresses are limited (ulimit -v).
  for (most_ = kMost; most_ >= kLeast; most_ /= 4) {
    data_ = mmap(nullptr, most_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ != MAP_FAILED) return;
  }
  data_ = nullptr;
  throw std::bad_alloc();
}

GrowingMemory::~GrowingMemory() { munmap(data_, most_); }

void GrowingMemory::grow_to(std::size_t bytes) {
  if (bytes > most_) throw std::bad_alloc();
  if (bytes < kSmall || large_from_ > 0) return;
  // A table is looked up all over the place: with small pages each look-up would miss the cache of page addresses too. A kernel without
  // large pages leaves it at that.
  large_from_ = kSmall;
  madvise(static_cast<char*>(data_) + large_from_, most_ - large_from_, MADV_HUGEPAGE);
}

}  // namespace oncecheck

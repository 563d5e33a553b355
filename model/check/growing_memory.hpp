// Memory that grows without moving: a range of addresses is set aside, and pages come as they are touched.
#pragma once

#include <cstddef>

namespace oncecheck {

class GrowingMemory {
 public:
  GrowingMemory();
  ~GrowingMemory();
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // Aligned to a page; what was never written is zero.
  void* data() const { return data_; }
  // Throws std::bad_alloc when the range has not that many bytes.
  void grow_to(std::size_t bytes);

 private:
  void* data_ = nullptr;
  std::size_t most_ = 0, large_from_ = 0;
};

}  // namespace oncecheck

// Contents that get a number each, from 0 on in the order in which they come. Which number a content gets depends on which thread
// comes first: results must not depend on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "model/check/fingerprint.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

// Thread safety: number_of() may be called by any thread. operator[] needs no lock: who knows a number has it from a thread that
// has finished adding it.
template <class Info>
class Interned {
 public:
  explicit Interned(std::size_t most) : chunks_(most / kChunk + 1), most_(most) {}

  static constexpr std::uint32_t kFull = UINT32_MAX;
  // make(): the Info of a content that is new. kFull: there are too many.
  template <class Make>
  std::uint32_t number_of(const std::vector<std::uint8_t>& content, Make make) {
    const std::scoped_lock lock(mutex_);
    const auto [it, is_new] = numbers_.try_emplace(content, static_cast<std::uint32_t>(size_));
    if (!is_new) return it->second;
    if (size_ == most_) {
      numbers_.erase(it);
      return kFull;
    }
    std::unique_ptr<Info[]>& chunk = chunks_[size_ / kChunk];
    if (chunk == nullptr) chunk = std::make_unique<Info[]>(kChunk);
    chunk[size_ % kChunk] = make();
    return static_cast<std::uint32_t>(size_++);
  }
  const Info& operator[](std::uint32_t number) const { return chunks_[number / kChunk][number % kChunk]; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kChunk = 1024;
  struct Hash {
    std::size_t operator()(const std::vector<std::uint8_t>& b) const { return XXH3_64bits(b.data(), b.size()); }
  };

  std::mutex mutex_;
  std::unordered_map<std::vector<std::uint8_t>, std::uint32_t, Hash> numbers_;
  std::vector<std::unique_ptr<Info[]>> chunks_;
  std::size_t most_, size_ = 0;
};

}  // namespace oncecheck

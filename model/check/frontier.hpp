// The states of one level, in chunks: no copies as it grows, and a chunk is used again once its states are expanded.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace oncecheck {

class Frontier {
 public:
  static constexpr std::size_t kChunk = 128;  // states

  struct Chunk {
    std::size_t count = 0;
    std::uint64_t fingerprints[kChunk];
    std::unique_ptr<std::uint8_t[]> worlds;  // one behind the other
  };
  using Chunks = std::vector<std::unique_ptr<Chunk>>;

  explicit Frontier(std::size_t state_bytes) : bytes_(state_bytes) {}

  void add(const std::uint8_t* state, std::uint64_t fingerprint) {
    if (chunks_.empty() || chunks_.back()->count == kChunk) chunks_.push_back(take_chunk());
    Chunk& c = *chunks_.back();
    std::memcpy(c.worlds.get() + c.count * bytes_, state, bytes_);
    c.fingerprints[c.count++] = fingerprint;
    ++size_;
  }
  // A chunk that nobody needs any more.
  void recycle(std::unique_ptr<Chunk> chunk) { spare_.push_back(std::move(chunk)); }

  // Its chunks; it is empty afterwards.
  Chunks take() {
    size_ = 0;
    return std::exchange(chunks_, {});
  }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return (chunks_.size() + spare_.size()) * chunk_bytes(); }
  std::size_t chunk_bytes() const { return sizeof(Chunk) + kChunk * bytes_; }

 private:
  std::unique_ptr<Chunk> take_chunk() {
    if (spare_.empty()) {
      auto chunk = std::make_unique_for_overwrite<Chunk>();
      chunk->count = 0;
      chunk->worlds = std::make_unique_for_overwrite<std::uint8_t[]>(kChunk * bytes_);
      return chunk;
    }
    std::unique_ptr<Chunk> chunk = std::move(spare_.back());
    spare_.pop_back();
    chunk->count = 0;
    return chunk;
  }

  std::size_t bytes_;
  std::size_t size_ = 0;
  Chunks chunks_, spare_;
};

}  // namespace oncecheck

// A small hash of a few numbers, the same on every machine (FNV-1a, 64 bits, byte by byte).
#pragma once

#include <cstdint>

namespace oncecheck {

class Mixer {
 public:
  Mixer& add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i, value >>= 8) hash_ = (hash_ ^ (value & 0xFF)) * 1099511628211ull;
    return *this;
  }
  // The low `bits` of it, never 0.
  std::uint64_t done(int bits = 64) const {
    const std::uint64_t h = bits == 64 ? hash_ : (hash_ ^ (hash_ >> bits)) & ((1ull << bits) - 1);
    return h == 0 ? 1 : h;
  }

 private:
  std::uint64_t hash_ = 14695981039346656037ull;
};

}  // namespace oncecheck

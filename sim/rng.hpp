// Our own random numbers: integers only, the same on every compiler and machine (the standard library's distributions
// differ between vendors). xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018).
#pragma once

#include <cstdint>

namespace oncecheck {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (std::uint64_t& s : state_) {
      seed += 0x9E3779B97F4A7C15ull;
      s = mix(seed);
    }
  }

  // A different, well mixed seed for each run of a simulation.
  static std::uint64_t derive(std::uint64_t seed, std::uint64_t run) { return mix(seed ^ mix(run + 0x9E3779B97F4A7C15ull)); }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, n). REQUIRES: n > 0. Multiply and shift; the bias of at most n / 2^32 does not matter here.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  std::uint64_t state_[4];
};

}  // namespace oncecheck

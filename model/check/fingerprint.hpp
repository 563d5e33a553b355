// Fingerprints of worlds: 64 bits of XXH3 over the canonical bytes. Two worlds with the same fingerprint count as one; the
// chance that a run of n states loses one that way is about n^2 / 2^65 (printed with every report).
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

namespace oncecheck {

// Never 0: the seen set marks free entries with it.
inline std::uint64_t fingerprint(const std::uint8_t* world, std::size_t bytes) {
  const std::uint64_t f = XXH3_64bits(world, bytes);
  return f == 0 ? 1 : f;
}

}  // namespace oncecheck

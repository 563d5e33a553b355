// Seeded damage to scenario texts: bytes, JSON structure, numbers and SQL words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oncecheck::testing {

// One to four mutations of one of the texts; the others lend their pieces. The same seed gives the same text.
// REQUIRES: the texts are scenario files.
std::string damaged_scenario(const std::vector<std::string>& texts, std::uint64_t seed);

}  // namespace oncecheck::testing

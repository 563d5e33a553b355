// Random scenarios, small enough to be explored to the end. Same seed, same text.
#pragma once

#include <cstdint>
#include <string>

namespace oncecheck::testing {
std::string generated_scenario(std::uint64_t seed);
// The same with four promises of liveness before the others. In some of them a client tries again without end, or faults have no end.
std::string generated_live_scenario(std::uint64_t seed);
// Handlers without open transactions in one process, no queue: what can be collapsed (check/collapse.hpp).
std::string generated_plain_scenario(std::uint64_t seed);

// How many of them a test draws: so many, or as many as the environment asks for (ONCECHECK_GENERATED=5000).
std::uint64_t generated_count(std::uint64_t usual);
}  // namespace oncecheck::testing

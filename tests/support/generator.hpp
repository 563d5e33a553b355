// Random scenarios, small enough to be explored to the end. Same seed, same text.
#pragma once

#include <cstdint>
#include <string>

namespace oncecheck::testing {
std::string generated_scenario(std::uint64_t seed);
}  // namespace oncecheck::testing

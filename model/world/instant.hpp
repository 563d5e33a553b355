// Times that a scenario writes out, such as '2037-01-01 00:00:00'. They are compared with each other as they are; against
// everything that comes from a clock only one thing counts: whether they lie before or after the time at which scenarios
// run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace oncecheck {

// Microseconds since 1970-01-01 00:00:00 UTC.
inline constexpr std::int64_t kScenarioNow = 1'767'225'600'000'000;  // 2026-01-01
inline constexpr std::int64_t kInfinity = INT64_MAX;                 // PostgreSQL's 'infinity'

// "2037-01-01", "2037-01-01 00:00:00.5", "2037-01-01T00:00:00Z", "2037-01-01 00:00:00+02", "infinity"; nullopt for others.
std::optional<std::int64_t> parse_instant(std::string_view text);

// As a server prints it: "2037-01-01 00:00:00".
std::string instant_text(std::int64_t microseconds);

}  // namespace oncecheck

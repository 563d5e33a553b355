// The version of oncecheck, for reports.
#pragma once

namespace oncecheck {
inline constexpr const char* kVersion = "0.1.0";
}  // namespace oncecheck

// The JSON Schema (draft 2020-12) of a scenario file, as `oncecheck schema` prints it.
#pragma once

#include <string_view>

namespace oncecheck {
std::string_view scenario_schema();
}  // namespace oncecheck

// Providers as they are documented, for `"preset": NAME`. What the scenario says of an operation overrides the preset.
#pragma once

#include <string>
#include <vector>

#include "model/program/scenario.hpp"

namespace oncecheck {

struct ProviderPreset {
  std::string name;
  std::string meaning;   // one line
  Operation any;         // how an operation behaves that the preset does not name
  Provider provider;     // its operations and its look-up; none of its texts has a place in a file
};

// By name, in the order in which they are listed. The first ones follow a published API.
const std::vector<ProviderPreset>& provider_presets();
const ProviderPreset* find_preset(const std::string& name);

}  // namespace oncecheck

// What a world holds, as lines for people: one for each table, key space and ledger.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/program/program.hpp"

namespace oncecheck {

// (name, content), the same names in the same order for every world of a program.
std::vector<std::pair<std::string, std::string>> world_view(const Program& program, const std::uint8_t* world);

}  // namespace oncecheck

// Guards in a Redis command that can be cut out of it.
#pragma once

#include <string_view>
#include <vector>

#include "model/program/sql_cuts.hpp"

namespace oncecheck {

// NX and XX, a time to live (EX 30 and the like, KEEPTTL) of SET; each comparison that an IF of a script asks for, which then
// lets everything pass. In the order of the text.
std::vector<sql::TextCut> redis_cuts(std::string_view text);

// The name of the command, upper-case.
std::string redis_command_name(std::string_view text);

}  // namespace oncecheck

// The steps of handlers, jobs and start-up programs.
#pragma once

#include <vector>

#include "model/program/node_reader.hpp"
#include "model/program/scenario.hpp"

namespace oncecheck {

std::vector<Step> read_steps(const JsonNode& node, NodeReader& reader);

}  // namespace oncecheck

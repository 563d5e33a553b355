// What has to be reached on some schedule, and what is known never to be: "must_reach", "unreached".
#pragma once

#include "model/program/node_reader.hpp"

namespace oncecheck {

void read_must_reach(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_unreached(const JsonNode& document, NodeReader& reader, Scenario& out);

}  // namespace oncecheck

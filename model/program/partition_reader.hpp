// Reads "groups" of the fault "partition": who is cut off from whom.
#pragma once

#include "model/program/node_reader.hpp"

namespace oncecheck {

// Each member is a service, one instance of it ("checkout/1"), a client, a database, a redis, a provider or a queue of the
// document. Reports what is none of these, what stands in two groups or twice, and groups that cut nobody off.
std::vector<std::vector<Text>> read_groups(const JsonNode& groups, const JsonNode& document, NodeReader& reader);

}  // namespace oncecheck

// The parts of a scenario: databases, redis, providers, services, clients.
#pragma once

#include "model/program/node_reader.hpp"
#include "model/program/scenario.hpp"

namespace oncecheck {

// Each reads the section of its name from the document, when it is there, into `out`.
void read_databases(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_redis(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_providers(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_queues(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_services(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_clients(const JsonNode& document, NodeReader& reader, Scenario& out);

// A fault names its target by name alone, so no two of redis, providers, services and clients may share one.
void check_distinct_names(const JsonNode& document, NodeReader& reader);

}  // namespace oncecheck

// What may go wrong and what must hold: faults, invariants, bounds, expectations.
#pragma once

#include "model/program/node_reader.hpp"
#include "model/program/scenario.hpp"

namespace oncecheck {

// Each reads the section of its name from the document, when it is there, into `out`.
void read_faults(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_invariants(const JsonNode& document, NodeReader& reader, Scenario& out);
void read_bounds(const JsonNode& document, NodeReader& reader, Scenario& out);
// REQUIRES: the invariants have been read; expectations name them.
void read_expect(const JsonNode& document, NodeReader& reader, Scenario& out);

}  // namespace oncecheck

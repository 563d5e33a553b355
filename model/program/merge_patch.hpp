// JSON merge patches (RFC 7396) on trees with places: what a patch brings keeps its place in the patch.
#pragma once

#include "model/program/json_tree.hpp"

namespace oncecheck {

// REQUIRES: both are objects. A null that has nothing to delete is a mistake here (RFC 7396 lets it pass), because it
// is a misspelled name more often than not.
void apply_merge_patch(JsonNode& target, const JsonNode& patch, const JsonPlaces& places, DiagnosticLog& log);

}  // namespace oncecheck

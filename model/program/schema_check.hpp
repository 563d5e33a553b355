// Holds a document against the published JSON Schema, so that the schema and the reader cannot drift apart unnoticed.
#pragma once

#include <optional>

#include "model/program/json_tree.hpp"

namespace oncecheck {

// What the schema says against the document, at the innermost place that it names; nothing when it accepts. The
// reader's own messages are better, so this runs after it has found no mistake.
std::optional<Diagnostic> schema_refusal(const JsonNode& document, const JsonPlaces& places);

}  // namespace oncecheck

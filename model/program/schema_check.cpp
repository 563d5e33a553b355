#include "model/program/schema_check.hpp"

#include <charconv>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

// This header has to stand before the adapter, which uses what it declares.
#include <valijson/schema.hpp>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "model/program/schema.hpp"

namespace oncecheck {
namespace {

struct CompiledSchema {
  valijson::Schema schema;

  CompiledSchema() {
    nlohmann::json document = nlohmann::json::parse(scenario_schema());
    // valijson would fetch "#/$defs/..." from the address in "$id" instead of looking into the document.
    document.erase("$id");
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema);
  }
};

const valijson::Schema& compiled_schema() {
  static const CompiledSchema compiled;
  return compiled.schema;
}

nlohmann::json to_json(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::Null:
    case JsonNode::Kind::Broken: return nullptr;
    case JsonNode::Kind::Bool: return node.boolean;
    case JsonNode::Kind::Int: return node.integer;
    case JsonNode::Kind::OtherNumber: return nlohmann::json::parse(node.string);
    case JsonNode::Kind::String: return node.string;
    case JsonNode::Kind::Array: {
      nlohmann::json out = nlohmann::json::array();
      for (const JsonNode& child : node.children) out.push_back(to_json(child));
      return out;
    }
    case JsonNode::Kind::Object: {
      nlohmann::json out = nlohmann::json::object();
      for (const JsonNode& child : node.children) out[child.key] = to_json(child);
      return out;
    }
  }
  return nullptr;
}

// The child that valijson calls "[name]" or "[index]".
const JsonNode* child_in_context(const JsonNode& node, const std::string& step) {
  if (step.size() < 2) return nullptr;
  const std::string name = step.substr(1, step.size() - 2);
  if (!node.is(JsonNode::Kind::Array)) return node.find(name);
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (code != std::errc{} || index >= node.children.size()) return nullptr;
  return &node.children[index];
}

}  // namespace

std::optional<Diagnostic> schema_refusal(const JsonNode& document, const JsonPlaces& places) {
  const nlohmann::json json = to_json(document);
  const valijson::adapters::NlohmannJsonAdapter adapter(json);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(compiled_schema(), adapter, &results)) return std::nullopt;

  const JsonNode* innermost = &document;
  std::string message = "it is not what the schema describes";
  std::size_t depth = 0;
  for (const auto& error : results) {
    const JsonNode* node = &document;
    for (std::size_t i = 1; i < error.context.size() && node != nullptr; ++i) {
      node = child_in_context(*node, error.context[i]);
    }
    if (node == nullptr || error.context.size() <= depth) continue;
    depth = error.context.size();
    innermost = node;
    message = error.description;
  }
  return Diagnostic{places.of(*innermost), "the JSON Schema refuses this: " + message, {}};
}

}  // namespace oncecheck

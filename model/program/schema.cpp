#include "model/program/schema.hpp"

#include <string>

#include "model/program/promise_params.hpp"
#include "model/program/provider_presets.hpp"
#include "model/program/scenario_reader.hpp"
#include "model/program/schema_text.hpp"

namespace oncecheck {
namespace {

// The names come from the code that reads them, so a new built-in invariant needs no change here.
std::string quoted_builtin_names() {
  std::string out;
  const auto append = [&](const std::string& name) { out += (out.empty() ? "\"" : ", \"") + name + '"'; };
  for (const std::string& name : builtin_invariant_names()) append(name);
  for (const auto& [alias, name] : builtin_invariant_aliases()) append(alias);
  return out;
}

std::string quoted_occurrences() {
  std::string out;
  for (int i = 0; i < kOccurrences; ++i) out += (i == 0 ? "\"" : ", \"") + std::string(occurrence_name(static_cast<Occurrence>(i))) + '"';
  return out;
}

std::string quoted_preset_names() {
  std::string out;
  for (const ProviderPreset& p : provider_presets()) out += (out.empty() ? "\"" : ", \"") + p.name + '"';
  return out;
}

// One way to write each promise with its parameters. Which of several groups must be there is for the reader.
std::string schema_of_value(ParamKind kind) {
  const std::string name = R"("type": "string", "minLength": 1)", value = R"({ "$ref": "#/$defs/promise_value" })";
  if (kind == ParamKind::Values || kind == ParamKind::Keys) return R"("anyOf": [)" + value + R"(, { "type": "array", "minItems": 1, "items": )" + value + " }]";
  if (kind == ParamKind::Systems) return R"("type": "array", "minItems": 2, "items": { )" + name + " }";
  if (kind != ParamKind::Edges) return name;
  return R"("type": "array", "minItems": 1, "items": { "type": "array", "minItems": 2, "maxItems": 2, "items": )" + value + " }";
}

std::string promise_schemas() {
  std::string out;
  for (const PromiseSignature& s : promise_signatures()) {
    std::string required = R"("use")", properties;
    for (const PromiseParam& p : s.params) {
      if (asked_for(s, p, [](const std::string&) { return false; })) required += ", \"" + p.name + "\"";
      properties += ",\n              \"" + p.name + "\": { " + schema_of_value(p.kind) + ", \"description\": \"" + p.meaning + "\" }";
    }
    const std::string names = "\"" + s.name + "\"" + (s.alias.empty() ? "" : ", \"" + s.alias + "\"");
    out += std::string(out.empty() ? "" : "          ") + "{\n            \"type\": \"object\",\n            \"required\": [" + required +
           "],\n            \"additionalProperties\": false,\n            \"properties\": {\n              \"use\": { \"enum\": [" + names +
           "] },\n              \"name\": { \"type\": \"string\", \"minLength\": 1, \"description\": \"The name to report. Default: 'use'.\" }" +
           properties + "\n            }\n          },\n";
  }
  return out;
}

std::string whole_schema() {
  std::string out(schema_text::kFile.substr(1));  // each piece begins with the line break after its R"json(
  out += "  \"$defs\": {\n";
  for (const std::string_view piece :
       {schema_text::kParts, schema_text::kSteps, schema_text::kPromises, schema_text::kPatch}) {
    out += piece.substr(1);
  }
  out += "  }\n}\n";
  const auto fill = [&](std::string_view mark, const std::string& text) { out.replace(out.find(mark), mark.size(), text); };
  fill("@BUILTINS@", quoted_builtin_names());
  fill("          @PROMISES@\n", "          " + promise_schemas());
  fill("@OCCURRENCES@", quoted_occurrences());
  fill("@PRESETS@", quoted_preset_names());
  return out;
}

}  // namespace

std::string_view scenario_schema() {
  static const std::string schema = whole_schema();
  return schema;
}

}  // namespace oncecheck

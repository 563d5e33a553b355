#include "model/program/schema.hpp"

#include <string>

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

std::string quoted_preset_names() {
  std::string out;
  for (const ProviderPreset& p : provider_presets()) out += (out.empty() ? "\"" : ", \"") + p.name + '"';
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
  fill("@PRESETS@", quoted_preset_names());
  return out;
}

}  // namespace

std::string_view scenario_schema() {
  static const std::string schema = whole_schema();
  return schema;
}

}  // namespace oncecheck

#include "model/program/params.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/program/text_file.hpp"

namespace oncecheck {
namespace {

bool is_param_name(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  for (char c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
    if (!good) return false;
  }
  return true;
}

// "" when a parameter may have this value.
std::string refusal(const JsonNode& value) {
  switch (value.kind) {
    case JsonNode::Kind::Null:
    case JsonNode::Kind::Bool:
    case JsonNode::Kind::Int:
    case JsonNode::Kind::Broken: return {};
    case JsonNode::Kind::String:
      return value.string.find("${") == std::string::npos ? "" : "a parameter may not refer to another one";
    case JsonNode::Kind::OtherNumber: return "expected a whole number of 64 bits, found " + in_quotes(value.string);
    case JsonNode::Kind::Array: return "expected a string, a whole number, true, false or null, found an array";
    case JsonNode::Kind::Object: return "expected a string, a whole number, true, false or null, found an object";
  }
  return {};
}

JsonNode override_value(const std::string& spelling) {
  JsonPlaces nowhere("");
  DiagnosticLog syntax;
  JsonNode value = parse_json(spelling, nowhere, syntax);
  if (!syntax.empty()) {
    value = {};
    value.kind = JsonNode::Kind::String;
    value.string = spelling;
  }
  return value;
}

std::string text_of(const JsonNode& value) {
  switch (value.kind) {
    case JsonNode::Kind::Null: return "null";
    case JsonNode::Kind::Bool: return value.boolean ? "true" : "false";
    case JsonNode::Kind::Int: return std::to_string(value.integer);
    default: return value.string;
  }
}

}  // namespace

Params::Params(const JsonNode& document, const std::map<std::string, std::string>& overrides, const JsonPlaces& places,
               DiagnosticLog& log) {
  const JsonNode* params = document.find("params");
  if (params == nullptr || params->is(JsonNode::Kind::Broken)) return;
  if (!params->is(JsonNode::Kind::Object)) {
    log.add(places.of(*params), "'params': expected an object that gives each parameter its value");
    return;
  }
  for (const JsonNode& param : params->children) {
    JsonNode value = param;
    std::string mistake = refusal(param);
    if (!mistake.empty()) {
      log.add(places.of(param), fmt::format("parameter {}: {}", in_quotes(param.key), mistake));
      value.kind = JsonNode::Kind::Broken;
    }
    if (!is_param_name(param.key)) {
      log.add(places.of_key(param),
              fmt::format("{} cannot be the name of a parameter; expected letters, digits, '_', '-' "
                          "and '.', at most 64",
                          in_quotes(param.key)));
    }
    if (const auto given = overrides.find(param.key); given != overrides.end()) {
      value = override_value(given->second);
      mistake = refusal(value);
      if (first_invalid_utf8(given->second)) mistake = "expected UTF-8 text";
      if (!mistake.empty()) {
        log.add({"--set " + given->first, "", 0, 0}, mistake);
        value.kind = JsonNode::Kind::Broken;
      }
    }
    values_.emplace(param.key, std::move(value));
  }
}

const JsonNode* Params::value_of(const JsonNode& user, const std::string& name, const JsonPlaces& places,
                                 DiagnosticLog& log) const {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second;
  std::vector<std::string> names;
  for (const auto& [known, value] : values_) names.push_back(known);
  std::string message = fmt::format("there is no parameter {}", in_quotes(name));
  if (names.empty()) message += "; the file declares none in 'params'";
  log.add(places.of(user), std::move(message), nearest_name(name, names));
  return nullptr;
}

void Params::substitute(JsonNode& node, const JsonPlaces& places, DiagnosticLog& log) {
  if (node.is(JsonNode::Kind::String)) {
    substitute_text(node, places, log);
  } else {
    for (JsonNode& child : node.children) substitute(child, places, log);
  }
}

void Params::substitute_text(JsonNode& node, const JsonPlaces& places, DiagnosticLog& log) {
  const std::string written = node.string;
  std::string result;
  std::size_t done = 0;
  const auto give_up = [&](std::string message) {
    if (!message.empty()) log.add(places.of(node), std::move(message));
    node.kind = JsonNode::Kind::Broken;
  };
  for (std::size_t open = written.find("${"); open != std::string::npos; open = written.find("${", done)) {
    const std::size_t close = written.find('}', open);
    if (close == std::string::npos) return give_up("'${' has no '}' after it; expected '${name}'");
    const JsonNode* value = value_of(node, written.substr(open + 2, close - open - 2), places, log);
    if (value == nullptr || value->is(JsonNode::Kind::Broken)) return give_up({});
    bytes_put_in_ += value->string.size();
    if (bytes_put_in_ > kLargestFile) return give_up("with its parameters put in, the scenario is larger than 4 MiB");
    if (open == 0 && close + 1 == written.size()) {
      node.kind = value->kind;
      node.boolean = value->boolean;
      node.integer = value->integer;
      node.string = value->string;
      return;
    }
    result += written.substr(done, open - done) + text_of(*value);
    done = close + 1;
  }
  if (done > 0) node.string = result + written.substr(done);
}

}  // namespace oncecheck

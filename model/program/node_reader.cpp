#include "model/program/node_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace oncecheck {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_local_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName || is_digit(text.front())) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

constexpr std::string_view kLocalNameRule = "a letter or '_', then letters, digits and '_', at most 64";
constexpr std::string_view kPartNameRule = "letters, digits, '_' and '-', at most 64";

std::string shown(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::Null: return "null";
    case JsonNode::Kind::Bool: return node.boolean ? "true" : "false";
    case JsonNode::Kind::Int: return std::to_string(node.integer);
    case JsonNode::Kind::OtherNumber: return "the number " + in_quotes(node.string);
    case JsonNode::Kind::String: return "the string " + in_quotes(node.string);
    case JsonNode::Kind::Array: return "an array";
    case JsonNode::Kind::Object: return "an object";
    case JsonNode::Kind::Broken: break;
  }
  return "nothing usable";
}

}  // namespace

bool is_part_name(std::string_view text) {
  if (text.empty() || text.size() > kLongestName) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
}

// A whole number above 0 of up to 9 digits, then a unit: "30s", "250ms", "10 minutes".
bool is_interval(std::string_view text) {
  static const std::vector<std::string_view> units = {"ms",   "s",     "sec",  "secs",   "second",  "seconds",
                                                      "m",    "min",   "mins", "minute", "minutes", "h",
                                                      "hour", "hours", "d",    "day",    "days"};
  std::size_t i = 0;
  bool above_zero = false;
  for (; i < text.size() && is_digit(text[i]); ++i) above_zero = above_zero || text[i] != '0';
  if (i > 9 || !above_zero) return false;
  if (i < text.size() && text[i] == ' ') ++i;
  return std::find(units.begin(), units.end(), text.substr(i)) != units.end();
}

NodeReader::NodeReader(const JsonPlaces& places, DiagnosticLog& log, std::string base)
    : places_(places), log_(log), base_(std::move(base)) {}

void NodeReader::mistake(const JsonNode& node, std::string message, std::string suggestion) {
  log_.add(places_.of(node), std::move(message), std::move(suggestion));
}

void NodeReader::key_mistake(const JsonNode& node, std::string message, std::string suggestion) {
  log_.add(places_.of_key(node), std::move(message), std::move(suggestion));
}

void NodeReader::wrong(const JsonNode& node, std::string_view expected, std::string suggestion) {
  if (node.is(JsonNode::Kind::Broken)) return;
  const std::string name = node.key.empty() ? "" : in_quotes(node.key) + ": ";
  mistake(node, fmt::format("{}expected {}, found {}", name, expected, shown(node)), std::move(suggestion));
}

bool NodeReader::is_object(const JsonNode& node, std::string_view what) {
  if (node.is(JsonNode::Kind::Object)) return true;
  wrong(node, fmt::format("{} (an object)", what));
  return false;
}

bool NodeReader::is_array(const JsonNode& node, std::string_view what) {
  if (node.is(JsonNode::Kind::Array)) return true;
  wrong(node, fmt::format("{} (an array)", what));
  return false;
}

void NodeReader::check_keys(const JsonNode& object, std::string_view what, const Names& known) {
  for (const JsonNode& member : object.children) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string near = nearest_name(member.key, known);
    std::string message = fmt::format("unknown key {} in {}", in_quotes(member.key), what);
    if (near.empty()) message += fmt::format("; expected {}", alternatives(known));
    key_mistake(member, std::move(message), std::move(near));
  }
}

const JsonNode* NodeReader::required(const JsonNode& object, std::string_view key, std::string_view what) {
  const JsonNode* found = object.find(key);
  if (found == nullptr) mistake(object, fmt::format("{} needs '{}'", what, key));
  return found;
}

int NodeReader::integer(const JsonNode& node, int lowest, int highest) {
  if (node.is(JsonNode::Kind::Int) && node.integer >= lowest && node.integer <= highest) {
    return static_cast<int>(node.integer);
  }
  wrong(node, fmt::format("a whole number from {} to {}", lowest, highest));
  return lowest;
}

bool NodeReader::boolean(const JsonNode& node) {
  if (!node.is(JsonNode::Kind::Bool)) wrong(node, "true or false");
  return node.boolean;
}

void NodeReader::must_be_true(const JsonNode& node) {
  if (!node.is(JsonNode::Kind::Bool) || !node.boolean) wrong(node, "true");
}

std::string NodeReader::string(const JsonNode& node, std::string_view expected) {
  if (node.is(JsonNode::Kind::String) && !node.string.empty()) return node.string;
  wrong(node, expected);
  return {};
}

std::string NodeReader::name(const JsonNode& node) {
  const std::string out = string(node, "a name to report");
  const bool plain = std::none_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; });
  if (!plain) mistake(node, "a name to report is one line of text without control characters");
  return out;
}

std::string NodeReader::choice(const JsonNode& node, const Names& choices) {
  const bool is_string = node.is(JsonNode::Kind::String);
  if (is_string && std::find(choices.begin(), choices.end(), node.string) != choices.end()) return node.string;
  Names spelled;
  for (const std::string& choice : choices) spelled.push_back('"' + choice + '"');
  wrong(node, alternatives(spelled), is_string ? nearest_name(node.string, choices) : std::string{});
  return choices.front();
}

Scalar NodeReader::scalar(const JsonNode& node) {
  Scalar out;
  out.at = at(node);
  switch (node.kind) {
    case JsonNode::Kind::Null: break;
    case JsonNode::Kind::Bool:
      out.kind = Scalar::Kind::Bool;
      out.boolean = node.boolean;
      break;
    case JsonNode::Kind::Int:
      out.kind = Scalar::Kind::Int;
      out.integer = node.integer;
      break;
    case JsonNode::Kind::String:
      out.kind = Scalar::Kind::String;
      out.string = node.string;
      break;
    default: wrong(node, "a string, a whole number, true, false or null");
  }
  return out;
}

Text NodeReader::text(const JsonNode& node, std::string_view expected) { return {string(node, expected), at(node)}; }

Text NodeReader::expression(const JsonNode& node) {
  if (node.is(JsonNode::Kind::Int)) return {std::to_string(node.integer), at(node)};
  if (node.is(JsonNode::Kind::Bool)) return {node.boolean ? "true" : "false", at(node)};
  return text(node, "an SQL expression such as \":key\"");
}

Text NodeReader::sql(const JsonNode& node) {
  if (!node.is(JsonNode::Kind::Object)) return text(node, "SQL, as a string or as {\"file\": PATH}");
  check_keys(node, "a text from a file", {"file"});
  const JsonNode* path = required(node, "file", "a text from a file");
  if (path == nullptr) return {{}, at(node)};
  const std::string written = string(*path, "the path of a file");
  if (written.empty()) return {{}, at(node)};
  const TextFile& file = file_text(written);
  if (!file.error.empty()) {
    mistake(*path, fmt::format("the file {} cannot be read: {}", in_quotes(written), file.error));
  }
  return {file.text, at(node)};
}

Text NodeReader::interval(const JsonNode& node) {
  if (!node.is(JsonNode::Kind::String) || !is_interval(node.string)) {
    wrong(node, "a time above zero such as \"30s\", \"250ms\", \"10 minutes\", \"24h\" or \"1 day\"");
  }
  return {node.string, at(node)};
}

std::string NodeReader::local_name(const JsonNode& node) {
  if (!node.is(JsonNode::Kind::String) || !is_local_name(node.string)) {
    wrong(node, fmt::format("the name of a local ({})", kLocalNameRule));
    return {};
  }
  return node.string;
}

void NodeReader::check_local_name(const JsonNode& named, std::string_view what) {
  if (is_local_name(named.key)) return;
  key_mistake(named,
              fmt::format("{} cannot be the name of {}; expected {}", in_quotes(named.key), what, kLocalNameRule));
}

void NodeReader::check_part_name(const JsonNode& named, std::string_view what) {
  if (is_part_name(named.key)) return;
  key_mistake(named,
              fmt::format("{} cannot be the name of {}; expected {}", in_quotes(named.key), what, kPartNameRule));
}

const TextFile& NodeReader::file_text(const std::string& path) {
  const auto [entry, is_new] = files_.try_emplace(path);
  TextFile& file = entry->second;
  if (!is_new) return file;
  file = read_text_file((std::filesystem::path(base_).parent_path() / path).string());
  if (!file.error.empty()) return file;
  if (file.text.find('\0') != std::string::npos) {
    file.error = "it contains the character U+0000";
  } else if (first_invalid_utf8(file.text)) {
    file.error = "it is not UTF-8 text";
  } else if (file.text.find_first_not_of(" \t\r\n") == std::string::npos) {
    file.error = "it is empty";
  }
  return file;
}

}  // namespace oncecheck

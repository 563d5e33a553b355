// Reads single values out of a tree, each with its check. A mistake goes into the log and a harmless value comes back,
// so that reading goes on and finds the next mistake.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/json_tree.hpp"
#include "model/program/scenario.hpp"
#include "model/program/text_file.hpp"

namespace oncecheck {

using Names = std::vector<std::string>;

class NodeReader {
 public:
  // `base` is the file that relative {"file": PATH} texts are looked for next to.
  NodeReader(const JsonPlaces& places, DiagnosticLog& log, std::string base);

  Origin at(const JsonNode& node) const { return places_.of(node); }
  void mistake(const JsonNode& node, std::string message, std::string suggestion = {});
  void key_mistake(const JsonNode& node, std::string message, std::string suggestion = {});
  // "'KEY': expected EXPECTED, found ..."
  void wrong(const JsonNode& node, std::string_view expected, std::string suggestion = {});

  // Shapes. `what` names the thing in messages: "a database".
  bool is_object(const JsonNode& node, std::string_view what);
  bool is_array(const JsonNode& node, std::string_view what);
  void check_keys(const JsonNode& object, std::string_view what, const Names& known);
  const JsonNode* required(const JsonNode& object, std::string_view key, std::string_view what);

  // Values.
  int integer(const JsonNode& node, int lowest, int highest);
  bool boolean(const JsonNode& node);
  void must_be_true(const JsonNode& node);
  std::string string(const JsonNode& node, std::string_view expected = "some text");
  std::string name(const JsonNode& node);  // to report: one line of text
  std::string choice(const JsonNode& node, const Names& choices);
  Scalar scalar(const JsonNode& node);
  Text text(const JsonNode& node, std::string_view expected);
  Text expression(const JsonNode& node);  // an SQL expression; a whole number, true and false stand for themselves
  Text sql(const JsonNode& node);         // a string or {"file": PATH}
  Text interval(const JsonNode& node);    // "30s"
  std::string local_name(const JsonNode& node);

  // Names that users give. A local or a field is written as `:name` in SQL; a part appears in traces and in "part.x".
  void check_local_name(const JsonNode& named, std::string_view what);
  void check_part_name(const JsonNode& named, std::string_view what);

 private:
  const TextFile& file_text(const std::string& path);

  const JsonPlaces& places_;
  DiagnosticLog& log_;
  std::string base_;
  std::map<std::string, TextFile> files_;
};

bool is_interval(std::string_view text);
bool is_part_name(std::string_view text);

}  // namespace oncecheck

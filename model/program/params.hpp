// The parameters of a scenario: "${name}" in its strings, `--set` on the command line.
#pragma once

#include <map>
#include <string>

#include "model/program/json_tree.hpp"

namespace oncecheck {

class Params {
 public:
  // Reads the member "params" of the document, if any. Values of `overrides` replace declared ones.
  Params(const JsonNode& document, const std::map<std::string, std::string>& overrides, const JsonPlaces& places,
         DiagnosticLog& log);

  // Replaces "${name}" in every string below `node`: a whole string takes the value with its type, a part of a longer
  // string takes its text. The result keeps the place of the string. Keys, and "params" itself, are left alone.
  void substitute(JsonNode& node, const JsonPlaces& places, DiagnosticLog& log);

 private:
  void substitute_text(JsonNode& node, const JsonPlaces& places, DiagnosticLog& log);
  const JsonNode* value_of(const JsonNode& user, const std::string& name, const JsonPlaces& places,
                           DiagnosticLog& log) const;

  std::map<std::string, JsonNode> values_;
  std::size_t bytes_put_in_ = 0;
};

}  // namespace oncecheck

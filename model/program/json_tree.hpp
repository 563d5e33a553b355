// JSON as a tree in which each value remembers where it was written. nlohmann/json parses; its own tree keeps no
// places.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/program/diagnostic.hpp"
#include "model/program/diagnostic_log.hpp"

namespace oncecheck {

using PlaceId = std::uint32_t;

struct JsonNode {
  // OtherNumber: not a whole number of 64 bits; `string` holds its spelling (nothing here computes with fractions).
  // Broken: a mistake that has been reported already; readers accept it silently.
  enum class Kind { Null, Bool, Int, OtherNumber, String, Array, Object, Broken };

  Kind kind = Kind::Null;
  bool boolean = false;
  std::int64_t integer = 0;
  std::string string;
  std::string key;                 // name within its object, "" in an array
  std::vector<JsonNode> children;  // of an array or an object, in the order of the file
  PlaceId place = 0;

  bool is(Kind k) const { return kind == k; }
  const JsonNode* find(std::string_view name) const;  // member of an object, nullptr when absent
  JsonNode* find(std::string_view name);
  std::optional<JsonNode> take(std::string_view name);  // the member, which is then gone
};

// Where the values of one file stand. A value that is copied or moved in a tree keeps its place.
class JsonPlaces {
 public:
  explicit JsonPlaces(std::string file) : file_(std::move(file)), places_(1) {}

  struct Place {
    PlaceId parent = 0;
    std::string key;  // member name or index
    int key_line = 0, key_column = 0;
    int line = 0, column = 0;
  };
  PlaceId add(Place place);

  const std::string& file() const { return file_; }
  Origin of(const JsonNode& node) const;      // the value
  Origin of_key(const JsonNode& node) const;  // its member name; in an array the value
  std::string pointer(PlaceId place) const;   // RFC 6901
  std::string member_pointer(PlaceId parent, std::string_view key) const;

 private:
  std::string file_;
  std::vector<Place> places_;  // 0: the root
};

// Comments are allowed. A syntax error gives a Broken root; doubled keys and the like are reported, the rest is read.
JsonNode parse_json(const std::string& text, JsonPlaces& places, DiagnosticLog& log);

}  // namespace oncecheck

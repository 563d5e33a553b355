#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/json_tree.hpp"

namespace {

using oncecheck::DiagnosticLog;
using oncecheck::JsonNode;
using oncecheck::JsonPlaces;
using oncecheck::Origin;
using oncecheck::parse_json;

struct Parsed {
  JsonPlaces places{"f"};
  DiagnosticLog log;
  JsonNode root;

  explicit Parsed(const std::string& text) { root = parse_json(text, places, log); }

  // "LINE:COLUMN POINTER" of the value, or of its key.
  std::string place(const JsonNode& node) const { return shown(places.of(node)); }
  std::string key_place(const JsonNode& node) const { return shown(places.of_key(node)); }
  std::string only_complaint() const { return log.sorted().size() == 1 ? log.sorted().front().text() : "not one"; }

  static std::string shown(const Origin& at) {
    return std::to_string(at.line) + ":" + std::to_string(at.column) + " " + at.pointer;
  }
};

}  // namespace

TEST_CASE("every value knows its line, column and pointer") {
  const Parsed parsed(R"({
  // a comment with "quotes", {brackets} and : signs
  "a" : [ 1 , { "b/c" : "x\"y" } , [ ] ] , /* more
  */ "~d" :
    -12,
  "e": null, "f": true, "g": 1.5, "": "\\"
})");
  REQUIRE(parsed.log.empty());
  const JsonNode& root = parsed.root;
  CHECK(parsed.place(root) == "1:1 ");
  const JsonNode& a = *root.find("a");
  CHECK(parsed.place(a) == "3:9 /a");
  CHECK(parsed.key_place(a) == "3:3 /a");
  CHECK(parsed.place(a.children[0]) == "3:11 /a/0");
  CHECK(parsed.key_place(a.children[0]) == "3:11 /a/0");
  CHECK(parsed.place(a.children[1]) == "3:15 /a/1");
  const JsonNode& bc = a.children[1].children[0];
  CHECK(bc.string == "x\"y");
  CHECK(parsed.place(bc) == "3:25 /a/1/b~1c");
  CHECK(parsed.key_place(bc) == "3:17 /a/1/b~1c");
  CHECK(parsed.place(a.children[2]) == "3:36 /a/2");
  CHECK(parsed.place(*root.find("~d")) == "5:5 /~0d");
  CHECK(parsed.key_place(*root.find("~d")) == "4:6 /~0d");
  CHECK(root.find("~d")->integer == -12);
  CHECK(parsed.place(*root.find("e")) == "6:8 /e");
  CHECK(root.find("f")->boolean);
  CHECK(root.find("g")->kind == JsonNode::Kind::OtherNumber);
  CHECK(root.find("g")->string == "1.5");
  CHECK(parsed.place(*root.find("g")) == "6:30 /g");
  CHECK(parsed.place(*root.find("")) == "6:39 /");
}

TEST_CASE("columns count characters, and a byte order mark counts as nothing") {
  const Parsed parsed("\xef\xbb\xbf{\"\u00fc\u4e2d\": \"\U0001f600\", \"b\": 1}");
  REQUIRE(parsed.log.empty());
  CHECK(parsed.place(parsed.root) == "1:1 ");
  CHECK(parsed.place(parsed.root.children[0]) == "1:8 /\u00fc\u4e2d");
  CHECK(parsed.key_place(parsed.root.children[1]) == "1:13 /b");
}

TEST_CASE("members stand in the order of the file, and can be taken") {
  Parsed parsed(R"({"z": 1, "a": 2, "m": 3})");
  CHECK(parsed.root.children[0].key == "z");
  CHECK(parsed.root.children[1].key == "a");
  const auto taken = parsed.root.take("a");
  REQUIRE(taken);
  CHECK(taken->integer == 2);
  CHECK(taken->key == "a");
  CHECK(parsed.root.find("a") == nullptr);
  CHECK(!parsed.root.take("a"));
}

TEST_CASE("whole numbers of 64 bits are kept, others keep their spelling") {
  const Parsed parsed("[9223372036854775807, -9223372036854775808, 9223372036854775808, -1e2, 1E400]");
  CHECK(parsed.only_complaint() == "f:1:72: error: this is not valid JSON: this number is too large (at /4)");
  const Parsed numbers("[9223372036854775807, -9223372036854775808, 9223372036854775808, -1e2]");
  REQUIRE(numbers.log.empty());
  CHECK(numbers.root.children[0].integer == INT64_MAX);
  CHECK(numbers.root.children[1].integer == INT64_MIN);
  CHECK(numbers.root.children[2].string == "9223372036854775808");
  CHECK(numbers.root.children[3].string == "-1e2");
}

TEST_CASE("syntax errors are told where they are") {
  struct Case {
    std::string text;
    std::string said;
  };
  const std::vector<Case> cases = {
      {"", "f:1:1: error: the file is empty; expected a JSON object"},
      {" \n // only a comment\n", "f:3:1: error: the file is empty; expected a JSON object"},
      {"\xef\xbb\xbf", "f:1:1: error: the file is empty; expected a JSON object"},
      {"{\"a\": 1, \n",
       "f:2:1: error: this is not valid JSON: unexpected end of input; expected a key in double quotes (at /a)"},
      {"{\"a\": [1, 2",
       "f:1:12: error: this is not valid JSON: unexpected end of input; expected ',' or ']' (at /a/2)"},
      {"{\"a\": 1\n \"b\": 2}", "f:2:2: error: this is not valid JSON: unexpected string; expected ',' or '}' (at /a)"},
      {"[1,\n 2,\n]", "f:3:1: error: this is not valid JSON: unexpected ']'; expected a value (at /2)"},
      {"{\"a\": 1,}", "f:1:9: error: this is not valid JSON: unexpected '}'; expected a key in double quotes (at /a)"},
      {"{a: 1}", "f:1:2: error: this is not valid JSON: invalid literal; expected a key in double quotes"},
      {"{\"a\" 1}", "f:1:6: error: this is not valid JSON: unexpected number; expected ':' (at /a)"},
      {"{\"a\": tru}", "f:1:7: error: this is not valid JSON: invalid literal (at /a)"},
      {"{\"a\": \"x", "f:1:7: error: this is not valid JSON: invalid string: missing closing quote (at /a)"},
      {"{\"a\": \"\\q\"}",
       "f:1:9: error: this is not valid JSON: invalid string: forbidden character after backslash (at /a)"},
      {"{} {}", "f:1:4: error: this is not valid JSON: unexpected '{'; expected end of input"},
      {"{\"a\": 1} /* no end",
       "f:1:10: error: this is not valid JSON: invalid comment; missing closing '*/'; expected end "
       "of input"},
      {"{\"a\": \"\u00e9\xff\"}", "f:1:9: error: this is not UTF-8 text; save the file in the encoding UTF-8"},
      {"// \xc0\x80", "f:1:4: error: this is not UTF-8 text; save the file in the encoding UTF-8"},
      {std::string("{}\n\0{", 5), "f:2:1: error: the file contains the character U+0000; it is no text file"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const Parsed parsed(one.text);
    CHECK(parsed.only_complaint() == one.said);
    CHECK(parsed.root.kind == JsonNode::Kind::Broken);
  }
}

TEST_CASE("a line break within a string is told at the line break") {
  const Parsed parsed("{\"a\": \"x\ny\"}");
  CHECK(parsed.only_complaint().starts_with("f:1:9: error: this is not valid JSON: invalid string: control character"));
}

TEST_CASE("doubled keys, long keys and U+0000 are told, and the rest is read") {
  const Parsed doubled("{\"a\": 1,\n \"b\": 2, \"a\": {\"c\": 3}}");
  CHECK(doubled.only_complaint() == "f:2:10: error: the key 'a' appears twice (at /a)");
  CHECK(doubled.root.children.size() == 2);
  CHECK(doubled.root.find("a")->integer == 1);

  const Parsed long_key("{\"" + std::string(199, 'k') + "\u00e9\": 1, \"b\": 2}");
  CHECK(long_key.only_complaint() ==
        "f:1:2: error: a key may have at most 200 bytes (at /" + std::string(199, 'k') + ")");
  CHECK(long_key.root.children.size() == 1);

  const Parsed nul("{\"a\": \"x\\u0000\", \"b\": 2}");
  CHECK(nul.only_complaint() == "f:1:7: error: a string may not contain the character U+0000 (at /a)");
  CHECK(nul.root.find("a")->kind == JsonNode::Kind::Broken);
  const Parsed nul_key("{\"a\\u0000b\": 1}");
  CHECK(nul_key.only_complaint() == "f:1:2: error: a key may not contain the character U+0000 (at /a)");
}

TEST_CASE("nesting and size have limits") {
  CHECK(Parsed(std::string(64, '[') + std::string(64, ']')).log.empty());
  const Parsed deep(std::string(65, '[') + std::string(65, ']'));
  CHECK(deep.only_complaint().starts_with("f:1:65: error: arrays and objects are nested more than 64 deep"));
  CHECK(Parsed(std::string(3'000'000, '[')).root.kind == JsonNode::Kind::Broken);

  std::string many = "[0";
  for (int i = 0; i < 20'000; ++i) many += ",0";
  const Parsed large(many + "]");
  CHECK(large.only_complaint() ==
        "f:1:40000: error: the file holds more than 20000 values; no scenario needs as many (at /19999)");
}

TEST_CASE("every prefix of a file is refused without harm") {
  const std::string text = R"({"a": [1, -2.5e3, true, null, {"b\u00e9": "c\\"}], /* x */ "d": "e" // y
})";
  for (std::size_t length = 0; length + 1 < text.size(); ++length) {
    CAPTURE(length);
    CHECK(!Parsed(text.substr(0, length)).log.empty());
  }
  CHECK(Parsed(text).log.empty());
}

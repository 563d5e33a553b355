#include "model/program/json_tree.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/program/text_file.hpp"

namespace oncecheck {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestKey = 200;
constexpr int kMostValues = 20'000;

struct Position {
  std::size_t offset = 0;
  int line = 1;
  int column = 1;  // in characters, as editors count
};

// Walks over the same text as the parser, one token for each of its events, and so knows where each token stands.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text) {
    if (text_.substr(0, 3) == "\xef\xbb\xbf") position_.offset = 3;
  }

  // Where the next token begins, past blanks, comments and separators.
  Position next_token() {
    while (!at_end()) {
      const char c = here();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':') {
        advance();
      } else if (c != '/' || !skip_comment()) {
        break;
      }
    }
    return position_;
  }

  // Returns the token's text.
  std::string_view skip_token() {
    const std::size_t begin = position_.offset;
    if (at_end()) return {};
    const char first = here();
    advance();
    if (first == '"') {
      while (!at_end() && here() != '"') {
        if (here() == '\\') advance();
        advance();
      }
      advance();
    } else if (std::string_view("{}[]").find(first) == std::string_view::npos) {
      while (!at_end() && std::string_view(" \t\r\n,:/{}[]\"").find(here()) == std::string_view::npos) advance();
    }
    return text_.substr(begin, position_.offset - begin);
  }

  void advance_to(std::size_t offset) {
    while (!at_end() && position_.offset < offset) advance();
  }

  Position position() const { return position_; }
  bool at_end() const { return position_.offset >= text_.size(); }
  char here() const { return text_[position_.offset]; }

 private:
  void advance() {
    if (at_end()) return;
    if (here() == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      const bool within_character = position_.offset + 1 < text_.size() &&
                                    (static_cast<unsigned char>(text_[position_.offset + 1]) & 0xc0) == 0x80;
      if (!within_character) ++position_.column;
    }
    ++position_.offset;
  }

  // False, and no move, when there is none or it has no end: then this is where the parser's complaint belongs.
  bool skip_comment() {
    const std::string_view rest = text_.substr(position_.offset);
    std::size_t length = std::string_view::npos;
    if (rest.substr(0, 2) == "//") {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.substr(0, 2) == "/*") {
      const std::size_t end = rest.find("*/", 2);
      if (end != std::string_view::npos) length = end + 2;
    }
    if (length == std::string_view::npos) return false;
    advance_to(position_.offset + length);
    return true;
  }

  std::string_view text_;
  Position position_;
};

void replace_first(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

// "[json.exception...] parse error at line 1, column 2: syntax error while parsing value - WHAT; last read: 'TOKEN';
// expected THAT" to "WHAT; expected THAT" in plain words.
std::string plain_syntax_message(std::string message) {
  const std::size_t dash = message.find(" - ");
  if (dash != std::string::npos) message.erase(0, dash + 3);
  const std::size_t token = message.find("; last read: '");
  if (token != std::string::npos) {
    const std::size_t expected = message.rfind("'; expected ");
    message = message.substr(0, token) + (expected == std::string::npos ? "" : message.substr(expected + 1));
  }
  replace_first(message, "; expected '[', '{', or a literal", "; expected a value");
  replace_first(message, "; expected string literal", "; expected a key in double quotes");
  replace_first(message, "; expected ']'", "; expected ',' or ']'");
  replace_first(message, "; expected '}'", "; expected ',' or '}'");
  replace_first(message, "string literal", "string");
  replace_first(message, "number literal", "number");
  return message;
}

class TreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const std::string& text, JsonPlaces& places, DiagnosticLog& log)
      : cursor_(text), places_(places), log_(log) {}

  JsonNode take_root() { return std::move(root_); }

  bool null() override { return scalar({}); }
  bool boolean(bool value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::Bool;
    node.boolean = value;
    return scalar(std::move(node));
  }
  bool number_integer(number_integer_t value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::Int;
    node.integer = value;
    return scalar(std::move(node));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) return other_number();
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t, const string_t&) override { return other_number(); }
  bool string(string_t& value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::String;
    node.string = std::move(value);
    return scalar(std::move(node));
  }
  bool binary(binary_t&) override { return false; }  // JSON text has none
  bool start_object(std::size_t) override { return start(JsonNode::Kind::Object); }
  bool start_array(std::size_t) override { return start(JsonNode::Kind::Array); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(string_t& name) override {
    Frame& frame = open_.back();
    frame.key_position = cursor_.next_token();
    cursor_.skip_token();
    frame.has_key = true;
    frame.drop_value = false;
    if (name.size() > kLongestKey) {
      frame.key =
          name.substr(0, first_invalid_utf8(std::string_view(name).substr(0, kLongestKey)).value_or(kLongestKey));
      complain_about_key(fmt::format("a key may have at most {} bytes", kLongestKey));
    } else if (name.find('\0') != std::string::npos) {
      frame.key = name.substr(0, name.find('\0'));
      complain_about_key("a key may not contain the character U+0000");
    } else {
      frame.key = name;
      if (!frame.seen.insert(name).second) complain_about_key(fmt::format("the key {} appears twice", in_quotes(name)));
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    std::string message = error.what();
    Position at = cursor_.next_token();
    if (error.id == 406) {
      message = "this number is too large";
    } else {
      message = plain_syntax_message(std::move(message));
      const bool inside_string = !cursor_.at_end() && cursor_.here() == '"';
      if (inside_string && message.find("unexpected") == std::string::npos &&
          message.find("missing closing quote") == std::string::npos && position > 0) {
        cursor_.advance_to(position - 1);
        at = cursor_.position();
      }
    }
    report(at, "this is not valid JSON: " + message);
    return fail();
  }

 private:
  struct Frame {
    JsonNode node;
    std::set<std::string> seen;
    std::string key;
    Position key_position;
    std::size_t next_index = 0;
    bool has_key = false;
    bool drop_value = false;
  };

  bool fail() {
    root_ = {};
    root_.kind = JsonNode::Kind::Broken;
    return false;
  }

  // Pointer to the value that is being read.
  std::string pointer() const {
    if (open_.empty()) return {};
    const Frame& frame = open_.back();
    if (frame.node.is(JsonNode::Kind::Object) && !frame.has_key) return places_.pointer(frame.node.place);
    return places_.member_pointer(frame.node.place, key_or_index(frame));
  }

  static std::string key_or_index(const Frame& frame) {
    return frame.node.is(JsonNode::Kind::Object) ? frame.key : std::to_string(frame.next_index);
  }

  void report(const Position& at, std::string message) {
    log_.add({places_.file(), pointer(), at.line, at.column}, std::move(message));
  }

  void complain_about_key(std::string message) {
    open_.back().drop_value = true;
    report(open_.back().key_position, std::move(message));
  }

  // Gives the node its place and its name; false when the file holds too much.
  bool settle(JsonNode& node, const Position& at) {
    if (++values_ > kMostValues) {
      report(at, fmt::format("the file holds more than {} values; no scenario needs as many", kMostValues));
      return fail();
    }
    JsonPlaces::Place place{0, {}, at.line, at.column, at.line, at.column};
    if (!open_.empty()) {
      const Frame& parent = open_.back();
      place.parent = parent.node.place;
      place.key = key_or_index(parent);
      if (parent.node.is(JsonNode::Kind::Object)) {
        node.key = parent.key;
        place.key_line = parent.key_position.line;
        place.key_column = parent.key_position.column;
      }
    }
    node.place = places_.add(std::move(place));
    return true;
  }

  void attach(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = open_.back();
    ++parent.next_index;
    if (!parent.drop_value) parent.node.children.push_back(std::move(node));
  }

  bool scalar(JsonNode node) {
    const Position at = cursor_.next_token();
    cursor_.skip_token();
    if (!settle(node, at)) return false;
    if (node.string.find('\0') != std::string::npos) {
      report(at, "a string may not contain the character U+0000");
      node.kind = JsonNode::Kind::Broken;
    }
    attach(std::move(node));
    return true;
  }

  bool other_number() {
    JsonNode node;
    node.kind = JsonNode::Kind::OtherNumber;
    const Position at = cursor_.next_token();
    node.string = cursor_.skip_token();
    if (!settle(node, at)) return false;
    attach(std::move(node));
    return true;
  }

  bool start(JsonNode::Kind kind) {
    const Position at = cursor_.next_token();
    cursor_.skip_token();
    if (open_.size() == kDeepest) {
      report(at, fmt::format("arrays and objects are nested more than {} deep", kDeepest));
      return fail();
    }
    Frame frame;
    frame.node.kind = kind;
    if (!settle(frame.node, at)) return false;
    open_.push_back(std::move(frame));
    return true;
  }

  bool end() {
    cursor_.next_token();
    cursor_.skip_token();
    JsonNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
    return true;
  }

  TokenCursor cursor_;
  JsonPlaces& places_;
  DiagnosticLog& log_;
  std::vector<Frame> open_;
  JsonNode root_;
  int values_ = 0;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  for (const JsonNode& child : children) {
    if (child.key == name) return &child;
  }
  return nullptr;
}

JsonNode* JsonNode::find(std::string_view name) {
  return const_cast<JsonNode*>(static_cast<const JsonNode*>(this)->find(name));
}

std::optional<JsonNode> JsonNode::take(std::string_view name) {
  for (auto child = children.begin(); child != children.end(); ++child) {
    if (child->key != name) continue;
    std::optional<JsonNode> taken = std::move(*child);
    children.erase(child);
    return taken;
  }
  return std::nullopt;
}

PlaceId JsonPlaces::add(Place place) {
  places_.push_back(std::move(place));
  return static_cast<PlaceId>(places_.size() - 1);
}

std::string JsonPlaces::pointer(PlaceId place) const {
  // The parent of the root is 0, the empty place.
  if (places_[place].parent == 0) return {};
  return member_pointer(places_[place].parent, places_[place].key);
}

std::string JsonPlaces::member_pointer(PlaceId parent, std::string_view key) const {
  std::string out = pointer(parent) + '/';
  for (char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

Origin JsonPlaces::of(const JsonNode& node) const {
  const Place& place = places_[node.place];
  return {file_, pointer(node.place), place.line, place.column};
}

Origin JsonPlaces::of_key(const JsonNode& node) const {
  const Place& place = places_[node.place];
  return {file_, pointer(node.place), place.key_line, place.key_column};
}

JsonNode parse_json(const std::string& text, JsonPlaces& places, DiagnosticLog& log) {
  JsonNode broken;
  broken.kind = JsonNode::Kind::Broken;
  TokenCursor cursor(text);
  // The parser would take it for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    cursor.advance_to(nul);
    const Position at = cursor.position();
    log.add({places.file(), "", at.line, at.column}, "the file contains the character U+0000; it is no text file");
    return broken;
  }
  if (const auto invalid = first_invalid_utf8(text)) {
    cursor.advance_to(*invalid);
    const Position at = cursor.position();
    log.add({places.file(), "", at.line, at.column}, "this is not UTF-8 text; save the file in the encoding UTF-8");
    return broken;
  }
  const Position first = cursor.next_token();
  if (cursor.at_end()) {
    log.add({places.file(), "", first.line, first.column}, "the file is empty; expected a JSON object");
    return broken;
  }
  TreeBuilder builder(text, places, log);
  // The parser needs no stack for nesting, the limit protects what walks the tree.
  if (!nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true, true)) return broken;
  return builder.take_root();
}

}  // namespace oncecheck

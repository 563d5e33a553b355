#include "model/program/sql_context.hpp"

#include <algorithm>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_refusals.hpp"

namespace oncecheck::sql {

namespace {

constexpr int kMaxNesting = 100;
constexpr int kMaxLevels = 400;  // of our own tree, where an AND of n terms has n levels
constexpr std::size_t kMaxNodes = 20'000;

// libpg_query leaves out what is 0, false, "" or empty, but writes each enumeration.
constexpr std::string_view kDefaults[] = {"AEXPR_OP",
                                          "COERCE_EXPLICIT_CALL",
                                          "CTEMaterializeDefault",
                                          "DEFELEM_UNSPEC",
                                          "LIMIT_OPTION_DEFAULT",
                                          "ONCOMMIT_NOOP",
                                          "OVERRIDING_NOT_SET",
                                          "SETOP_NONE",
                                          "SORTBY_DEFAULT",
                                          "SORTBY_NULLS_DEFAULT"};

bool is_default(const Json& value) {
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    return text.empty() || std::find(std::begin(kDefaults), std::end(kDefaults), text) != std::end(kDefaults);
  }
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>() == 0;
  return value.is_null() || ((value.is_array() || value.is_object()) && value.empty());
}

}  // namespace

ReadContext::ReadContext(const RewrittenSql& sql) : sql_(sql), tokens_(tokenize(sql.text())) {}

NodeView ReadContext::view(const Json& node) const {
  if (!node.is_object() || node.size() != 1 || !node.begin()->is_object()) {
    fail("this SQL has a part that the parser does not name", first_location(node));
  }
  return {node.begin().key(), node.begin().value()};
}

const Json* ReadContext::find(const Json& body, const char* field) {
  const auto found = body.find(field);
  return found == body.end() ? nullptr : &*found;
}

std::string ReadContext::text(const Json& body, const char* field) {
  const Json* value = find(body, field);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

bool ReadContext::flag(const Json& body, const char* field) {
  const Json* value = find(body, field);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

const Json& ReadContext::list(const Json& body, const char* field) {
  static const Json none = Json::array();
  const Json* value = find(body, field);
  return value != nullptr && value->is_array() ? *value : none;
}

std::string ReadContext::name(const Json& node) const {
  const NodeView string = view(node);
  if (string.type != "String") refuse_node(node);
  return text(string.body, "sval");
}

std::vector<std::string> ReadContext::names(const Json& body, const char* field) const {
  std::vector<std::string> all;
  for (const Json& node : list(body, field)) all.push_back(name(node));
  return all;
}

void ReadContext::check_fields(std::string_view type, const Json& body,
                               std::initializer_list<std::string_view> known) const {
  for (const auto& [field, value] : body.items()) {
    if (field == "location" || is_default(value)) continue;
    if (std::find(known.begin(), known.end(), std::string_view(field)) != known.end()) continue;
    const FieldRefusal* refusal = find_field_refusal(type, field);
    int location = first_location(value);
    if (location < 0) location = first_location(body);
    if (refusal == nullptr) refuse("\"" + field + "\" of " + construct_name(type), location);
    if (!refusal->word.empty()) {
      location = refusal->before ? word_before(refusal->word, location) : word_near(refusal->word, location);
    }
    refuse(refusal->phrase, location, refusal->advice);
  }
}

int ReadContext::location_of(const Json& body) {
  const Json* value = find(body, "location");
  // A location of 0 is left out, but only nodes with a location come here.
  if (value == nullptr) return 0;
  return value->is_number_integer() ? value->get<int>() : -1;
}

int ReadContext::first_location(const Json& node) {
  int first = -1;
  std::vector<const Json*> open = {&node};  // no recursion: this runs before the nesting is known to be small
  while (!open.empty()) {
    const Json& next = *open.back();
    open.pop_back();
    if (!next.is_structured()) continue;
    if (next.is_object()) {
      const auto own = next.find("location");
      if (own != next.end() && own->is_number_integer()) {
        const int at = own->get<int>();
        if (at >= 0 && (first < 0 || at < first)) first = at;
      }
    }
    for (const Json& child : next) open.push_back(&child);
  }
  return first;
}

int ReadContext::word_near(std::string_view word, int from) const {
  for (const Token& token : tokens_) {
    if (static_cast<int>(token.begin) >= from && is_word(token, word)) return static_cast<int>(token.begin);
  }
  return word_before(word, from);
}

int ReadContext::word_before(std::string_view word, int from) const {
  int last = from;
  for (const Token& token : tokens_) {
    if (static_cast<int>(token.begin) < from && is_word(token, word)) last = static_cast<int>(token.begin);
  }
  return last;
}

bool ReadContext::is_word(const Token& token, std::string_view word) const {
  return token.kind == TokenKind::Word &&
         same_word(std::string_view(sql_.text()).substr(token.begin, token.end - token.begin), word);
}

void ReadContext::refuse(std::string_view construct, int location, std::string_view advice) const {
  fail(refusal_text(construct, advice), location);
}

void ReadContext::fail(const std::string& message, int location) const {
  throw SqlError(message, original(location < 0 ? last_location_ : location));
}

void ReadContext::refuse_node(const Json& node) const {
  const NodeView unknown = view(node);
  refuse(construct_name(unknown.type), first_location(node));
}

void ReadContext::count_nodes(std::size_t count, int location) {
  nodes_ += count;
  if (location >= 0) last_location_ = location;
  if (nodes_ > kMaxNodes) {
    fail(
        "this SQL has more than " + std::to_string(kMaxNodes) + " parts (BETWEEN and CASE x WHEN repeat their operand)",
        location);
  }
}

ReadContext::Level::Level(ReadContext& context, int levels, int location) : context_(context), levels_(levels) {
  if (context.nesting_ >= kMaxNesting || context.levels_ + levels > kMaxLevels) {
    context.fail("this SQL is nested too deeply", location);
  }
  ++context_.nesting_;
  context_.levels_ += levels_;
}

ReadContext::Level::~Level() {
  --context_.nesting_;
  context_.levels_ -= levels_;
}

}  // namespace oncecheck::sql

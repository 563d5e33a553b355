#include "model/program/sql_params.hpp"

#include <algorithm>

#include "model/program/mysql_rewrite.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Which colons are array slices: x[1:n] has one, ARRAY[:n] has none.
class Brackets {
 public:
  void see(std::string_view text, const Token& token) {
    const char c = text[token.begin];
    if (token.kind == TokenKind::Symbol && (c == '[' || c == '(')) {
      const bool list = after_array_ || (in_list() && (last_ == '[' || last_ == ','));
      open_.push_back(c == '(' ? Kind::Paren : list ? Kind::List : Kind::Subscript);
    } else if (token.kind == TokenKind::Symbol && (c == ']' || c == ')') && !open_.empty()) {
      open_.pop_back();
    }
    after_array_ =
        token.kind == TokenKind::Word && same_word(text.substr(token.begin, token.end - token.begin), "array");
    last_ = c;
  }

  bool in_subscript() const { return !open_.empty() && open_.back() == Kind::Subscript; }

 private:
  enum class Kind { Paren, List, Subscript };

  bool in_list() const { return !open_.empty() && open_.back() == Kind::List; }

  std::vector<Kind> open_;
  bool after_array_ = false;
  char last_ = '\0';
};

std::size_t after_name(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_letter(text[at]) || is_digit(text[at]))) ++at;
  return at;
}

// The end of the name, or of "name.field", that begins at `from`.
std::size_t after_param(std::string_view text, std::size_t from) {
  std::size_t end = after_name(text, from);
  const bool field = end + 1 < text.size() && text[end] == '.' && is_letter(text[end + 1]);
  if (field) end = after_name(text, end + 1);
  const int colon = static_cast<int>(from) - 1;
  if (end < text.size() && is_name_char(text[end])) {
    throw SqlError("the name of a parameter is made of the letters a-z, digits and '_' (:name or :name.field)", colon);
  }
  if (field && end + 1 < text.size() && text[end] == '.' && is_name_char(text[end + 1])) {
    throw SqlError("a parameter is :name or :name.field, it has no deeper parts", colon);
  }
  return end;
}

}  // namespace

RewrittenSql::RewrittenSql(std::string_view text, std::string_view before, std::string_view after, Dialect dialect)
    : text_(before), original_size_(text.size()), dialect_(dialect) {
  pieces_.push_back({0, 0, true});
  begin_ = static_cast<int>(before.size());
  std::vector<TextPiece> pieces = {{0, text.size(), std::nullopt}};
  if (mysql()) {
    MysqlText rewritten = rewrite_mysql(text, dialect);
    pieces = std::move(rewritten.pieces);
    refused_ = std::move(rewritten.refused);
    no_result_ = rewritten.no_result;
  }
  const std::vector<Token> tokens = tokenize(text, mysql() ? Quoting::MySql : Quoting::Postgres);
  for (const TextPiece& piece : pieces) add_piece(text, piece, tokens);
  end_ = static_cast<int>(text_.size());
  pieces_.push_back({text_.size(), text.size(), true});
  text_ += after;
}

void RewrittenSql::add_piece(std::string_view text, const TextPiece& piece, const std::vector<Token>& tokens) {
  if (piece.instead) {
    pieces_.push_back({text_.size(), piece.from, true});
    text_ += *piece.instead;
    return;
  }
  Brackets brackets;
  std::size_t copied = piece.from;
  const auto first = std::lower_bound(tokens.begin(), tokens.end(), piece.from,
                                      [](const Token& token, std::size_t at) { return token.begin < at; });
  for (auto it = first; it != tokens.end() && it->end <= piece.to; ++it) {
    const Token& token = *it;
    if (token.begin < copied) continue;  // a part of a parameter
    if (token.kind == TokenKind::Dollar) {
      throw SqlError(
          "parameters are written :name, not " + std::string(text.substr(token.begin, token.end - token.begin)),
          static_cast<int>(token.begin));
    }
    const bool colon = text[token.begin] == ':' && token.end == token.begin + 1;
    if (colon && token.end < text.size() && is_letter(text[token.end]) && !brackets.in_subscript()) {
      copy(text, copied, token.begin);
      copied = after_param(text, token.end);
      add_param(text, token.begin, std::string(text.substr(token.end, copied - token.end)));
    }
    brackets.see(text, token);
  }
  copy(text, copied, piece.to);
}

void RewrittenSql::copy(std::string_view original, std::size_t from, std::size_t to) {
  pieces_.push_back({text_.size(), from, false});
  text_ += original.substr(from, to - from);
}

void RewrittenSql::add_param(std::string_view original, std::size_t colon, std::string name) {
  pieces_.push_back({text_.size(), colon, true});
  // "select:a" would become the name select$1.
  if (colon > 0 && is_name_char(original[colon - 1])) text_ += ' ';
  names_.push_back(std::move(name));
  text_ += '$' + std::to_string(names_.size());
}

int RewrittenSql::to_original(int offset) const {
  if (offset < 0) return -1;
  const auto at = static_cast<std::size_t>(offset);
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                     [](std::size_t value, const Piece& piece) { return value < piece.at; });
  const Piece& piece = *std::prev(next);
  return static_cast<int>(std::min(piece.whole ? piece.from : piece.from + (at - piece.at), original_size_));
}

}  // namespace oncecheck::sql

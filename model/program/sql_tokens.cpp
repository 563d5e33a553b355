#include "model/program/sql_tokens.hpp"

#include <algorithm>

namespace oncecheck::sql {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

class Lexer {
 public:
  explicit Lexer(std::string_view text, Quoting quoting = Quoting::Postgres)
      : text_(text), mysql_(quoting == Quoting::MySql) {}

  // The places after the thing that begins at `at`.

  std::size_t after_line_comment(std::size_t at) const {
    while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') ++at;
    return at;
  }

  std::size_t after_block_comment(std::size_t at) const {
    int depth = 0;
    while (at < text_.size()) {
      if (starts(at, "/*")) {
        ++depth;
        at += 2;
      } else if (starts(at, "*/")) {
        at += 2;
        if (--depth == 0) return at;
      } else {
        ++at;
      }
    }
    return text_.size();
  }

  std::size_t after_quoted(std::size_t at, char quote, bool escapes) const {
    for (++at; at < text_.size(); ++at) {
      if (escapes && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (peek(at + 1) != quote) return at + 1;
        ++at;
      }
    }
    return text_.size();
  }

  // E'a' <newline> 'b' is one literal, and the backslash still escapes in its second part.
  std::size_t after_escape_string(std::size_t at) const {
    while (true) {
      at = after_quoted(at, '\'', true);
      std::size_t next = at;
      bool newline = false;
      while (next < text_.size()) {
        if (is_space(text_[next])) {
          newline = newline || text_[next] == '\n' || text_[next] == '\r';
          ++next;
        } else if (starts(next, "--") && newline) {
          next = after_line_comment(next);
        } else {
          break;
        }
      }
      if (!newline || peek(next) != '\'') return at;
      at = next;
    }
  }

  // "$tag$ ... $tag$"; `at` itself when none begins here.
  std::size_t after_dollar_quoted(std::size_t at) const {
    std::size_t i = at + 1;
    if (starts_name(peek(i))) {
      while (is_name_char(peek(i)) && peek(i) != '$') ++i;
    }
    if (peek(i) != '$') return at;
    const std::string_view tag = text_.substr(at, i + 1 - at);
    const std::size_t close = text_.find(tag, i + 1);
    return close == std::string_view::npos ? text_.size() : close + tag.size();
  }

  std::size_t after_number(std::size_t at) const {
    while (is_digit(peek(at))) ++at;
    if (peek(at) == '.' && peek(at + 1) != '.') {
      ++at;
      while (is_digit(peek(at))) ++at;
    }
    return at;
  }

  Token token(std::size_t at) const {
    const char c = text_[at];
    if (c == '\'') return {TokenKind::String, at, after_quoted(at, '\'', mysql_)};
    if (c == '"' && mysql_) return {TokenKind::String, at, after_quoted(at, '"', true)};
    if (c == '`' && mysql_) return {TokenKind::QuotedName, at, after_quoted(at, '`', false)};
    if (c == '"') return {TokenKind::QuotedName, at, after_quoted(at, '"', false)};
    if (lower(c) == 'e' && peek(at + 1) == '\'' && !mysql_) return {TokenKind::String, at, after_escape_string(at + 1)};
    if (starts_name(c)) {
      std::size_t end = at;
      while (is_name_char(peek(end))) ++end;
      return {TokenKind::Word, at, end};
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(at + 1)))) return {TokenKind::Number, at, after_number(at)};
    if (c == '$' && !mysql_) {
      std::size_t end = at + 1;
      while (is_digit(peek(end))) ++end;
      if (end > at + 1) return {TokenKind::Dollar, at, end};
      end = after_dollar_quoted(at);
      if (end > at) return {TokenKind::String, at, end};
    }
    const bool two = starts(at, "::") || starts(at, ":=");
    return {TokenKind::Symbol, at, at + (two ? 2 : 1)};
  }

  std::size_t after_blanks(std::size_t at) const {
    while (at < text_.size()) {
      if (is_space(text_[at])) {
        ++at;
      } else if (starts(at, "--") || (mysql_ && text_[at] == '#')) {
        at = after_line_comment(at);
      } else if (starts(at, "/*")) {
        at = after_block_comment(at);
      } else {
        break;
      }
    }
    return std::min(at, text_.size());
  }

 private:
  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool starts(std::size_t at, std::string_view with) const { return text_.substr(at, with.size()) == with; }

  std::string_view text_;
  bool mysql_;
};

}  // namespace

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_name_char(char c) { return starts_name(c) || is_digit(c) || c == '$'; }

std::vector<Token> tokenize(std::string_view text, Quoting quoting) {
  const Lexer lexer(text, quoting);
  std::vector<Token> tokens;
  for (std::size_t at = lexer.after_blanks(0); at < text.size(); at = lexer.after_blanks(tokens.back().end)) {
    tokens.push_back(lexer.token(at));
  }
  return tokens;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) { return Lexer(text).after_blanks(at); }

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool same_word(std::string_view text, std::string_view lower_text) {
  return text.size() == lower_text.size() &&
         std::equal(text.begin(), text.end(), lower_text.begin(), [](char a, char b) { return lower(a) == b; });
}

}  // namespace oncecheck::sql

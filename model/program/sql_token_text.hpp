// An SQL text with its tokens: what stands where, for who looks for clauses without parsing.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

// The text must outlive it.
class TokenText {
 public:
  TokenText(std::string_view text, Quoting quoting) : text_(text), tokens_(tokenize(text, quoting)) {}

  std::size_t size() const { return tokens_.size(); }
  const Token& token(std::size_t i) const { return tokens_[i]; }
  std::string_view text(std::size_t i) const;
  // False behind the last token.
  bool word(std::size_t i, std::string_view lower) const;
  bool words(std::size_t i, std::initializer_list<std::string_view> lower) const;
  bool symbol(std::size_t i, char c) const;
  bool name(std::size_t i) const;  // a word or a quoted name
  // The token that closes the parenthesis at i, or size().
  std::size_t close(std::size_t i) const;
  // The first token from i on, outside of parentheses, that begins these words; size() when there is none.
  std::size_t find(std::size_t i, std::initializer_list<std::string_view> lower) const;
  // The token behind the last one of the statement: a semicolon at the end is not part of it.
  std::size_t end() const;

 protected:
  std::string_view text_;
  std::vector<Token> tokens_;
};

}  // namespace oncecheck::sql

// The text of a MySQL statement on its way to PostgreSQL's grammar: its tokens, and what shall stand in place of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

// A piece of the text that the grammar reads: bytes [from, to) of the user's text, or other text that stands for them.
struct TextPiece {
  std::size_t from = 0;
  std::size_t to = 0;
  std::optional<std::string> instead;
};

class MysqlEditor {
 public:
  explicit MysqlEditor(std::string_view text);

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

  void replace(std::size_t first, std::size_t last, std::string by);  // tokens first..last
  void cut(std::size_t first, std::size_t last) { replace(first, last, " "); }
  void insert_before(std::size_t i, std::string text);  // i may be size()
  // Tokens first..last go to the front of the statement, between two texts.
  void move_to_front(std::string before, std::size_t first, std::size_t last, std::string after);

  [[noreturn]] void refuse(std::size_t i, std::string_view construct, std::string_view advice = "") const;

  std::vector<TextPiece> pieces() const;

 private:
  void add_range(std::vector<TextPiece>& out, std::size_t from, std::size_t to) const;

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<TextPiece> edits_;
  std::optional<TextPiece> moved_;  // instead: the text before
  std::string moved_after_;
};

}  // namespace oncecheck::sql

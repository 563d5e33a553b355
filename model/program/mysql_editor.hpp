// The text of a MySQL statement on its way to PostgreSQL's grammar: its tokens, and what shall stand in place of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_token_text.hpp"

namespace oncecheck::sql {

// A piece of the text that the grammar reads: bytes [from, to) of the user's text, or other text that stands for them.
struct TextPiece {
  std::size_t from = 0;
  std::size_t to = 0;
  std::optional<std::string> instead;
};

class MysqlEditor : public TokenText {
 public:
  explicit MysqlEditor(std::string_view text);

  void replace(std::size_t first, std::size_t last, std::string by);  // tokens first..last
  void cut(std::size_t first, std::size_t last) { replace(first, last, " "); }
  void insert_before(std::size_t i, std::string text);  // i may be size()
  // Tokens first..last go to the front of the statement, between two texts.
  void move_to_front(std::string before, std::size_t first, std::size_t last, std::string after);

  [[noreturn]] void refuse(std::size_t i, std::string_view construct, std::string_view advice = "") const;

  std::vector<TextPiece> pieces() const;

 private:
  void add_range(std::vector<TextPiece>& out, std::size_t from, std::size_t to) const;

  std::vector<TextPiece> edits_;
  std::optional<TextPiece> moved_;  // instead: the text before
  std::string moved_after_;
};

}  // namespace oncecheck::sql

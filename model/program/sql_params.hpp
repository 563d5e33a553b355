// `:name` and `:name.field` are ours, not PostgreSQL's: they become `$1`, `$2`, ... before the text is parsed. What MySQL
// spells otherwise is rewritten along (mysql_rewrite.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/mysql_editor.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck::sql {

// Text with its parameters rewritten. Every use of a parameter has a number of its own: names[n - 1] is the name of $n.
class RewrittenSql {
 public:
  // `before` and `after` are put around the text. Throws SqlError for a `$1` in `text`.
  RewrittenSql(std::string_view text, std::string_view before, std::string_view after,
               Dialect dialect = Dialect::Postgres);

  Dialect dialect() const { return dialect_; }
  bool mysql() const { return dialect_ != Dialect::Postgres; }
  const std::optional<ServerRefusal>& refused() const { return refused_; }
  bool no_result() const { return no_result_; }

  const std::string& text() const { return text_; }
  const std::vector<std::string>& names() const { return names_; }

  // A byte offset into text() to one into the original text; -1 stays -1. What stands before or after the original text
  // maps to its first byte and to its end.
  int to_original(int offset) const;
  // Where the original text begins and ends in text().
  int begin() const { return begin_; }
  int end() const { return end_; }

 private:
  struct Piece {  // from here on, text()[at + i] is original[from + i], or stands for original[from] as a whole
    std::size_t at;
    std::size_t from;
    bool whole;
  };

  void add_piece(std::string_view original, const TextPiece& piece, const std::vector<Token>& tokens);
  void copy(std::string_view original, std::size_t from, std::size_t to);
  void add_param(std::string_view original, std::size_t colon, std::string name);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Piece> pieces_;
  std::size_t original_size_ = 0;
  Dialect dialect_;
  std::optional<ServerRefusal> refused_;
  bool no_result_ = false;
  int begin_ = 0;
  int end_ = 0;
};

}  // namespace oncecheck::sql

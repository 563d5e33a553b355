// `:name` and `:name.field` are ours, not PostgreSQL's: they become `$1`, `$2`, ... before the text is parsed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oncecheck::sql {

// Text with its parameters rewritten. Every use of a parameter has a number of its own: names[n - 1] is the name of $n.
class RewrittenSql {
 public:
  // `before` and `after` are put around the text. Throws SqlError for a `$1` in `text`.
  RewrittenSql(std::string_view text, std::string_view before, std::string_view after);

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

  void copy(std::string_view original, std::size_t from, std::size_t to);
  void add_param(std::string_view original, std::size_t colon, std::string name);

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Piece> pieces_;
  std::size_t original_size_ = 0;
  int begin_ = 0;
  int end_ = 0;
};

}  // namespace oncecheck::sql

#include "model/program/mysql_editor.hpp"

#include <algorithm>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_refusals.hpp"

namespace oncecheck::sql {

MysqlEditor::MysqlEditor(std::string_view text) : TokenText(text, Quoting::MySql) {
  // Between tokens there are only blanks and comments; one that begins with # is written with -- for PostgreSQL.
  std::size_t at = 0;
  for (std::size_t i = 0; i <= tokens_.size(); ++i) {
    const std::size_t end = i < tokens_.size() ? tokens_[i].begin : text.size();
    for (; at < end; ++at) {
      if (text[at] == '#') edits_.push_back({at, at + 1, "--"});
    }
    if (i < tokens_.size()) at = tokens_[i].end;
  }
}

void MysqlEditor::replace(std::size_t first, std::size_t last, std::string by) {
  edits_.push_back({tokens_[first].begin, tokens_[last].end, std::move(by)});
}

void MysqlEditor::insert_before(std::size_t i, std::string text) {
  const std::size_t at = i < tokens_.size() ? tokens_[i].begin : tokens_.empty() ? text_.size() : tokens_.back().end;
  edits_.push_back({at, at, std::move(text)});
}

void MysqlEditor::move_to_front(std::string before, std::size_t first, std::size_t last, std::string after) {
  moved_ = TextPiece{tokens_[first].begin, tokens_[last].end, std::move(before)};
  moved_after_ = std::move(after);
}

void MysqlEditor::refuse(std::size_t i, std::string_view construct, std::string_view advice) const {
  const std::size_t at = i < tokens_.size() ? tokens_[i].begin : text_.size();
  throw SqlError(refusal_text(construct, advice), static_cast<int>(at));
}

std::vector<TextPiece> MysqlEditor::pieces() const {
  std::vector<TextPiece> out;
  if (moved_) {
    out.push_back({moved_->from, moved_->from, moved_->instead});
    add_range(out, moved_->from, moved_->to);
    out.push_back({moved_->to, moved_->to, moved_after_});
    add_range(out, 0, moved_->from);
    add_range(out, moved_->to, text_.size());
  } else {
    add_range(out, 0, text_.size());
  }
  return out;
}

void MysqlEditor::add_range(std::vector<TextPiece>& out, std::size_t from, std::size_t to) const {
  std::vector<TextPiece> edits = edits_;
  std::stable_sort(edits.begin(), edits.end(), [](const TextPiece& a, const TextPiece& b) { return a.from < b.from; });
  std::size_t at = from;
  for (const TextPiece& edit : edits) {
    // What is inserted at the end belongs to the range; only the last range reaches to the end of the text.
    const bool inside = edit.from >= at && edit.to <= to && (edit.from < to || to == text_.size());
    if (!inside) continue;
    out.push_back({at, edit.from, std::nullopt});
    out.push_back(edit);
    at = edit.to;
  }
  out.push_back({at, to, std::nullopt});
}

}  // namespace oncecheck::sql

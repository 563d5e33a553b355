#include "model/program/sql_token_text.hpp"

namespace oncecheck::sql {

std::string_view TokenText::text(std::size_t i) const {
  return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
}

bool TokenText::word(std::size_t i, std::string_view lower) const {
  return i < tokens_.size() && tokens_[i].kind == TokenKind::Word && same_word(text(i), lower);
}

bool TokenText::words(std::size_t i, std::initializer_list<std::string_view> lower) const {
  for (std::string_view w : lower) {
    if (!word(i++, w)) return false;
  }
  return true;
}

bool TokenText::symbol(std::size_t i, char c) const {
  return i < tokens_.size() && tokens_[i].kind == TokenKind::Symbol && text(i) == std::string_view(&c, 1);
}

bool TokenText::name(std::size_t i) const {
  return i < tokens_.size() && (tokens_[i].kind == TokenKind::Word || tokens_[i].kind == TokenKind::QuotedName);
}

std::size_t TokenText::close(std::size_t i) const {
  int open = 0;
  for (; i < tokens_.size(); ++i) {
    if (symbol(i, '(')) ++open;
    if (symbol(i, ')') && --open == 0) return i;
  }
  return tokens_.size();
}

std::size_t TokenText::find(std::size_t i, std::initializer_list<std::string_view> lower) const {
  for (; i < tokens_.size(); ++i) {
    if (symbol(i, '(')) {
      i = close(i);
    } else if (words(i, lower)) {
      return i;
    }
  }
  return tokens_.size();
}

std::size_t TokenText::end() const {
  std::size_t n = tokens_.size();
  while (n > 0 && symbol(n - 1, ';')) --n;
  return n;
}

}  // namespace oncecheck::sql

// The words of a Redis command as a step writes it.
#pragma once

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oncecheck {

struct RedisWordText {
  std::string text;      // without quotes
  std::size_t from = 0;  // bytes [from, to) of the command
  std::size_t to = 0;
};

// Words at blanks; '...' and "..." keep theirs. nullopt: a quote is not closed.
inline std::optional<std::vector<RedisWordText>> split_redis_words(std::string_view s) {
  std::vector<RedisWordText> words;
  std::size_t i = 0;
  while (i < s.size()) {
    if (std::isspace(static_cast<unsigned char>(s[i]))) {
      ++i;
      continue;
    }
    RedisWordText word;
    word.from = i;
    while (i < s.size() && !std::isspace(static_cast<unsigned char>(s[i]))) {
      const char quote = s[i];
      if (quote != '\'' && quote != '"') {
        word.text += s[i++];
        continue;
      }
      const std::size_t end = s.find(quote, i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      word.text += s.substr(i + 1, end - i - 1);
      i = end + 1;
    }
    word.to = i;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace oncecheck

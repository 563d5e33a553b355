// SQL text to tokens: only as much lexing as is needed to know what is code and what is a literal, a quoted name or a
// comment. libpg_query does the real lexing; this finds `:name` before it, and words for the places of error messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace oncecheck::sql {

enum class TokenKind {
  Word,        // an unquoted name or keyword
  QuotedName,  // "a b"; MySQL: `a b`
  String,      // 'a', E'a', $$a$$; a prefix such as B or U& is a Word of its own
  Number,
  Dollar,  // $1
  Symbol,  // one character of anything else, but "::" and ":=" are one token
};

struct Token {
  TokenKind kind = TokenKind::Symbol;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What quotes mean. MySQL: `a b` is a name, "a" and 'a' are strings with backslash escapes, # begins a comment.
enum class Quoting { Postgres, MySql };

// Comments and white space are left out. What is not closed reaches to the end of the text: the parser will complain.
std::vector<Token> tokenize(std::string_view text, Quoting quoting = Quoting::Postgres);

// The first place at or after `at` that is neither white space nor a comment.
std::size_t skip_blanks(std::string_view text, std::size_t at);

// ASCII only, as PostgreSQL folds keywords.
std::string lower_case(std::string_view text);
// Case is ignored; `lower` is lower-case.
bool same_word(std::string_view text, std::string_view lower);

bool starts_name(char c);   // a letter, '_' or a byte of a longer character
bool is_name_char(char c);  // also digits and '$'

}  // namespace oncecheck::sql

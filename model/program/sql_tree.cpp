#include "model/program/sql_tree.hpp"

#include <pg_query.h>

#include <algorithm>
#include <charconv>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_refusals.hpp"
#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

namespace {

// The parser and the writer of the tree recurse: a token is at most one level, and about 200 bytes of stack.
constexpr std::size_t kMaxTokens = 20'000;
// Bytes of text, times the copies that the tree would hold of them.
constexpr std::size_t kMaxCopies = 256 * 1024;

class ParseResult {
 public:
  explicit ParseResult(const std::string& text) : result_(pg_query_parse(text.c_str())) {}
  ~ParseResult() { pg_query_free_parse_result(result_); }
  ParseResult(const ParseResult&) = delete;
  ParseResult& operator=(const ParseResult&) = delete;

  const PgQueryError* error() const { return result_.error; }
  const char* tree() const { return result_.parse_tree; }

 private:
  PgQueryParseResult result_;
};

// libpg_query counts characters from 1, and 0 means unknown.
int byte_offset(std::string_view text, int cursor) {
  if (cursor <= 0) return -1;
  int characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!continues && ++characters == cursor) return static_cast<int>(i);
  }
  return static_cast<int>(text.size());
}

// "$3" in a message to the name that the user wrote.
std::string with_names(std::string message, const RewrittenSql& sql) {
  const std::size_t quote = message.find("\"$");
  if (quote == std::string::npos) return message;
  const std::size_t close = message.find('"', quote + 1);
  std::size_t number = 0;
  const char* begin = message.data() + quote + 2;
  std::from_chars(begin, message.data() + std::min(close, message.size()), number);
  if (number == 0 || number > sql.names().size()) return message;
  return message.substr(0, quote) + "\":" + sql.names()[number - 1] + "\": a parameter can only stand for a value";
}

[[noreturn]] void throw_syntax_error(const PgQueryError& error, const RewrittenSql& sql,
                                     const std::vector<Token>& tokens) {
  int at = byte_offset(sql.text(), error.cursorpos);
  std::string message = error.message;
  if (message.find("memory exhausted") != std::string::npos || message.find("stack depth") != std::string::npos) {
    throw SqlError("this SQL is nested too deeply", sql.to_original(at));
  }
  if (const auto foreign = foreign_spelling(sql.text(), tokens); foreign && !sql.mysql()) {
    throw SqlError(foreign->message, sql.to_original(static_cast<int>(foreign->at)));
  }
  if (message.starts_with("LIMIT #,#")) message = "LIMIT a, b is MySQL's: PostgreSQL writes LIMIT b OFFSET a";
  // What we put behind the text is not the user's.
  const std::string behind = sql.text().substr(static_cast<std::size_t>(sql.end())) + '"';
  if (message.ends_with(behind)) message.replace(message.size() - behind.size(), behind.size(), "\"");
  if (at >= sql.end() && message.starts_with("syntax error")) message = "syntax error at end of input";
  throw SqlError(with_names(message, sql), sql.to_original(at));
}

bool is_symbol(std::string_view text, const Token& token, char c) {
  return token.kind == TokenKind::Symbol && text[token.begin] == c && token.end == token.begin + 1;
}

bool is_name_list_token(std::string_view text, const Token& token) {
  return token.kind == TokenKind::Word || token.kind == TokenKind::QuotedName || is_symbol(text, token, ',') ||
         is_symbol(text, token, '.');
}

// Behind SET or a comma, "(a, b, c) =" assigns a copy of the right side to each column. Nested copies multiply.
void refuse_copies(const RewrittenSql& sql, const std::vector<Token>& tokens) {
  const std::string& text = sql.text();
  std::size_t copies = 1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i == 0 || !is_symbol(text, tokens[i], '(')) continue;
    const std::string before = text.substr(tokens[i - 1].begin, tokens[i - 1].end - tokens[i - 1].begin);
    if (before != "," && !same_word(before, "set")) continue;
    std::size_t columns = 1, end = i + 1;
    for (; end < tokens.size() && is_name_list_token(text, tokens[end]); ++end) {
      if (is_symbol(text, tokens[end], ',')) ++columns;
    }
    const bool assigned =
        end + 1 < tokens.size() && is_symbol(text, tokens[end], ')') && is_symbol(text, tokens[end + 1], '=');
    if (!assigned || columns == 1) continue;
    copies *= columns;
    if (copies * text.size() > kMaxCopies) {
      throw SqlError("too many columns in (a, b, ...) = (...): write them one by one",
                     sql.to_original(static_cast<int>(tokens[i].begin)));
    }
  }
}

}  // namespace

std::vector<Json> parse_tree(const RewrittenSql& sql) {
  const std::vector<Token> tokens = tokenize(sql.text());
  if (tokens.size() > kMaxTokens) {
    throw SqlError("this SQL is too long: at most " + std::to_string(kMaxTokens) + " words and signs",
                   sql.to_original(static_cast<int>(tokens[kMaxTokens].begin)));
  }
  if (const auto foreign = foreign_quote(sql.text(), tokens)) {
    throw SqlError(foreign->message, sql.to_original(static_cast<int>(foreign->at)));
  }
  refuse_copies(sql, tokens);
  const ParseResult result(sql.text());
  if (result.error() != nullptr) throw_syntax_error(*result.error(), sql, tokens);
  Json tree = Json::parse(result.tree(), nullptr, false);
  if (tree.is_discarded() || !tree.is_object()) throw SqlError("the SQL parser gave no usable tree for this", 0);
  std::vector<Json> statements;
  for (Json& statement : tree["stmts"]) statements.push_back(std::move(statement));
  return statements;
}

std::int64_t integer_at(const RewrittenSql& sql, int location) {
  const std::string& text = sql.text();
  // "- (5)" is one constant, which begins at its sign.
  auto at = static_cast<std::size_t>(std::max(location, 0));
  while (at < text.size() && (text[at] < '0' || text[at] > '9')) at = skip_blanks(text, at + 1);
  std::int64_t value = 0;
  std::from_chars(text.data() + std::min(at, text.size()), text.data() + text.size(), value);
  return -value;
}

}  // namespace oncecheck::sql

#include "model/program/sql_split.hpp"

#include <pg_query.h>

#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

namespace {

std::vector<std::string> split_mysql(std::string_view text) {
  std::vector<std::string> statements;
  std::size_t from = 0, last = 0;
  bool empty = true;
  for (const Token& token : tokenize(text, Quoting::MySql)) {
    if (token.kind != TokenKind::Symbol || text[token.begin] != ';') {
      empty = false;
      last = token.end;
      continue;
    }
    if (!empty) statements.emplace_back(text.substr(from, last - from));
    from = token.end;
    empty = true;
  }
  if (!empty) statements.emplace_back(text.substr(from, last - from));
  return statements;
}

}  // namespace

std::vector<std::string> split_statements(std::string_view text, Dialect dialect) {
  if (dialect != Dialect::Postgres) return split_mysql(text);
  const std::string copy(text);
  PgQuerySplitResult result = pg_query_split_with_scanner(copy.c_str());
  std::vector<std::string> statements;
  std::string error;
  int location = -1;
  if (result.error != nullptr) {
    error = result.error->message;
    location = -1;  // cursorpos counts characters, not bytes: the whole text is named instead
  } else {
    for (int i = 0; i < result.n_stmts; ++i) {
      statements.push_back(copy.substr(static_cast<std::size_t>(result.stmts[i]->stmt_location),
                                       static_cast<std::size_t>(result.stmts[i]->stmt_len)));
    }
  }
  pg_query_free_split_result(result);
  if (!error.empty()) throw SqlError(error, location);
  return statements;
}

}  // namespace oncecheck::sql

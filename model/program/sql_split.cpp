#include "model/program/sql_split.hpp"

#include <pg_query.h>

#include "model/program/sql_parser.hpp"

namespace oncecheck::sql {

std::vector<std::string> split_statements(std::string_view text) {
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

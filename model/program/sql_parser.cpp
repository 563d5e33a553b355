#include "model/program/sql_parser.hpp"

#include <algorithm>

#include "model/program/sql_params.hpp"
#include "model/program/sql_reader.hpp"
#include "model/program/sql_refusals.hpp"
#include "model/program/sql_schema_reader.hpp"
#include "model/program/sql_session_reader.hpp"
#include "model/program/sql_tokens.hpp"
#include "model/program/sql_tree.hpp"
#include "model/program/text_file.hpp"

namespace oncecheck::sql {

namespace {

constexpr std::size_t kMaxText = 64 * 1024;
constexpr std::string_view kOneExpression = "one expression belongs here, e.g. a condition :claim.count = 0";

void check_text(std::string_view text) {
  if (text.size() > kMaxText) throw SqlError("this SQL is longer than 64 KiB", static_cast<int>(kMaxText));
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw SqlError("SQL cannot hold a NUL character", static_cast<int>(nul));
  }
  if (const auto invalid = first_invalid_utf8(text))
    throw SqlError("this is not UTF-8 text", static_cast<int>(*invalid));
}

// The tree is trusted to have the fields of its grammar. If it once has not, that is an error and not a crash.
template <typename Read>
auto guarded(const Read& read) {
  try {
    return read();
  } catch (const Json::exception&) {
    throw SqlError("this SQL has a part that is outside the SQL subset", 0);
  }
}

int begin_of(const RewrittenSql& sql, const Json& raw) {
  const Json* at = ReadContext::find(raw, "stmt_location");
  const std::size_t from = at != nullptr && at->is_number_integer() ? at->get<std::size_t>() : 0;
  return static_cast<int>(skip_blanks(sql.text(), from));
}

// DROP and some CREATE statements tell their object apart.
std::string statement_name(const NodeView& view) {
  const bool drop = view.type == "DropStmt";
  const std::string object = ReadContext::text(view.body, drop ? "removeType" : "kind");
  if ((!drop && view.type != "DefineStmt") || !object.starts_with("OBJECT_")) return construct_name(view.type);
  std::string name = (drop ? "DROP " : "CREATE ") + object.substr(7);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

Statement read_statement(const RewrittenSql& sql, const Json& node, int location) {
  Reader reader(sql);
  const NodeView view = reader.view(node);
  Statement statement;
  statement.location = sql.to_original(location);
  if (view.type == "TransactionStmt") return read_transaction(reader, view.body, location);
  if (view.type == "VariableSetStmt") return read_set(reader, view.body, location);
  if (view.type == "CreateStmt") {
    statement.kind = StatementKind::CreateTable;
    statement.create_table = read_create_table(reader, view.body);
  } else if (view.type == "IndexStmt") {
    statement.kind = StatementKind::CreateIndex;
    statement.create_index = read_create_index(reader, view.body);
  } else if (view.type == "CreateSeqStmt") {
    statement.kind = StatementKind::CreateSequence;
    statement.name = read_create_sequence(reader, view.body);
  } else if (view.type == "SelectStmt" || view.type == "InsertStmt" || view.type == "UpdateStmt" ||
             view.type == "DeleteStmt") {
    statement = reader.read_query_statement(node, location);
  } else {
    throw SqlError(refusal_text(statement_name(view)), statement.location);
  }
  return statement;
}

// A ")" that closes nothing would end the parentheses that we put around an expression. Returns whether the text has
// parentheses of its own around all of it.
bool check_parentheses(std::string_view text) {
  int open = 0;
  bool around = true;
  for (const Token& token : tokenize(text)) {
    if (token.kind == TokenKind::Symbol && text[token.begin] == '(') ++open;
    around = around && open > 0;
    if (token.kind != TokenKind::Symbol) continue;
    if (text[token.begin] == ')' && --open < 0) {
      throw SqlError("syntax error at or near \")\": it closes nothing", static_cast<int>(token.begin));
    }
    if (text[token.begin] == ';') throw SqlError(std::string(kOneExpression), static_cast<int>(token.begin));
  }
  return around;
}

Expr read_wrapped(const RewrittenSql& sql, const Json& node, bool in_parentheses) {
  Reader reader(sql);
  const NodeView select = reader.view(node);
  if (select.type != "SelectStmt") throw SqlError(std::string(kOneExpression), 0);
  reader.check_fields("SelectStmt", select.body, {"targetList"});
  const Json& targets = Reader::list(select.body, "targetList");
  if (targets.size() != 1) throw SqlError(std::string(kOneExpression), 0);
  const NodeView target = reader.view(targets.front());
  reader.check_fields("ResTarget", target.body, {"val"});
  const NodeView value = reader.view(target.body.at("val"));
  // (a, b) and (SELECT ...) made of our own parentheses. PostgreSQL drops all but the outer ones around SELECT.
  const bool ours = Reader::location_of(value.body) == sql.begin() - 1;
  if (ours && (value.type == "RowExpr" || (value.type == "SubLink" && !in_parentheses))) {
    throw SqlError(std::string(kOneExpression), 0);
  }
  return reader.read_expr(target.body.at("val"));
}

}  // namespace

Statement parse_statement(std::string_view text, Dialect dialect) {
  check_text(text);
  const RewrittenSql sql(text, "", "", dialect);
  return guarded([&] {
    const std::vector<Json> statements = parse_tree(sql);
    if (statements.empty()) throw SqlError("there is no SQL statement here", 0);
    if (statements.size() > 1) {
      throw SqlError("only one SQL statement belongs here", sql.to_original(begin_of(sql, statements[1])));
    }
    Statement statement = read_statement(sql, statements[0].at("stmt"), begin_of(sql, statements[0]));
    statement.refused = sql.refused();
    statement.no_result = sql.no_result();
    return statement;
  });
}

Expr parse_expression(std::string_view text) {
  check_text(text);
  if (skip_blanks(text, 0) == text.size()) throw SqlError("there is no SQL expression here", 0);
  const bool in_parentheses = check_parentheses(text);
  // A comment at the end must not swallow the parenthesis.
  const RewrittenSql sql(text, "SELECT (", "\n)");
  return guarded([&] {
    const std::vector<Json> statements = parse_tree(sql);
    if (statements.size() != 1) throw SqlError(std::string(kOneExpression), 0);
    return read_wrapped(sql, statements[0].at("stmt"), in_parentheses);
  });
}

}  // namespace oncecheck::sql

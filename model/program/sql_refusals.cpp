#include "model/program/sql_refusals.hpp"

#include <algorithm>
#include <array>

namespace oncecheck::sql {

namespace {

constexpr FieldRefusal kFields[] = {
    {"SelectStmt", "intoClause", "SELECT INTO", "", ""},
    {"SelectStmt", "windowClause", "WINDOW", "window", ""},
    {"SelectStmt", "groupDistinct", "GROUP BY DISTINCT", "group", ""},
    {"InsertStmt", "override", "OVERRIDING ... VALUE", "overriding", ""},
    {"ResTarget", "indirection", "an array element or field of a column", "", "set whole columns"},
    {"RangeVar", "catalogname", "a table name of three parts", "", "write table or database.table"},
    {"RangeSubselect", "lateral", "LATERAL", "lateral", "", true},
    {"JoinExpr", "isNatural", "NATURAL JOIN", "natural", "name the columns with ON or USING"},
    {"JoinExpr", "join_using_alias", "an alias of JOIN ... USING", "", ""},
    {"JoinExpr", "alias", "an alias of a join in parentheses", "", ""},
    {"Alias", "colnames", "a list of column names behind a table's alias", "", "rename the columns with AS"},
    {"WithClause", "recursive", "WITH RECURSIVE", "recursive", "", true},
    {"CommonTableExpr", "search_clause", "SEARCH", "", ""},
    {"CommonTableExpr", "cycle_clause", "CYCLE", "", ""},
    {"FuncCall", "agg_order", "ORDER BY inside a function call", "order", ""},
    {"FuncCall", "agg_filter", "FILTER (WHERE ...)", "filter", "use CASE inside the aggregate"},
    {"FuncCall", "agg_within_group", "WITHIN GROUP", "within", ""},
    {"FuncCall", "func_variadic", "VARIADIC", "variadic", ""},
    {"TypeName", "setof", "SETOF", "setof", ""},
    {"TypeName", "pct_type", "%TYPE", "type", ""},
    {"SortBy", "useOp", "ORDER BY ... USING", "using", "use ASC or DESC"},
    {"CreateStmt", "inhRelations", "INHERITS or PARTITION OF", "", ""},
    {"CreateStmt", "partbound", "PARTITION OF", "partition", ""},
    {"CreateStmt", "partspec", "PARTITION BY", "partition", ""},
    {"CreateStmt", "ofTypename", "CREATE TABLE ... OF type", "", ""},
    {"CreateStmt", "options", "WITH (...) of a table", "", "leave it out"},
    {"CreateStmt", "tablespacename", "TABLESPACE", "tablespace", "leave it out"},
    {"CreateStmt", "accessMethod", "USING method of a table", "using", "leave it out"},
    {"ColumnDef", "collClause", "COLLATE", "", ""},
    {"ColumnDef", "compression", "COMPRESSION", "compression", "leave it out"},
    {"ColumnDef", "storage", "STORAGE", "storage", "leave it out"},
    {"ColumnDef", "fdwoptions", "OPTIONS of a column", "options", ""},
    {"Constraint", "deferrable", "a DEFERRABLE constraint", "deferrable", ""},
    {"Constraint", "initdeferred", "an INITIALLY DEFERRED constraint", "initially", ""},
    {"Constraint", "is_no_inherit", "NO INHERIT", "inherit", ""},
    {"Constraint", "nulls_not_distinct", "NULLS NOT DISTINCT", "nulls", ""},
    {"Constraint", "including", "INCLUDE", "include", "leave it out"},
    {"Constraint", "options", "an option of a constraint", "", "leave it out"},
    {"Constraint", "indexname", "USING INDEX", "using", ""},
    {"Constraint", "indexspace", "USING INDEX TABLESPACE", "tablespace", "leave it out"},
    {"Constraint", "fk_del_set_cols", "ON DELETE SET (columns)", "set", ""},
    {"Constraint", "skip_validation", "NOT VALID", "valid", ""},
    {"IndexStmt", "tableSpace", "TABLESPACE", "tablespace", "leave it out"},
    {"IndexStmt", "indexIncludingParams", "INCLUDE", "include", "leave it out"},
    {"IndexStmt", "options", "WITH (...) of an index", "", "leave it out"},
    {"IndexStmt", "nulls_not_distinct", "NULLS NOT DISTINCT", "nulls", ""},
    {"IndexStmt", "concurrent", "CONCURRENTLY", "concurrently", "leave it out", true},
    {"IndexStmt", "if_not_exists", "CREATE INDEX IF NOT EXISTS", "if", "leave IF NOT EXISTS out", true},
    {"IndexElem", "expr", "an index on an expression", "", "index plain columns"},
    {"IndexElem", "collation", "COLLATE", "collate", ""},
    {"IndexElem", "opclass", "an operator class", "", "leave it out"},
    {"IndexElem", "opclassopts", "an operator class", "", "leave it out"},
    {"IndexElem", "ordering", "DESC in an index", "desc", "leave it out, the model has no use for an index's order"},
    {"IndexElem", "nulls_ordering", "NULLS FIRST/LAST in an index", "nulls", "leave it out"},
    {"CreateStmt", "oncommit", "ON COMMIT", "commit", ""},
    {"CreateSeqStmt", "options", "an option of a sequence", "", "leave it out"},
    {"CreateSeqStmt", "if_not_exists", "CREATE SEQUENCE IF NOT EXISTS", "if", "leave IF NOT EXISTS out", true},
    {"TransactionStmt", "chain", "AND CHAIN", "chain", ""},
};

struct NamedConstruct {
  std::string_view node;
  std::string_view name;
};

constexpr NamedConstruct kConstructs[] = {
    {"A_ArrayExpr", "ARRAY[...]"},
    {"A_Indirection", "an array subscript or a field of a composite value"},
    {"CollateClause", "COLLATE"},
    {"CurrentOfExpr", "WHERE CURRENT OF"},
    {"GroupingFunc", "GROUPING()"},
    {"GroupingSet", "GROUPING SETS, ROLLUP, CUBE or ()"},
    {"MultiAssignRef", "SET (a, b) = ... here"},
    {"NamedArgExpr", "an argument by name"},
    {"RangeFunction", "a function in FROM"},
    {"RangeTableFunc", "XMLTABLE"},
    {"RangeTableSample", "TABLESAMPLE"},
    {"TableLikeClause", "LIKE in CREATE TABLE"},
    {"XmlExpr", "an XML expression"},
    {"XmlSerialize", "XMLSERIALIZE"},
    {"AlterEnumStmt", "ALTER TYPE"},
    {"AlterObjectSchemaStmt", "ALTER ... SET SCHEMA"},
    {"AlterOwnerStmt", "ALTER ... OWNER"},
    {"AlterSeqStmt", "ALTER SEQUENCE"},
    {"CallStmt", "CALL"},
    {"CheckPointStmt", "CHECKPOINT"},
    {"ClosePortalStmt", "CLOSE"},
    {"CompositeTypeStmt", "CREATE TYPE"},
    {"ConstraintsSetStmt", "SET CONSTRAINTS"},
    {"CopyStmt", "COPY"},
    {"CreateEnumStmt", "CREATE TYPE"},
    {"CreateExtensionStmt", "CREATE EXTENSION"},
    {"CreateRangeStmt", "CREATE TYPE"},
    {"CreateTableAsStmt", "CREATE TABLE AS"},
    {"CreateTrigStmt", "CREATE TRIGGER"},
    {"CreatedbStmt", "CREATE DATABASE"},
    {"DeallocateStmt", "DEALLOCATE"},
    {"DeclareCursorStmt", "DECLARE CURSOR"},
    {"DefineStmt", "CREATE of an aggregate, operator or type"},
    {"DiscardStmt", "DISCARD"},
    {"DoStmt", "DO"},
    {"DropRoleStmt", "DROP ROLE"},
    {"DropStmt", "DROP"},
    {"DropdbStmt", "DROP DATABASE"},
    {"ExecuteStmt", "EXECUTE"},
    {"ExplainStmt", "EXPLAIN"},
    {"FetchStmt", "FETCH"},
    {"GrantRoleStmt", "GRANT or REVOKE"},
    {"GrantStmt", "GRANT or REVOKE"},
    {"LoadStmt", "LOAD"},
    {"LockStmt", "LOCK TABLE"},
    {"MergeStmt", "MERGE"},
    {"PLAssignStmt", "an assignment"},
    {"PrepareStmt", "PREPARE"},
    {"RefreshMatViewStmt", "REFRESH MATERIALIZED VIEW"},
    {"RenameStmt", "ALTER ... RENAME"},
    {"RuleStmt", "CREATE RULE"},
    {"SecLabelStmt", "SECURITY LABEL"},
    {"VacuumStmt", "VACUUM or ANALYZE"},
    {"VariableShowStmt", "SHOW"},
    {"ViewStmt", "CREATE VIEW"},
};

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Spellings of MySQL, as the lower-case words that begin them.
struct Spelling {
  std::array<std::string_view, 4> words;
  std::string_view name;
  std::string_view advice;
};

constexpr Spelling kMysql[] = {
    {{"insert", "ignore"}, "INSERT IGNORE", "ON CONFLICT DO NOTHING"},
    {{"on", "duplicate", "key"}, "ON DUPLICATE KEY UPDATE", "ON CONFLICT (...) DO UPDATE SET ..."},
    {{"replace", "into"}, "REPLACE INTO", "INSERT ... ON CONFLICT (...) DO UPDATE SET ..."},
    {{"lock", "in", "share", "mode"}, "LOCK IN SHARE MODE", "FOR SHARE"},
    {{"with", "consistent", "snapshot"},
     "WITH CONSISTENT SNAPSHOT",
     "START TRANSACTION ISOLATION LEVEL REPEATABLE READ"},
};

bool begins_with(std::string_view text, const std::vector<Token>& tokens, std::size_t at, const Spelling& spelling) {
  for (std::string_view word : spelling.words) {
    if (word.empty()) return true;
    if (at >= tokens.size() || tokens[at].kind != TokenKind::Word) return false;
    if (!same_word(text.substr(tokens[at].begin, tokens[at].end - tokens[at].begin), word)) return false;
    ++at;
  }
  return true;
}

bool is_interval_of_number(std::string_view text, const std::vector<Token>& tokens, std::size_t at) {
  const Token& token = tokens[at];
  return token.kind == TokenKind::Word && same_word(text.substr(token.begin, token.end - token.begin), "interval") &&
         at + 1 < tokens.size() && tokens[at + 1].kind == TokenKind::Number;
}

}  // namespace

const FieldRefusal* find_field_refusal(std::string_view node, std::string_view field) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields),
                                  [&](const FieldRefusal& f) { return f.node == node && f.field == field; });
  return found == std::end(kFields) ? nullptr : found;
}

std::string construct_name(std::string_view node) {
  const auto found = std::find_if(std::begin(kConstructs), std::end(kConstructs),
                                  [&](const NamedConstruct& c) { return c.node == node; });
  if (found != std::end(kConstructs)) return std::string(found->name);
  if (node.ends_with("Stmt")) node.remove_suffix(4);
  std::string words;
  for (char c : node) {
    if (is_upper(c) && !words.empty() && words.back() != ' ') words += ' ';
    if (c == '_') continue;
    words += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return words;
}

std::string refusal_text(std::string_view construct, std::string_view advice) {
  std::string text = std::string(construct) + " is outside the SQL subset";
  if (!advice.empty()) text += ": " + std::string(advice);
  return text;
}

std::optional<ForeignSpelling> foreign_quote(std::string_view text, const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::Symbol || text[token.begin] != '`') continue;
    return ForeignSpelling{"the backtick is MySQL's: quote names with \"\" or not at all", token.begin};
  }
  return std::nullopt;
}

std::optional<ForeignSpelling> foreign_spelling(std::string_view text, const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (const Spelling& spelling : kMysql) {
      if (!begins_with(text, tokens, i, spelling)) continue;
      return ForeignSpelling{std::string(spelling.name) + " is MySQL's: PostgreSQL writes " +
                                 std::string(spelling.advice),
                             tokens[i].begin};
    }
    if (is_interval_of_number(text, tokens, i)) {
      return ForeignSpelling{"an interval is written interval '1 day', with quotes", tokens[i].begin};
    }
  }
  return std::nullopt;
}

}  // namespace oncecheck::sql

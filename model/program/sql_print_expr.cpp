// Printing expressions and names.
#include <algorithm>

#include "model/program/sql_print.hpp"
#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

namespace {

// Words that PostgreSQL does not take for any name, or not for every kind of name.
constexpr std::string_view kReserved[] = {"all",
                                          "analyse",
                                          "analyze",
                                          "and",
                                          "any",
                                          "array",
                                          "as",
                                          "asc",
                                          "asymmetric",
                                          "authorization",
                                          "between",
                                          "bigint",
                                          "binary",
                                          "bit",
                                          "boolean",
                                          "both",
                                          "case",
                                          "cast",
                                          "char",
                                          "character",
                                          "check",
                                          "coalesce",
                                          "collate",
                                          "collation",
                                          "column",
                                          "concurrently",
                                          "constraint",
                                          "create",
                                          "cross",
                                          "current_catalog",
                                          "current_date",
                                          "current_role",
                                          "current_schema",
                                          "current_time",
                                          "current_timestamp",
                                          "current_user",
                                          "dec",
                                          "decimal",
                                          "default",
                                          "deferrable",
                                          "desc",
                                          "distinct",
                                          "do",
                                          "else",
                                          "end",
                                          "except",
                                          "exists",
                                          "extract",
                                          "false",
                                          "fetch",
                                          "float",
                                          "for",
                                          "foreign",
                                          "freeze",
                                          "from",
                                          "full",
                                          "grant",
                                          "greatest",
                                          "group",
                                          "grouping",
                                          "having",
                                          "ilike",
                                          "in",
                                          "initially",
                                          "inner",
                                          "inout",
                                          "int",
                                          "integer",
                                          "intersect",
                                          "interval",
                                          "into",
                                          "is",
                                          "isnull",
                                          "join",
                                          "lateral",
                                          "leading",
                                          "least",
                                          "left",
                                          "like",
                                          "limit",
                                          "localtime",
                                          "localtimestamp",
                                          "national",
                                          "natural",
                                          "nchar",
                                          "none",
                                          "normalize",
                                          "not",
                                          "notnull",
                                          "null",
                                          "nullif",
                                          "numeric",
                                          "offset",
                                          "on",
                                          "only",
                                          "or",
                                          "order",
                                          "out",
                                          "outer",
                                          "overlaps",
                                          "overlay",
                                          "placing",
                                          "position",
                                          "precision",
                                          "primary",
                                          "real",
                                          "references",
                                          "returning",
                                          "right",
                                          "row",
                                          "select",
                                          "session_user",
                                          "setof",
                                          "similar",
                                          "smallint",
                                          "some",
                                          "substring",
                                          "symmetric",
                                          "table",
                                          "tablesample",
                                          "then",
                                          "time",
                                          "timestamp",
                                          "to",
                                          "trailing",
                                          "treat",
                                          "trim",
                                          "true",
                                          "union",
                                          "unique",
                                          "user",
                                          "using",
                                          "values",
                                          "varchar",
                                          "variadic",
                                          "verbose",
                                          "when",
                                          "where",
                                          "window",
                                          "with",
                                          "xmlattributes",
                                          "xmlconcat",
                                          "xmlelement",
                                          "xmlexists",
                                          "xmlforest",
                                          "xmlnamespaces",
                                          "xmlparse",
                                          "xmlpi",
                                          "xmlroot",
                                          "xmlserialize",
                                          "xmltable"};

static_assert(std::is_sorted(std::begin(kReserved), std::end(kReserved)));

// How tightly an expression binds, loosest first.
enum Precedence { kOr, kAnd, kNot, kIs, kCompare, kOther, kSum, kProduct, kSign, kAtom };

Precedence binary_precedence(const std::string& op) {
  if (op == "or") return kOr;
  if (op == "and") return kAnd;
  if (op == "is distinct from" || op == "is not distinct from") return kIs;
  if (op == "||") return kOther;
  if (op == "+" || op == "-") return kSum;
  if (op == "*" || op == "/" || op == "div" || op == "%") return kProduct;
  return kCompare;
}

Precedence precedence(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Binary: return binary_precedence(e.name);
    case ExprKind::Unary: return e.name == "not" ? kNot : kSign;
    case ExprKind::Int: return e.number < 0 ? kSign : kAtom;
    case ExprKind::IsNull:
    case ExprKind::IsNotNull:
    case ExprKind::IsTrue:
    case ExprKind::IsFalse:
    case ExprKind::IsNotTrue:
    case ExprKind::IsNotFalse: return kIs;
    // They bind tighter than a comparison, but nobody knows.
    case ExprKind::In:
    case ExprKind::InSelect:
    case ExprKind::Like: return kCompare;
    default: return kAtom;
  }
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

// In parentheses unless it binds at least as tightly as `needed`.
std::string operand(const Expr& e, int needed) {
  return precedence(e) >= needed ? to_string(e) : "(" + to_string(e) + ")";
}

std::string list_text(const std::vector<Expr>& all, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < all.size(); ++i) text += (i == from ? "" : ", ") + to_string(all[i]);
  return text;
}

std::string qualified(const std::string& qualifier, const std::string& last) {
  std::string text;
  std::size_t from = 0;
  while (!qualifier.empty() && from <= qualifier.size()) {
    const std::size_t dot = std::min(qualifier.find('.', from), qualifier.size());
    text += name_text(qualifier.substr(from, dot - from)) + ".";
    from = dot + 1;
  }
  return text + last;
}

std::string binary_text(const Expr& e) {
  const int level = binary_precedence(e.name);
  // Comparisons do not chain; AND, OR and arithmetic do, to the left.
  const bool chains = level != kIs && level != kCompare;
  return operand(e.args[0], chains ? level : level + 1) + " " + upper_case(e.name) + " " +
         operand(e.args[1], level + 1);
}

std::string function_text(const Expr& e) {
  const bool keyword = e.name == "coalesce" || e.name == "greatest" || e.name == "least" || e.name == "nullif";
  const std::string arguments = e.star ? "*" : (e.distinct ? "DISTINCT " : "") + list_text(e.args);
  return (keyword ? e.name : name_text(e.name)) + "(" + arguments + ")";
}

std::string case_text(const Expr& e) {
  std::string text = "CASE";
  for (std::size_t i = 0; i + 1 < e.args.size(); i += 2) {
    text += " WHEN " + to_string(e.args[i]) + " THEN " + to_string(e.args[i + 1]);
  }
  if (e.has_else && !e.args.empty()) text += " ELSE " + to_string(e.args.back());
  return text + " END";
}

std::string test_text(const Expr& e, const char* test) { return operand(e.args[0], kIs + 1) + " IS " + test; }

std::string select_text(const Expr& e) { return e.select == nullptr ? "" : to_string(*e.select); }

}  // namespace

std::string name_text(const std::string& name) {
  const bool plain = !name.empty() && name[0] != '$' && !(name[0] >= '0' && name[0] <= '9') &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
                     });
  if (plain && !std::binary_search(std::begin(kReserved), std::end(kReserved), std::string_view(name))) return name;
  std::string text = "\"";
  for (char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string literal_text(const std::string& written) {
  std::string text = "'";
  for (char c : written) text += c == '\'' ? std::string("''") : std::string(1, c);
  return text + "'";
}

std::string to_string(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Null: return "NULL";
    case ExprKind::Bool: return e.number != 0 ? "TRUE" : "FALSE";
    case ExprKind::Int: return std::to_string(e.number);
    case ExprKind::Text: return literal_text(e.text);
    case ExprKind::Interval: return "INTERVAL " + literal_text(e.text);
    case ExprKind::Column: return qualified(e.qualifier, name_text(e.name));
    case ExprKind::Param: return ":" + e.name;
    case ExprKind::Star: return qualified(e.qualifier, "*");
    case ExprKind::Default: return "DEFAULT";
    case ExprKind::Unary:
      return e.name == "not" ? "NOT " + operand(e.args[0], kNot + 1) : e.name + operand(e.args[0], kAtom);
    case ExprKind::Binary: return binary_text(e);
    case ExprKind::IsNull: return test_text(e, "NULL");
    case ExprKind::IsNotNull: return test_text(e, "NOT NULL");
    case ExprKind::IsTrue: return test_text(e, "TRUE");
    case ExprKind::IsFalse: return test_text(e, "FALSE");
    case ExprKind::IsNotTrue: return test_text(e, "NOT TRUE");
    case ExprKind::IsNotFalse: return test_text(e, "NOT FALSE");
    case ExprKind::In: return operand(e.args[0], kCompare + 1) + " IN (" + list_text(e.args, 1) + ")";
    case ExprKind::InSelect: return operand(e.args[0], kCompare + 1) + " IN (" + select_text(e) + ")";
    case ExprKind::Exists: return "EXISTS (" + select_text(e) + ")";
    case ExprKind::Scalar: return "(" + select_text(e) + ")";
    case ExprKind::Like: return operand(e.args[0], kCompare + 1) + " LIKE " + operand(e.args[1], kCompare + 1);
    case ExprKind::Function: return function_text(e);
    case ExprKind::Case: return case_text(e);
    case ExprKind::Cast: return "CAST(" + to_string(e.args[0]) + " AS " + e.name + ")";
    case ExprKind::Row: return "ROW(" + list_text(e.args) + ")";
  }
  return "";
}

}  // namespace oncecheck::sql

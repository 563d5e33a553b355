// Reader: operators, IN, LIKE, BETWEEN and subselects in expressions.
#include <algorithm>

#include "model/program/mysql_rewrite.hpp"
#include "model/program/sql_reader.hpp"
#include "model/program/sql_types.hpp"

namespace oncecheck::sql {

namespace {

constexpr std::string_view kOperators[] = {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||"};
constexpr std::string_view kJsonOperators[] = {"->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "#-", "@?", "@@"};
constexpr std::string_view kPatternOperators[] = {"~", "~*", "!~", "!~*", "~~", "!~~", "~~*", "!~~*"};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Expr Reader::repeat(const Expr& e, std::size_t nodes, int location) {
  count_nodes(nodes, location);
  return e;
}

std::string Reader::operator_name(const Json& body, int location) const {
  const std::vector<std::string> parts = names(body, "name");
  if (parts.size() != 1) refuse("OPERATOR(...)", location, "write the operator itself");
  return parts[0];
}

Expr Reader::read_operator(const Json& body) {
  check_fields("A_Expr", body, {"kind", "name", "lexpr", "rexpr"});
  const std::string kind = text(body, "kind");
  const int location = location_of(body);
  if (kind == "AEXPR_OP") return read_plain_operator(body, location);
  if (kind == "AEXPR_IN") return read_in(body, location);
  if (kind == "AEXPR_OP_ANY") return read_any_array(body, "=", location);
  if (kind == "AEXPR_OP_ALL") return read_any_array(body, "<>", location);
  if (kind == "AEXPR_LIKE") return read_like(body, location);
  if (kind == "AEXPR_BETWEEN") return read_between(body, false, location);
  if (kind == "AEXPR_NOT_BETWEEN") return read_between(body, true, location);
  if (kind == "AEXPR_ILIKE") refuse("ILIKE", location, "use LIKE");
  if (kind == "AEXPR_SIMILAR") refuse("SIMILAR TO", location, "use LIKE");
  if (kind == "AEXPR_BETWEEN_SYM" || kind == "AEXPR_NOT_BETWEEN_SYM") {
    refuse("BETWEEN SYMMETRIC", location, "use BETWEEN");
  }
  const bool nullif = kind == "AEXPR_NULLIF";
  if (!nullif && kind != "AEXPR_DISTINCT" && kind != "AEXPR_NOT_DISTINCT") refuse("this operator", location);
  Expr left = read_expr(body.at("lexpr")), right = read_expr(body.at("rexpr"));
  if (!nullif) {
    return make_binary(kind == "AEXPR_DISTINCT" ? "is distinct from" : "is not distinct from", std::move(left),
                       std::move(right), location);
  }
  Expr e = make(ExprKind::Function, location);
  e.name = "nullif";
  e.args.push_back(std::move(left));
  e.args.push_back(std::move(right));
  return e;
}

Expr Reader::read_plain_operator(const Json& body, int location) {
  const std::string op = operator_name(body, location);
  if (find(body, "lexpr") == nullptr) {
    if (op == "+") return read_expr(body.at("rexpr"));
    if (op != "-") refuse("the prefix operator " + op, location);
    Expr e = make(ExprKind::Unary, location);
    e.name = op;
    e.args.push_back(read_expr(body.at("rexpr")));
    return e;
  }
  if (contains(kJsonOperators, op)) {
    refuse("the JSON operator " + op, location, "give the part of the document a column of its own");
  }
  if (contains(kPatternOperators, op)) refuse("the pattern operator " + op, location, "use LIKE");
  if (!contains(kOperators, op)) refuse("the operator " + op, location);
  Expr left = read_expr(body.at("lexpr"));
  if (sql().mysql() && op == "*" && left.kind == ExprKind::Binary && left.name == "/" &&
      left.args[1].kind == ExprKind::Column && left.args[1].name == kDiv) {
    left.name = "div";
    left.args[1] = read_expr(body.at("rexpr"));
    return left;
  }
  return make_binary(op, std::move(left), read_expr(body.at("rexpr")), location);
}

Expr Reader::read_in(const Json& body, int location) {
  const bool negated = operator_name(body, location) == "<>";
  Expr e = make(ExprKind::In, location);
  e.args.push_back(read_expr(body.at("lexpr")));
  const NodeView values = view(body.at("rexpr"));
  if (values.type != "List") refuse("this form of IN", location);
  for (const Json& item : list(values.body, "items")) e.args.push_back(read_expr(item));
  return negated ? make_not(std::move(e), location) : e;
}

// x = ANY (ARRAY[a, b]) is x IN (a, b), and x <> ALL (ARRAY[a, b]) is x NOT IN (a, b).
Expr Reader::read_any_array(const Json& body, const char* wanted, int location) {
  const std::string op = operator_name(body, location);
  const bool any = std::string_view(wanted) == "=";
  const Json* array = &body.at("rexpr");
  std::string element_type;
  if (const NodeView cast = view(*array); cast.type == "TypeCast" && view(cast.body.at("arg")).type == "A_ArrayExpr") {
    // ARRAY[...]::text[] casts each element.
    check_fields("TypeCast", cast.body, {"arg", "typeName"});
    element_type = read_type(*this, cast.body.at("typeName"), TypeUse::ArrayCast);
    array = &cast.body.at("arg");
  }
  const NodeView elements = view(*array);
  if (op != wanted || elements.type != "A_ArrayExpr" || list(elements.body, "elements").empty()) {
    refuse(op + (any ? " ANY (array)" : " ALL (array)"), location,
           "only x = ANY (ARRAY[...]) and x <> ALL (ARRAY[...]) are supported");
  }
  check_fields("A_ArrayExpr", elements.body, {"elements"});
  Expr e = make(ExprKind::In, location);
  e.args.push_back(read_expr(body.at("lexpr")));
  for (const Json& item : list(elements.body, "elements")) {
    Expr value = read_expr(item);
    if (!element_type.empty()) {
      Expr cast = make(ExprKind::Cast, first_location(item));
      cast.name = element_type;
      cast.args.push_back(std::move(value));
      value = std::move(cast);
    }
    e.args.push_back(std::move(value));
  }
  return any ? e : make_not(std::move(e), location);
}

Expr Reader::read_like(const Json& body, int location) {
  const bool negated = operator_name(body, location) == "!~~";
  const NodeView pattern = view(body.at("rexpr"));
  if (pattern.type == "FuncCall") {
    const std::vector<std::string> parts = names(pattern.body, "funcname");
    // Also the location tells them apart: nobody writes pg_catalog.like_escape() where LIKE stands.
    if (!parts.empty() && parts.back() == "like_escape" && location_of(pattern.body) == location) {
      refuse("LIKE ... ESCAPE", location, "escape with a backslash");
    }
  }
  Expr e = make(ExprKind::Like, location);
  e.args.push_back(read_expr(body.at("lexpr")));
  e.args.push_back(read_expr(body.at("rexpr")));
  return negated ? make_not(std::move(e), location) : e;
}

// As PostgreSQL does it: x >= a AND x <= b, and x < a OR x > b for NOT BETWEEN.
Expr Reader::read_between(const Json& body, bool negated, int location) {
  const NodeView range = view(body.at("rexpr"));
  const Json& bounds = list(range.body, "items");
  if (range.type != "List" || bounds.size() != 2) refuse("this form of BETWEEN", location);
  const std::size_t before = nodes();
  Expr operand = read_expr(body.at("lexpr"));
  Expr again = repeat(operand, nodes() - before, location);
  Expr low = make_binary(negated ? "<" : ">=", std::move(operand), read_expr(bounds[0]), location);
  Expr high = make_binary(negated ? ">" : "<=", std::move(again), read_expr(bounds[1]), location);
  return make_binary(negated ? "or" : "and", std::move(low), std::move(high), location);
}

Expr Reader::read_sublink(const Json& body) {
  check_fields("SubLink", body, {"subLinkType", "testexpr", "operName", "subselect"});
  const int location = location_of(body);
  const std::string type = text(body, "subLinkType");
  const std::vector<std::string> op = names(body, "operName");
  if (type == "ARRAY_SUBLINK") refuse("ARRAY(SELECT ...)", location);
  const bool in = type == "ANY_SUBLINK" && (op.empty() || op == std::vector<std::string>{"="});
  const bool not_in = type == "ALL_SUBLINK" && op == std::vector<std::string>{"<>"};
  if (!in && !not_in && (type == "ANY_SUBLINK" || type == "ALL_SUBLINK")) {
    refuse((op.empty() ? "" : op.back()) + (type == "ANY_SUBLINK" ? " ANY (SELECT ...)" : " ALL (SELECT ...)"),
           location, "use IN, NOT IN or EXISTS");
  }
  const bool exists = type == "EXISTS_SUBLINK";
  if (!in && !not_in && !exists && type != "EXPR_SUBLINK") refuse("this form of a subselect", location);
  Expr e = make(exists ? ExprKind::Exists : in || not_in ? ExprKind::InSelect : ExprKind::Scalar, location);
  if (in || not_in) e.args.push_back(read_expr(body.at("testexpr")));
  const NodeView select = view(body.at("subselect"));
  if (select.type != "SelectStmt") refuse_node(body.at("subselect"));
  e.select = read_select(select.body, location);
  return not_in ? make_not(std::move(e), location) : e;
}

}  // namespace oncecheck::sql

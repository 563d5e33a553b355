// Reader: expressions other than operators.
#include <algorithm>
#include <charconv>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_reader.hpp"
#include "model/program/sql_refusals.hpp"
#include "model/program/sql_types.hpp"

namespace oncecheck::sql {

namespace {

constexpr std::size_t kMaxTerms = 200;

constexpr std::string_view kAggregates[] = {"count", "sum", "min", "max", "bool_and", "bool_or"};
constexpr std::string_view kWithoutArguments[] = {
    "now", "transaction_timestamp", "clock_timestamp", "statement_timestamp", "gen_random_uuid", "uuid_generate_v4"};
constexpr std::string_view kKeywords[] = {"coalesce", "greatest", "least", "nullif"};
constexpr std::string_view kVolatile[] = {"gen_random_uuid", "uuid_generate_v4", "nextval", "clock_timestamp",
                                          "random"};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_volatile(const Expr& e) {
  return (e.kind == ExprKind::Function && contains(kVolatile, e.name)) ||
         std::any_of(e.args.begin(), e.args.end(), is_volatile);
}

// Terms of one AND or OR become a left-deep tree, so they count for its depth.
int depth_of(const NodeView& node) {
  if (node.type != "BoolExpr") return 1;
  return static_cast<int>(std::min(ReadContext::list(node.body, "args").size(), kMaxTerms));
}

}  // namespace

Expr Reader::make(ExprKind kind, int location) {
  count_nodes(1, location);
  Expr e;
  e.kind = kind;
  e.location = original(location);
  return e;
}

Expr Reader::make_binary(std::string op, Expr left, Expr right, int location) {
  Expr e = make(ExprKind::Binary, location);
  e.name = std::move(op);
  e.args.push_back(std::move(left));
  e.args.push_back(std::move(right));
  return e;
}

Expr Reader::make_not(Expr arg, int location) {
  Expr e = make(ExprKind::Unary, location);
  e.name = "not";
  e.args.push_back(std::move(arg));
  return e;
}

Expr Reader::read_expr(const Json& node) {
  const NodeView view_of = view(node);
  const Level level(*this, depth_of(view_of), location_of(view_of.body));
  return read_known(view_of);
}

std::shared_ptr<Expr> Reader::read_optional_expr(const Json& body, const char* field) {
  const Json* node = find(body, field);
  return node == nullptr ? nullptr : std::make_shared<Expr>(read_expr(*node));
}

std::vector<Expr> Reader::read_exprs(const Json& nodes) {
  std::vector<Expr> all;
  for (const Json& node : nodes) all.push_back(read_expr(node));
  return all;
}

Expr Reader::read_value(const Json& node) {
  const NodeView value = view(node);
  if (value.type == "SetToDefault") return make(ExprKind::Default, location_of(value.body));
  return read_expr(node);
}

Expr Reader::read_known(const NodeView& node) {
  if (node.type == "A_Const") return read_constant(node.body);
  if (node.type == "ColumnRef") return read_column(node.body, false);
  if (node.type == "ParamRef") return read_param(node.body);
  if (node.type == "A_Expr") return read_operator(node.body);
  if (node.type == "BoolExpr") return read_logic(node.body);
  if (node.type == "NullTest") return read_null_test(node.body);
  if (node.type == "BooleanTest") return read_boolean_test(node.body);
  if (node.type == "SubLink") return read_sublink(node.body);
  if (node.type == "CaseExpr") return read_case(node.body);
  if (node.type == "TypeCast") return read_cast(node.body);
  if (node.type == "RowExpr") return read_row(node.body);
  if (node.type == "FuncCall") return read_function(node.body);
  if (node.type == "CoalesceExpr" || node.type == "MinMaxExpr" || node.type == "SQLValueFunction") {
    return read_special_function(node);
  }
  if (node.type == "SetToDefault") {
    fail("DEFAULT is only meant for VALUES of INSERT and for SET", location_of(node.body));
  }
  if (node.type == "A_ArrayExpr") {
    refuse("ARRAY[...]", location_of(node.body), "only x = ANY (ARRAY[...]) and x <> ALL (ARRAY[...]) are supported");
  }
  // CurrentOfExpr has no place.
  const int location = node.type == "CurrentOfExpr" ? word_near("current", 0) : first_location(node.body);
  refuse(construct_name(node.type), location);
}

Expr Reader::read_constant(const Json& body) {
  check_fields("A_Const", body, {"ival", "fval", "boolval", "sval", "bsval", "isnull"});
  const int location = location_of(body);
  if (const Json* value = find(body, "boolval")) {
    Expr e = make(ExprKind::Bool, location);
    e.number = flag(*value, "boolval") ? 1 : 0;
    return e;
  }
  if (const Json* value = find(body, "ival")) {
    Expr e = make(ExprKind::Int, location);
    const Json* number = find(*value, "ival");
    e.number = number != nullptr ? number->get<std::int64_t>() : integer_at(sql(), location);
    return e;
  }
  if (const Json* value = find(body, "fval")) {
    Expr e = make(ExprKind::Int, location);
    const std::string digits = text(*value, "fval");
    if (digits.find_first_not_of("-0123456789") != std::string::npos) {
      fail("decimals are outside the SQL subset: use integer cents", location);
    }
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), e.number);
    if (code != std::errc{} || end != digits.data() + digits.size()) {
      fail("the number " + digits + " does not fit into a bigint", location);
    }
    return e;
  }
  if (const Json* value = find(body, "sval")) {
    Expr e = make(ExprKind::Text, location);
    e.text = text(*value, "sval");
    return e;
  }
  if (find(body, "bsval") != nullptr) refuse("a bit string", location);
  if (!flag(body, "isnull")) refuse("this constant", location);
  return make(ExprKind::Null, location);
}

Expr Reader::read_column(const Json& body, bool star_allowed) {
  check_fields("ColumnRef", body, {"fields"});
  const int location = location_of(body);
  const Json& fields = list(body, "fields");
  if (fields.empty() || fields.size() > 3) {
    refuse("a column name of more than three parts", location, "write column, table.column or database.table.column");
  }
  const bool star = view(fields.back()).type == "A_Star";
  if (star && !star_allowed) fail("* is only meant for a select list, RETURNING or count(*)", location);
  Expr e = make(star ? ExprKind::Star : ExprKind::Column, location);
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) e.qualifier += (i == 0 ? "" : ".") + name(fields[i]);
  if (!star) e.name = name(fields.back());
  return e;
}

Expr Reader::read_param(const Json& body) {
  check_fields("ParamRef", body, {"number"});
  const Json* number = find(body, "number");
  const std::size_t n = number != nullptr && number->is_number_integer() ? number->get<std::size_t>() : 0;
  if (n == 0 || n > sql().names().size()) fail("unknown parameter", location_of(body));
  Expr e = make(ExprKind::Param, location_of(body));
  e.name = sql().names()[n - 1];
  return e;
}

Expr Reader::read_logic(const Json& body) {
  check_fields("BoolExpr", body, {"boolop", "args"});
  const std::string op = text(body, "boolop");
  if (op == "AND_EXPR") return read_chain(body, "and");
  if (op == "OR_EXPR") return read_chain(body, "or");
  const Json& args = list(body, "args");
  if (op != "NOT_EXPR" || args.size() != 1) refuse(op, location_of(body));
  return make_not(read_expr(args.front()), location_of(body));
}

Expr Reader::read_chain(const Json& body, const char* op) {
  const Json& args = list(body, "args");
  const int location = location_of(body);
  if (args.empty()) refuse(op, location);
  if (args.size() > kMaxTerms) {
    fail("more than " + std::to_string(kMaxTerms) + " terms in one AND or OR", location);
  }
  Expr chain = read_expr(args.front());
  for (std::size_t i = 1; i < args.size(); ++i) {
    chain = make_binary(op, std::move(chain), read_expr(args[i]), location);
  }
  return chain;
}

Expr Reader::read_null_test(const Json& body) {
  check_fields("NullTest", body, {"arg", "nulltesttype"});
  const bool negated = text(body, "nulltesttype") == "IS_NOT_NULL";
  Expr e = make(negated ? ExprKind::IsNotNull : ExprKind::IsNull, location_of(body));
  e.args.push_back(read_expr(body.at("arg")));
  return e;
}

Expr Reader::read_boolean_test(const Json& body) {
  check_fields("BooleanTest", body, {"arg", "booltesttype"});
  const std::string test = text(body, "booltesttype");
  const int location = location_of(body);
  // For a boolean, UNKNOWN is NULL.
  const ExprKind kind = test == "IS_TRUE"          ? ExprKind::IsTrue
                        : test == "IS_NOT_TRUE"    ? ExprKind::IsNotTrue
                        : test == "IS_FALSE"       ? ExprKind::IsFalse
                        : test == "IS_NOT_FALSE"   ? ExprKind::IsNotFalse
                        : test == "IS_UNKNOWN"     ? ExprKind::IsNull
                        : test == "IS_NOT_UNKNOWN" ? ExprKind::IsNotNull
                                                   : ExprKind::Default;
  if (kind == ExprKind::Default) refuse(test, location);
  Expr e = make(kind, location);
  e.args.push_back(read_expr(body.at("arg")));
  return e;
}

Expr Reader::read_case(const Json& body) {
  check_fields("CaseExpr", body, {"arg", "args", "defresult"});
  const int location = location_of(body);
  Expr e = make(ExprKind::Case, location);
  const std::size_t before = nodes();
  std::shared_ptr<Expr> operand = read_optional_expr(body, "arg");
  const std::size_t operand_nodes = nodes() - before;
  if (operand && is_volatile(*operand)) {
    refuse("CASE x WHEN with a volatile function for x", location);
  }
  for (const Json& node : list(body, "args")) {
    const NodeView when = view(node);
    if (when.type != "CaseWhen") refuse_node(node);
    check_fields("CaseWhen", when.body, {"expr", "result"});
    const int at = location_of(when.body);
    Expr condition = read_expr(when.body.at("expr"));
    if (operand) condition = make_binary("=", repeat(*operand, operand_nodes, at), std::move(condition), at);
    e.args.push_back(std::move(condition));
    e.args.push_back(read_expr(when.body.at("result")));
  }
  if (const Json* otherwise = find(body, "defresult")) {
    e.args.push_back(read_expr(*otherwise));
    e.has_else = true;
  }
  return e;
}

Expr Reader::read_cast(const Json& body) {
  check_fields("TypeCast", body, {"arg", "typeName"});
  const Json& type_name = body.at("typeName");
  const std::vector<std::string> type = names(type_name, "names");
  const bool interval =
      type == std::vector<std::string>{"pg_catalog", "interval"} && list(type_name, "arrayBounds").empty();
  const NodeView arg = view(body.at("arg"));
  if (interval && arg.type == "A_Const") {
    if (const Json* literal = find(arg.body, "sval")) return read_interval(body, text(*literal, "sval"));
  }
  // interval '1 s' has no place of its own.
  const int location = location_of(body) >= 0 ? location_of(body) : location_of(type_name);
  Expr e = make(ExprKind::Cast, location);
  e.name = read_type(*this, type_name, TypeUse::Cast);
  e.args.push_back(read_expr(body.at("arg")));
  return e;
}

Expr Reader::read_interval(const Json& body, const std::string& written) {
  const Json& type_name = body.at("typeName");
  check_fields("TypeName", type_name, {"names", "typmods", "typemod"});
  const Json& arg = view(body.at("arg")).body;
  const int location = first_location(body);
  Expr e = make(ExprKind::Interval, location);
  e.text = written;
  const Json& fields = list(type_name, "typmods");
  if (!fields.empty()) {
    // INTERVAL '1' DAY: bits of PostgreSQL's datetime.h.
    const Json* number = fields.size() == 1 ? find(view(fields.front()).body, "ival") : nullptr;
    const Json* mask = number != nullptr ? find(*number, "ival") : nullptr;
    const int bits = mask != nullptr && mask->is_number_integer() ? mask->get<int>() : 0;
    const char* unit = bits == 1 << 3    ? " day"
                       : bits == 1 << 10 ? " hour"
                       : bits == 1 << 11 ? " minute"
                       : bits == 1 << 12 ? " second"
                                         : nullptr;
    const bool plain = !written.empty() && written.find_first_not_of("0123456789") == std::string::npos;
    if (unit == nullptr || !plain) {
      refuse("this form of an interval", location_of(type_name), "write interval '1 day 2 hours'");
    }
    e.text += unit;
  }
  const auto microseconds = parse_interval(e.text);
  if (!microseconds) {
    fail("interval '" + e.text +
             "' is not understood: use numbers with microseconds, milliseconds, seconds, minutes, hours, days or weeks"
             " (months and years have no fixed length)",
         location_of(arg));
  }
  e.number = *microseconds;
  return e;
}

Expr Reader::read_row(const Json& body) {
  check_fields("RowExpr", body, {"args", "row_format"});
  Expr e = make(ExprKind::Row, location_of(body));
  e.args = read_exprs(list(body, "args"));
  return e;
}

Expr Reader::read_function(const Json& body) {
  const int location = location_of(body);
  std::vector<std::string> parts = names(body, "funcname");
  // EXTRACT(...), AT TIME ZONE and the like are calls of functions with SQL's own syntax.
  const bool own_syntax = text(body, "funcformat") == "COERCE_SQL_SYNTAX";
  if (parts.size() == 2 && parts[0] == "pg_catalog") parts.erase(parts.begin());
  std::string shown;
  for (const std::string& part : parts) shown += (shown.empty() ? "" : ".") + part;
  if (own_syntax) refuse(shown == "timezone" ? "AT TIME ZONE" : "the function " + shown + "()", location);
  if (find(body, "over") != nullptr) refuse("window function " + shown + "() OVER ...", location);
  check_fields("FuncCall", body, {"funcname", "args", "agg_star", "agg_distinct", "agg_filter", "funcformat"});
  if (parts.size() != 1 || contains(kKeywords, parts[0])) refuse("the function " + shown + "()", location);
  Expr e = make(ExprKind::Function, location);
  e.name = parts[0];
  e.star = flag(body, "agg_star");
  e.distinct = flag(body, "agg_distinct");
  e.args = read_exprs(list(body, "args"));
  if (e.name == "mod" && e.args.size() == 2) {
    e.kind = ExprKind::Binary;
    e.name = "%";
    return e;
  }
  if (sql().mysql() && rename_mysql_function(e)) return e;
  if (e.star && e.name != "count") fail("only count can have * for its argument", location);
  if (e.distinct && !contains(kAggregates, e.name)) {
    refuse("DISTINCT in " + shown + "()", location, "only count, sum, min, max, bool_and and bool_or take it");
  }
  if (const Json* filter = find(body, "agg_filter")) add_filter(e, read_expr(*filter));
  if (contains(kWithoutArguments, e.name) && !e.args.empty()) fail(shown + "() has no arguments", location);
  return e;
}

// count(*) FILTER (WHERE c) is count(CASE WHEN c THEN 1 END): aggregates leave NULLs out.
void Reader::add_filter(Expr& e, Expr condition) {
  if (!contains(kAggregates, e.name) || (!e.star && e.args.size() != 1)) fail("FILTER is meant for aggregates", e.location);
  Expr value = make(ExprKind::Case, -1);
  value.location = e.location;
  if (e.star) {
    Expr one = make(ExprKind::Int, -1);
    one.number = 1;
    e.args.push_back(std::move(one));
    e.star = false;
  }
  value.args.push_back(std::move(condition));
  value.args.push_back(std::move(e.args[0]));
  e.args[0] = std::move(value);
}

// Functions of MySQL that have another spelling in our tree.
bool Reader::rename_mysql_function(Expr& e) {
  const auto takes = [&](std::string_view name, std::size_t args) { return e.name == name && e.args.size() == args; };
  if (takes("if", 3)) {
    e.kind = ExprKind::Case;
    e.has_else = true;
    e.name.clear();
  } else if (takes("ifnull", 2)) {
    e.name = "coalesce";
  } else if (takes("isnull", 1)) {
    e.kind = ExprKind::IsNull;
    e.name.clear();
  } else if (takes("uuid", 0)) {
    e.name = "gen_random_uuid";
  } else if (takes("date_add", 2) || takes("adddate", 2) || takes("date_sub", 2) || takes("subdate", 2)) {
    e.kind = ExprKind::Binary;
    e.name = e.name == "date_add" || e.name == "adddate" ? "+" : "-";
  } else {
    return false;
  }
  return true;
}

Expr Reader::read_special_function(const NodeView& node) {
  const int location = location_of(node.body);
  Expr e = make(ExprKind::Function, location);
  if (node.type == "SQLValueFunction") {
    check_fields("SQLValueFunction", node.body, {"op", "typmod"});
    const std::string op = text(node.body, "op");  // "SVFOP_CURRENT_DATE"
    if (op == "SVFOP_CURRENT_TIMESTAMP_N") refuse("CURRENT_TIMESTAMP(n)", location, "use now()");
    if (op != "SVFOP_CURRENT_TIMESTAMP" && op != "SVFOP_LOCALTIMESTAMP") refuse(op.substr(op.find('_') + 1), location, "the only clock is now()");
    e.name = "now";
    return e;
  }
  if (node.type == "CoalesceExpr") {
    check_fields("CoalesceExpr", node.body, {"args"});
    e.name = "coalesce";
  } else {
    check_fields("MinMaxExpr", node.body, {"op", "args"});
    e.name = text(node.body, "op") == "IS_LEAST" ? "least" : "greatest";
  }
  e.args = read_exprs(list(node.body, "args"));
  return e;
}

}  // namespace oncecheck::sql

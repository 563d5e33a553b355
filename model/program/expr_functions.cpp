// Functions in expressions.
#include <algorithm>
#include <map>

#include "model/program/expr_compiler.hpp"
#include "model/program/lock_call_compiler.hpp"

namespace oncecheck {

namespace {

bool is_aggregate(const std::string& name) {
  static const std::vector<std::string> names = {"count", "sum", "min", "max", "bool_and", "bool_or"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Typed ExprCompiler::aggregate(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  if (grouping == nullptr) {
    error(e.location, "the aggregate " + e.name + "() is not allowed here");
    return {state_.constant(null_val()), SqlType::Any};
  }
  static const std::map<std::string, Aggregate> kinds = {{"count", Aggregate::Count}, {"sum", Aggregate::Sum},
                                                         {"min", Aggregate::Min}, {"max", Aggregate::Max},
                                                         {"bool_and", Aggregate::BoolAnd}, {"bool_or", Aggregate::BoolOr}};
  AggSpec spec;
  spec.kind = kinds.at(e.name);
  SqlType type = SqlType::Int;
  if (e.star) {
    spec.kind = Aggregate::CountStar;
  } else if (e.args.size() != 1) {
    error(e.location, e.name + "() takes one argument");
    return {state_.constant(null_val()), SqlType::Any};
  } else {
    // The argument is computed for each row, before there are groups.
    Scope rows = scope;
    rows.grouped = false;
    Typed arg = compile(e.args[0], rows, nullptr);
    if (spec.kind == Aggregate::Sum && refuse_decimal(arg, e.location)) return nothing();
    spec.arg = arg.id;
    if (spec.kind != Aggregate::Count) type = arg.type;
  }
  if (e.distinct && spec.kind == Aggregate::Count) spec.kind = Aggregate::CountDistinct;
  if (e.distinct && spec.kind == Aggregate::Sum) error(e.location, "sum(DISTINCT ...) is outside the SQL subset");
  grouping->aggs.push_back(spec);
  Node n;
  n.op = Op::Agg;
  n.a = static_cast<int>(grouping->aggs.size()) - 1;
  return {state_.add(n), type};
}

Typed ExprCompiler::function(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  const std::string& f = e.name;
  if (is_aggregate(f)) return aggregate(e, scope, grouping);
  if (f == "now" || f == "transaction_timestamp" || f == "clock_timestamp" || f == "statement_timestamp") return now(e);
  if (f == "concat" && !e.args.empty()) return concat(e, scope, grouping);
  if (f == "nextval") return next_value(e);
  if (f == "gen_random_uuid" || f == "uuid_generate_v4") {
    Node n;
    n.op = Op::FreshUuid;
    return {state_.add(n), SqlType::Text};
  }
  if (f == "identity_of" && e.args.size() == 1) {
    Node n;
    n.op = Op::IdentityOf;
    n.a = compile(e.args[0], scope, grouping).id;
    return {state_.add(n), SqlType::Text};
  }
  if (f == "coalesce") return list(Op::Coalesce, e, scope, grouping);
  if (f == "greatest") return list(Op::Greatest, e, scope, grouping);
  if (f == "least") return list(Op::Least, e, scope, grouping);
  if (f == "nullif" && e.args.size() == 2) return pair(Op::Nullif, e, scope, grouping, "NULLIF");
  if (is_lock_function(f)) {
    error(e.location, f + "() is supported only alone in a select list: SELECT " + f + "(...)");
    return nothing();
  }
  static const std::vector<std::string> known = {"now", "coalesce", "greatest", "least", "nullif", "gen_random_uuid", "concat",
                                                 "nextval", "clock_timestamp", "identity_of", "count", "sum", "min", "max",
                                                 "bool_and", "bool_or"};
  error(e.location, "function " + f + "() is outside the SQL subset", nearest_name(f, known));
  return {state_.constant(null_val()), SqlType::Any};
}

Typed ExprCompiler::now(const sql::Expr& e) {
  Node n;
  n.op = Op::Now;
  n.b = e.name == "clock_timestamp" ? kNowClock : mysql_ ? kNowStatement : kNowTransaction;
  if (e.name == "statement_timestamp") {
    error(e.location, "statement_timestamp() is outside the SQL subset: use now() or clock_timestamp()");
  }
  return {state_.add(n), SqlType::Instant};
}

// CONCAT of MySQL is NULL when an argument is; PostgreSQL leaves NULLs out.
Typed ExprCompiler::concat(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  ExprId whole = kNoExpr;
  for (const sql::Expr& written : e.args) {
    const Typed typed = compile(written, scope, grouping);
    if (refuse_decimal(typed, written.location)) return nothing();
    ExprId part = typed.id;
    if (!mysql_) part = state_.with_args(Op::Coalesce, {part, state_.text_constant("")});
    if (whole == kNoExpr && e.args.size() > 1) {
      whole = part;
      continue;
    }
    Node n;
    n.op = Op::Concat;
    n.a = whole == kNoExpr ? state_.text_constant("") : whole;
    n.b = part;
    whole = state_.add(n);
  }
  return {whole, SqlType::Text};
}

Typed ExprCompiler::next_value(const sql::Expr& e) {
  // nextval('s') and nextval('s'::regclass).
  const sql::Expr* name = e.args.size() == 1 ? &e.args[0] : nullptr;
  if (name == nullptr || name->kind != sql::ExprKind::Text) {
    error(e.location, "nextval() takes the name of a sequence as a literal: nextval('order_numbers')");
    return nothing();
  }
  const auto& sequences = state_.program.plan.layout.sequences;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].db != default_db_) continue;
    known.push_back(sequences[i].name);
    if (sequences[i].name != name->text) continue;
    Node n;
    n.op = Op::NextVal;
    n.a = static_cast<std::int32_t>(i);
    return {state_.add(n), SqlType::Int};
  }
  error(name->location, "unknown sequence \"" + name->text + "\"", nearest_name(name->text, known));
  return nothing();
}

}  // namespace oncecheck

#include "model/program/expr_compiler.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "model/program/query_compiler.hpp"
#include "model/program/sql_print.hpp"
#include "model/world/instant.hpp"

namespace oncecheck {

namespace {

bool matches(const ScopeEntry& entry, const std::string& qualifier) {
  return qualifier.empty() || qualifier == entry.alias || (!entry.db.empty() && qualifier == entry.db + "." + entry.table);
}

}  // namespace

bool ExprCompiler::coerce(Typed& e, SqlType wanted) {
  if (e.type == SqlType::Any || wanted == SqlType::Any || e.type == wanted) return true;
  if (e.type == SqlType::Literal) return coerce_literal(e, wanted);
  if (!mysql_) return false;
  if (e.type == SqlType::Decimal && (wanted == SqlType::Int || wanted == SqlType::Bool)) {
    const Node quotient = node_of(e);
    if (wanted == SqlType::Int && quotient.op != Op::Quotient) return false;  // of a subquery: its digits are cut already
    const ExprId zero = state_.constant(int_val(0));
    e = wanted == SqlType::Int ? node(Op::RoundedQuotient, quotient.a, quotient.b, wanted) : node(Op::Ne, e.id, zero, wanted);
    return true;
  }
  // In MySQL a condition is a number, and any number but 0 is a condition that holds.
  if (e.type == SqlType::Int && wanted == SqlType::Bool) {
    Node n;
    n.op = Op::Ne;
    n.a = e.id;
    n.b = state_.constant(int_val(0));
    e = {state_.add(n), SqlType::Bool};
    return true;
  }
  if (e.type == SqlType::Bool && wanted == SqlType::Int) {
    Node n;
    n.op = Op::Not;
    n.a = e.id;
    const ExprId one = state_.constant(int_val(1)), zero = state_.constant(int_val(0));
    e = {state_.with_args(Op::Case, {e.id, one, state_.add(n), zero}), SqlType::Int};
    return true;
  }
  return false;
}

bool ExprCompiler::coerce_literal(Typed& e, SqlType wanted) {
  Node& node = state_.program.plan.code.nodes[static_cast<std::size_t>(e.id)];
  const std::string& text = state_.texts[static_cast<std::size_t>(node.val.n)];
  if (wanted == SqlType::Literal || wanted == SqlType::Text) {
    e.type = wanted;
    return true;
  }
  if (wanted == SqlType::Int) {
    std::int64_t n = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (code != std::errc{} || end != text.data() + text.size()) return false;
    node.val = int_val(n);
  } else if (wanted == SqlType::Bool) {
    if (text != "true" && text != "false" && text != "t" && text != "f") return false;
    node.val = bool_val(text[0] == 't');
  } else if (wanted == SqlType::Instant) {
    const auto at = parse_instant(text);
    if (!at) return false;
    node.val = {Kind::Instant, *at};
  } else {
    return false;
  }
  e.type = wanted;
  return true;
}

void ExprCompiler::unify(Typed& a, Typed& b, int location, const char* what) {
  if (a.type == SqlType::Bool && b.type == SqlType::Int && coerce(a, b.type)) return;  // MySQL
  if (b.type == SqlType::Bool && a.type == SqlType::Int && coerce(b, a.type)) return;
  if (coerce(a, b.type) || coerce(b, a.type)) return;
  error(location, std::string(what) + " needs two values of one type, not " + sql_type_name(a.type) + " and " +
                      sql_type_name(b.type));
}

Typed ExprCompiler::compile_output(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  Typed t = compile(e, scope, grouping);
  if (mysql_ && t.type == SqlType::Bool) coerce(t, SqlType::Int);
  return t;
}

ExprId ExprCompiler::compile_as(const sql::Expr& e, const Scope& scope, SqlType wanted, const std::string& what) {
  Typed t = compile(e, scope);
  if (!coerce(t, wanted)) {
    error(e.location, what + " must be " + sql_type_name(wanted) + ", not " + sql_type_name(t.type));
  }
  return t.id;
}

Typed ExprCompiler::compile(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  using K = sql::ExprKind;
  if (grouping != nullptr && e.kind != K::Column) {
    const std::string text = sql::to_string(e);
    for (std::size_t i = 0; i < grouping->key_texts.size(); ++i) {
      if (grouping->key_texts[i] != text) continue;
      Node n;
      n.op = Op::Key;
      n.a = static_cast<int>(i);
      return {state_.add(n), grouping->key_types[i]};
    }
  }
  switch (e.kind) {
    case K::Null: return {state_.constant(null_val()), SqlType::Any};
    case K::Bool:
      if (mysql_) return {state_.constant(int_val(e.number)), SqlType::Int};
      return {state_.constant(bool_val(e.number != 0)), SqlType::Bool};
    case K::Int: {
      const bool int4 = !mysql_ && e.number >= INT32_MIN && e.number <= INT32_MAX;
      return {state_.constant(int_val(e.number)), SqlType::Int, int4 ? Width::Int4 : Width::Unknown};
    }
    case K::Text: return {state_.text_constant(e.text), SqlType::Literal};
    case K::Interval: return {state_.constant({Kind::Interval, e.number}), SqlType::Interval};
    case K::Column: return column(e, scope, grouping);
    case K::Param: return param(e);
    case K::Unary:
      return e.name == "-" ? unary(Op::Neg, e, scope, grouping, SqlType::Int)
                           : unary(Op::Not, e, scope, grouping, SqlType::Bool);
    case K::Binary: return binary(e, scope, grouping);
    case K::IsNull: return unary(Op::IsNull, e, scope, grouping, SqlType::Bool);
    case K::IsNotNull: return unary(Op::IsNotNull, e, scope, grouping, SqlType::Bool);
    case K::IsTrue: return unary(Op::IsTrue, e, scope, grouping, SqlType::Bool);
    case K::IsFalse: return unary(Op::IsFalse, e, scope, grouping, SqlType::Bool);
    case K::IsNotTrue: return unary(Op::IsNotTrue, e, scope, grouping, SqlType::Bool);
    case K::IsNotFalse: return unary(Op::IsNotFalse, e, scope, grouping, SqlType::Bool);
    case K::In: return e.args[0].kind == K::Row ? row_in(e, scope, grouping) : list(Op::In, e, scope, grouping);
    case K::InSelect: return subquery(Op::InQuery, e, scope, grouping);
    case K::Exists: return subquery(Op::Exists, e, scope, grouping);
    case K::Scalar: return subquery(Op::Scalar, e, scope, grouping);
    case K::Like: return {pair(Op::Like, e, scope, grouping, "LIKE").id, SqlType::Bool};
    case K::Function: return function(e, scope, grouping);
    case K::Case: return case_when(e, scope, grouping);
    case K::Cast: return cast(e, scope, grouping);
    case K::Star: error(e.location, "* is only meant for a select list or count(*)"); break;
    case K::Default: error(e.location, "DEFAULT is only meant for VALUES and SET"); break;
    case K::Row: error(e.location, "a row constructor (a, b) is not supported here: compare the columns one by one"); break;
  }
  return {state_.constant(null_val()), SqlType::Any};
}

Typed ExprCompiler::column(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  std::vector<std::string> known;
  for (const Scope* s = &scope; s != nullptr; s = s->outer) {
    int found = 0;
    Typed result;
    Node n;
    for (const ScopeEntry& entry : s->entries) {
      if (!matches(entry, e.qualifier) || (entry.qualified_only && e.qualifier.empty())) continue;
      for (std::size_t c = 0; c < entry.columns.size(); ++c) {
        known.push_back(entry.columns[c]);
        if (entry.columns[c] != e.name) continue;
        const bool merged = std::find(entry.merged.begin(), entry.merged.end(), e.name) != entry.merged.end();
        if (merged && e.qualifier.empty()) continue;
        ++found;
        n.op = Op::Column;
        n.src = static_cast<std::uint8_t>(entry.src);
        n.a = static_cast<std::int32_t>(c);
        result.type = entry.types[c];
        result.width = width_of_column(entry, c);
      }
    }
    if (found > 1) error(e.location, "column \"" + e.name + "\" is ambiguous: say which table it is from");
    if (found == 0) continue;
    if (s->grouped && (s != &scope || grouping != nullptr)) {
      // Only group keys outlive the grouping.
      if (s == &scope) {
        for (std::size_t i = 0; i < grouping->keys.size(); ++i) {
          const Node& key = state_.program.plan.code.nodes[static_cast<std::size_t>(grouping->keys[i])];
          if (key.op == Op::Column && key.src == n.src && key.a == n.a) {
            Node k;
            k.op = Op::Key;
            k.a = static_cast<int>(i);
            return {state_.add(k), result.type};
          }
        }
        error(e.location, "column \"" + e.name + "\" must appear in GROUP BY or inside an aggregate");
      } else {
        error(e.location, "a subquery cannot name column \"" + e.name + "\" of a grouped query around it");
      }
      return {state_.constant(null_val()), SqlType::Any};
    }
    result.id = state_.add(n);
    return result;
  }
  const std::string shown = e.qualifier.empty() ? e.name : e.qualifier + "." + e.name;
  std::string hint = nearest_name(e.name, known);
  std::string message = "unknown column \"" + shown + "\"";
  if (names_ != nullptr && names_->has(e.name)) {
    message += ": a field or local is written with a colon";
    hint = ":" + e.name;
  }
  error(e.location, message, hint);
  return {state_.constant(null_val()), SqlType::Any};
}

Typed ExprCompiler::param(const sql::Expr& e) {
  if (names_ == nullptr) {
    error(e.location, "\":" + e.name + "\": an invariant judges tables and facts, it has no request or locals");
    return {state_.constant(null_val()), SqlType::Any};
  }
  const std::size_t dot = e.name.find('.');
  const std::string name = e.name.substr(0, dot);
  const std::string field = dot == std::string::npos ? "" : e.name.substr(dot + 1);
  const std::vector<std::string>* fields = names_->fields(name);
  if (fields == nullptr) {
    error(e.location, "undeclared name \":" + e.name + "\": it is no request field, and no step before has it as \"into\" or \"set\"",
          nearest_name(e.name, names_->names()));
  } else if (std::find(fields->begin(), fields->end(), field) == fields->end()) {
    const std::string has = alternatives(*fields);
    error(e.location, field.empty() ? "\":" + name + "\" is a result: name one of its fields (" + has + ")"
                                    : "\":" + name + "\" has no field \"" + field + "\" (it has " + has + ")",
          nearest_name(field, *fields));
  } else {
    return {state_.local(names_->take(e.name)), SqlType::Any};
  }
  return {state_.constant(null_val()), SqlType::Any};
}

Typed ExprCompiler::unary(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping, SqlType result) {
  Typed a = compile(e.args[0], scope, grouping);
  if (op == Op::Neg && refuse_decimal(a, e.location)) return nothing();
  const bool logical = op == Op::Not || op == Op::IsTrue || op == Op::IsFalse || op == Op::IsNotTrue || op == Op::IsNotFalse;
  if (logical && !coerce(a, SqlType::Bool)) {
    error(e.location, std::string("a condition must be boolean, not ") + sql_type_name(a.type));
  }
  Node n;
  n.op = op;
  n.a = a.id;
  return {state_.add(n), result};
}

Typed ExprCompiler::pair(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping, const char* what) {
  Typed a = compile(e.args[0], scope, grouping), b = compile(e.args[1], scope, grouping);
  unify(a, b, e.location, what);
  Node n;
  n.op = op;
  n.a = a.id;
  n.b = b.id;
  return {state_.add(n), a.type};
}

Typed ExprCompiler::list(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  std::vector<ExprId> ids;
  std::vector<Typed> parts;
  for (const sql::Expr& a : e.args) {
    parts.push_back(compile(a, scope, grouping));
    if (refuse_decimal(parts.back(), a.location)) return nothing();
  }
  for (std::size_t i = 1; i < parts.size(); ++i) unify(parts[0], parts[i], e.location, op == Op::In ? "IN" : "the function");
  // The first may have been a literal that only a later part gave a type.
  for (std::size_t i = 1; i < parts.size(); ++i) unify(parts[0], parts[i], e.location, op == Op::In ? "IN" : "the function");
  for (const Typed& p : parts) ids.push_back(p.id);
  SqlType type = SqlType::Bool;
  if (op != Op::In) {
    type = SqlType::Any;
    for (const Typed& p : parts) {
      if (type == SqlType::Any) type = p.type;
    }
  }
  const ExprId id = state_.with_args(op, ids);
  if (mysql_ && (op == Op::Greatest || op == Op::Least)) state_.program.plan.code.nodes[static_cast<std::size_t>(id)].a = 1;
  return {id, type};
}

Typed ExprCompiler::case_when(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  std::vector<ExprId> ids;
  SqlType type = SqlType::Any;
  std::vector<Typed> parts;
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    Typed part = compile(e.args[i], scope, grouping);
    const bool condition = i % 2 == 0 && i + 1 < e.args.size();
    if (condition && !coerce(part, SqlType::Bool)) {
      error(e.args[i].location, std::string("a condition must be boolean, not ") + sql_type_name(part.type));
    }
    if (!condition && refuse_decimal(part, e.args[i].location)) return nothing();
    if (!condition && (type == SqlType::Any || type == SqlType::Literal) && part.type != SqlType::Any) type = part.type;
    parts.push_back(part);
  }
  for (std::size_t i = 0; mysql_ && type == SqlType::Bool && i < parts.size(); ++i) {
    if ((i % 2 == 1 || i + 1 == parts.size()) && parts[i].type == SqlType::Int) type = SqlType::Int;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // A literal takes the type of the other branches.
    const bool condition = i % 2 == 0 && i + 1 < parts.size();
    if (!condition && !coerce(parts[i], type)) {
      error(e.args[i].location, std::string("the branches of CASE need one type, not ") + sql_type_name(type) + " and " +
                                    sql_type_name(parts[i].type));
    }
    ids.push_back(parts[i].id);
  }
  return {state_.with_args(Op::Case, ids), type};
}

Typed ExprCompiler::cast(const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  Typed a = compile(e.args[0], scope, grouping);
  const SqlType wanted = sql_type_of(e.name);
  if (wanted == SqlType::Text && (a.type == SqlType::Int || (a.type == SqlType::Bool && !mysql_))) {
    return node(Op::Concat, state_.text_constant(""), a.id, SqlType::Text);
  }
  if (!coerce(a, wanted) && a.type != wanted) {
    error(e.location, std::string("cannot cast ") + sql_type_name(a.type) + " to " + e.name + " in the SQL subset");
  }
  a.type = wanted == SqlType::Any ? a.type : wanted;
  return a;
}

Typed ExprCompiler::subquery(Op op, const sql::Expr& e, const Scope& scope, Grouping* grouping) {
  Node n;
  n.op = op;
  SqlType type = SqlType::Bool;
  if (op == Op::InQuery) n.a = compile(e.args[0], scope, grouping).id;
  if (op == Op::InQuery && mysql_ && e.select->limit) {
    error(e.location, "MySQL has no LIMIT in an IN subquery (error 1235): put the subquery into a derived table");
  }
  QueryCompiler inner(*this);
  n.b = inner.compile(*e.select, &scope);
  if (op != Op::Exists && inner.columns().size() != 1 && n.b >= 0) {
    error(e.location, "a subquery used as a value must have one column");
  }
  if (op == Op::Scalar && !inner.types().empty()) type = inner.types()[0];
  return {state_.add(n), type};
}

}  // namespace oncecheck

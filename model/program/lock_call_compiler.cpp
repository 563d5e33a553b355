#include "model/program/lock_call_compiler.hpp"

#include <algorithm>

#include "model/program/query_compiler.hpp"

namespace oncecheck {

namespace {

struct Function {
  std::string_view name;
  LockCall call;
  bool mysql;
};

constexpr Function kFunctions[] = {
    {"pg_advisory_lock", LockCall::Lock, false},
    {"pg_try_advisory_lock", LockCall::TryLock, false},
    {"pg_advisory_xact_lock", LockCall::XactLock, false},
    {"pg_try_advisory_xact_lock", LockCall::TryXactLock, false},
    {"pg_advisory_unlock", LockCall::Unlock, false},
    {"pg_advisory_unlock_all", LockCall::UnlockAll, false},
    {"get_lock", LockCall::GetLock, true},
    {"release_lock", LockCall::ReleaseLock, true},
};

constexpr std::string_view kOthers[] = {
    "pg_advisory_lock_shared", "pg_try_advisory_lock_shared", "pg_advisory_xact_lock_shared",
    "pg_try_advisory_xact_lock_shared", "pg_advisory_unlock_shared", "is_free_lock", "is_used_lock", "release_all_locks"};

const Function* find_function(const std::string& name) {
  const auto it = std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return f.name == name; });
  return it == std::end(kFunctions) ? nullptr : it;
}

bool is_lock_call(const sql::Expr& e) { return e.kind == sql::ExprKind::Function && is_lock_function(e.name); }

// SELECT lock() and nothing else.
bool is_bare_call(const sql::Select& s) {
  return s.targets.size() == 1 && is_lock_call(s.targets[0].expr) && s.with.empty() && s.from.empty() && !s.where &&
         s.group_by.empty() && !s.having && s.order_by.empty() && !s.limit && !s.offset && !s.locking && !s.distinct &&
         s.op == sql::SetOp::None && s.values.empty();
}

class LockCallCompiler {
 public:
  LockCallCompiler(ExprCompiler& exprs, SqlStatement& out) : exprs_(exprs), state_(exprs.state()), out_(out) {}

  void compile(const sql::Expr& call) {
    const Function* f = find_function(call.name);
    if (f == nullptr) {
      const bool shared = call.name.find("shared") != std::string::npos;
      exprs_.error(call.location, call.name + "() is outside the SQL subset: " +
                                      (shared ? "only exclusive locks are modelled" : "GET_LOCK and RELEASE_LOCK are supported"));
      return;
    }
    if (f->mysql != exprs_.mysql()) {
      exprs_.error(call.location, call.name + "() is " + (f->mysql ? "MySQL's" : "PostgreSQL's") + ", not this engine's");
      return;
    }
    out_.kind = SqlKind::LockFunction;
    out_.call = f->call;
    if (gives_void(f->call)) state_.intern("");
    const std::size_t args = call.args.size();
    const bool fits = f->call == LockCall::UnlockAll ? args == 0
                      : f->call == LockCall::GetLock ? args == 2
                                                     : args == 1 || (args == 2 && !f->mysql);
    if (!fits) {
      exprs_.error(call.location, call.name + "() has another number of arguments");
      return;
    }
    if (args == 0) {
      out_.lock_key = state_.constant(null_val());
      return;
    }
    const bool pair = args == 2 && !f->mysql;
    out_.lock_key = pair ? pair_key(call.args[0], call.args[1]) : key(call.args[0]);
    if (f->call == LockCall::GetLock) {
      out_.lock_wait = exprs_.compile_as(call.args[1], Scope{}, SqlType::Int, "the time of GET_LOCK in seconds");
      out_.waits_for_ever = call.args[1].kind == sql::ExprKind::Int && call.args[1].number < 0;
    }
  }

 private:
  // hashtext('a') is as good as 'a' for a key: two texts with one hash are not modelled.
  static const sql::Expr& without_hash(const sql::Expr& e) {
    const bool hash = e.kind == sql::ExprKind::Function && (e.name == "hashtext" || e.name == "hashtextextended") && !e.args.empty();
    if (hash) return without_hash(e.args[0]);
    return e.kind == sql::ExprKind::Cast && (e.name == "bigint" || e.name == "integer") ? without_hash(e.args[0]) : e;
  }

  ExprId key(const sql::Expr& e) { return exprs_.compile(without_hash(e), Scope{}).id; }

  // Two 32-bit keys are another space than one 64-bit key.
  ExprId pair_key(const sql::Expr& a, const sql::Expr& b) {
    if (a.kind == sql::ExprKind::Int && b.kind == sql::ExprKind::Int) {
      return state_.text_constant(std::to_string(a.number) + "," + std::to_string(b.number));
    }
    return concat(concat(key(a), state_.text_constant(",")), key(b));
  }

  ExprId concat(ExprId a, ExprId b) {
    Node n;
    n.op = Op::Concat;
    n.a = a;
    n.b = b;
    return state_.add(n);
  }

  ExprCompiler& exprs_;
  CompileState& state_;
  SqlStatement& out_;
};

}  // namespace

bool is_lock_function(const std::string& name) {
  return find_function(name) != nullptr || std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers);
}

bool compile_lock_call(ExprCompiler& exprs, const sql::Select& s, SqlStatement& out, std::vector<std::string>& columns) {
  if (is_bare_call(s)) {
    LockCallCompiler(exprs, out).compile(s.targets[0].expr);
    Node value;
    value.op = Op::Column;
    value.a = 0;
    out.targets.push_back(exprs.state().add(value));
    columns.push_back(target_name(s.targets[0]));
    return true;
  }
  // SELECT 1 FROM (SELECT lock()) x.
  const bool wrapped = s.from.size() == 1 && s.from[0].kind == sql::FromKind::Subselect && is_bare_call(*s.from[0].select);
  if (!wrapped) return false;
  const sql::Select& inner = *s.from[0].select;
  if (!s.with.empty() || s.where || !s.group_by.empty() || s.having || s.limit || s.offset || s.locking || s.distinct) {
    exprs.error(s.location, "a lock function in FROM is supported only as SELECT ... FROM (SELECT lock()) x");
    return true;
  }
  LockCallCompiler(exprs, out).compile(inner.targets[0].expr);
  Scope scope;
  scope.entries.push_back({s.from[0].alias, "", "", {target_name(inner.targets[0])}, {SqlType::Any}, 0});
  exprs.next_src = 1;
  for (const sql::Target& t : s.targets) {
    const bool star = t.expr.kind == sql::ExprKind::Star;
    sql::Expr column;
    column.kind = sql::ExprKind::Column;
    column.name = target_name(inner.targets[0]);
    out.targets.push_back(exprs.compile_output(star ? column : t.expr, scope).id);
    columns.push_back(star ? column.name : target_name(t));
  }
  return true;
}

}  // namespace oncecheck

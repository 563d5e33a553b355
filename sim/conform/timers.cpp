#include "sim/conform/timers.hpp"

#include <algorithm>
#include <string>

#include "model/world/code_walk.hpp"

namespace oncecheck {

Timeouts default_timeouts(Engine engine) {
  Timeouts t;
  if (is_innodb(engine)) t.lock = 50'000;  // innodb_lock_wait_timeout
  return t;
}

bool idles(const Timeouts& t, bool in_transaction) {
  return t.idle != kNever && (t.idle_when == Timeouts::Idle::Always || (t.idle_when == Timeouts::Idle::InTransaction) == in_transaction);
}

void set_timeout(Timeouts& now, Timeouts& outside, const SqlStatement& statement) {
  if (statement.timeout_error == ErrorClass::None) return;
  const std::int64_t length = statement.timeout > 0 ? statement.timeout / 1000 : kNever;
  for (Timeouts* t : {&now, &outside}) {
    if (t == &outside && statement.local) return;
    switch (statement.timeout_error) {
      case ErrorClass::LockTimeout: t->lock = length; break;
      case ErrorClass::StatementTimeout: t->statement = length; break;
      default:
        t->idle = length;
        t->idle_when = statement.text.find("transaction") != std::string::npos ? Timeouts::Idle::InTransaction
                       : statement.text.find("idle_session") != std::string::npos ? Timeouts::Idle::OutsideTransaction
                                                                                  : Timeouts::Idle::Always;
    }
  }
}

std::int64_t lock_wait(const Plan& plan, Engine engine, const Timeouts& timeouts, const SqlStatement& statement) {
  if (statement.kind != SqlKind::LockFunction || !is_innodb(engine)) return timeouts.lock;
  if (statement.lock_wait == kNoExpr) return kNever;
  const Node& seconds = plan.code.nodes[static_cast<std::size_t>(statement.lock_wait)];
  // A negative time is no limit (MySQL manual, GET_LOCK).
  return seconds.op == Op::Const && seconds.val.kind == Kind::Int && seconds.val.n >= 0 ? seconds.val.n * 1000 : kNever;
}

std::int64_t deadline_length(const Plan& plan, const SqlStatement& statement) {
  std::int64_t longest = 0;
  auto node = [&](const Node& n) {
    if (n.op == Op::Const && n.val.kind == Kind::Interval) longest = std::max(longest, n.val.n);
  };
  each_expr(statement, [&](ExprId e) { walk_expr(plan.code, e, node, [](const Query&) {}); });
  if (longest == 0) {
    for (const Node& n : plan.code.nodes) node(n);
  }
  return longest == 0 ? kNever : longest / 1000;
}

}  // namespace oncecheck

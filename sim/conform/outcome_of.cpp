#include "sim/conform/outcome_of.hpp"

namespace oncecheck {

Json result_of(const Plan& plan, Engine engine, const SqlStatement& s, const Observation& seen, bool failed) {
  if (s.no_result) return "OK";
  switch (s.kind) {
    case SqlKind::Select:
    case SqlKind::SelectLock:
    case SqlKind::LockFunction: return shown_rows(plan.domain, engine, seen.rows);
    case SqlKind::Insert:
    case SqlKind::Update:
    case SqlKind::Delete:
      if (s.targets.empty()) return seen.count;
      return shown_rows(plan.domain, engine, seen.rows);
    case SqlKind::Commit:
      if (failed) return "ROLLBACK";  // PostgreSQL: the command tag of a COMMIT that could not
      return "OK";
    default: return "OK";
  }
}

bool is_ordered(const Plan& plan, const SqlStatement& s) {
  if (s.kind == SqlKind::Select && s.query >= 0) return !plan.code.queries[static_cast<std::size_t>(s.query)].order.empty();
  return s.kind == SqlKind::SelectLock && !s.order.empty();
}

std::string bound_words(LimitKind kind) {
  switch (kind) {
    case LimitKind::IntRange: return "an integer outside of the model's bounds";
    case LimitKind::UnknownText: return "a text that was not foreseen";
    case LimitKind::Rows: return "more row versions than the model has room for";
    case LimitKind::Fresh: return "more fresh values than the model has room for";
    case LimitKind::RedisLog: return "more Redis writes on their way than the model has room for";
    case LimitKind::RedisKeys: return "more keys, watched keys or queued commands of Redis than the model has room for";
    case LimitKind::Deadlines: return "more running deadlines than the model has room for";
    case LimitKind::InstantOrder: return "two stored instants whose order the model does not know are compared";
    case LimitKind::StoreInterval: return "an interval or a fraction is stored";
    case LimitKind::Scratch: return "a query result that is too large for the model";
    default: return "a bound of the model (" + std::to_string(static_cast<int>(kind)) + ")";
  }
}

}  // namespace oncecheck

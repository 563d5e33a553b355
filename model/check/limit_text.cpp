#include "model/check/checker.hpp"
#include "model/world/redis_connection.hpp"

namespace oncecheck {

namespace {

std::string redis_keys_text(const Scenario& s, int arg) {
  const std::string name = s.redis[static_cast<std::size_t>(arg % kLimitQueue)].first;
  if (arg >= kLimitWatches) return "redis " + name + ": a connection watches more keys than the model has room for (6)";
  if (arg >= kLimitQueue) return "redis " + name + ": more commands in one MULTI than the model has room for (8, of which 4 may go several ways)";
  return "bounds.rows: redis " + name + " holds more keys";
}

}  // namespace

const char* verdict_name(Verdict v) {
  return v == Verdict::Holds ? "holds" : v == Verdict::Violated ? "violated" : "inconclusive";
}

std::string limit_text(const Program& program, const Limit& limit) {
  const Scenario& s = program.scenario;
  auto named = [&](const auto& all) { return limit.arg < all.size() ? all[limit.arg].first : std::string("?"); };
  switch (limit.kind) {
    case LimitKind::None: return "no limit";
    case LimitKind::IntRange: return "a number left the range of bounds.int_min to bounds.int_max";
    case LimitKind::UnknownText: return "a text was made that the scenario's domain does not foresee";
    case LimitKind::Rows: {
      const auto& tables = program.plan.layout.tables;
      return "bounds.rows: table " + (limit.arg < tables.size() ? tables[limit.arg].name : std::string("?")) +
             " (or a loop over its rows) needs more row versions";
    }
    case LimitKind::Messages:
      return limit.arg == 0 ? "bounds.messages: more requests in flight than there is room for"
                            : "bounds.messages: more requests wait at a provider than there is room for";
    case LimitKind::Effects: return "bounds.effects: the ledger of provider " + named(s.providers) + " is full";
    case LimitKind::Fresh: return "bounds.fresh: more fresh values alive at once";
    case LimitKind::Deadlines: return "bounds.deadlines: more deadlines running at once";
    case LimitKind::RedisLog: return "bounds.redis_log: more unreplicated writes of redis " + named(s.redis);
    case LimitKind::RedisKeys: return redis_keys_text(s, limit.arg);
    case LimitKind::Tasks:
      return "service " + named(s.services) + " has more requests at once than handlers by default: set bounds.tasks to how many it works on "
             "at once, the others wait";
    case LimitKind::LocalLoop: return "a loop of local steps does not end";
    case LimitKind::InstantOrder: return "two stored times were compared whose order the untimed model does not know";
    case LimitKind::StoreInterval: return "an interval or a fraction was to be stored";
    case LimitKind::Locks: return "more record locks at once than the model has room for";
    case LimitKind::Savepoints: return "more savepoints open at once than the model has room for (4)";
    case LimitKind::AdvisoryLocks: return "more advisory locks at once than the model has room for";
    case LimitKind::SerializableHistory:
      return "bounds.ssi: more committed SERIALIZABLE transactions, or keys that they read, overlap open ones";
    case LimitKind::Scratch: return "a query gave more rows than the model can hold";
    case LimitKind::ExpressionError:
      return std::string("an expression outside of a statement failed: ") +
             error_class_name(static_cast<ErrorClass>(limit.arg));
  }
  return "a limit";
}

}  // namespace oncecheck

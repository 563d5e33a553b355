#include "model/world/redis.hpp"

#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/redis_replication.hpp"
#include "model/world/redis_run.hpp"

namespace oncecheck {

namespace {

const RedisCommand& command_of(const Plan& plan, int command) { return plan.redis_commands[static_cast<std::size_t>(command)]; }

RedisAnswer answer_of(const RedisReply& reply) {
  RedisAnswer out;
  static_cast<RedisReply&>(out) = reply;
  return out;
}

// The nodes that the client may reach.
int nodes_of(const Plan& plan, const std::uint8_t* w, int task, const RedisCommand& c, int* nodes) {
  int n = 0;
  const RedisLayout& r = redis_of(plan, c.redis);
  if (c.on_replica) {
    for (int i = 0; i < static_cast<int>(r.nodes.size()); ++i) {
      if (is_replica(plan, w, c.redis, i)) nodes[n++] = i;
    }
    return n;
  }
  const RedisConnection connection(plan, const_cast<std::uint8_t*>(w), c.redis, task);
  const int old = old_primary(plan, w, c.redis);
  if (old >= 0 && connection.open() && connection.has(kAtOldPrimary)) {
    nodes[n++] = old;
    return n;
  }
  if (const int now = current_primary(plan, w, c.redis); now >= 0) nodes[n++] = now;
  if (old >= 0 && !connection.open() && !connection.has(kMoved)) nodes[n++] = old;
  return n;
}

// WAIT: how many replicas can confirm at most.
int most_confirming(const Plan& plan, const std::uint8_t* w, const RedisCommand& c, int task, int node) {
  if (!redis_of(plan, c.redis).stepped) return redis_of(plan, c.redis).replicas;
  return confirming_replicas(plan, const_cast<std::uint8_t*>(w), c.redis, node, task);
}

// A time that is past is earlier than any that is left.
bool compares_times(const RedisCommand& c) {
  return c.call.op == RedisOp::Expire && (c.call.gt || c.call.lt) && c.call.ttl != RedisTtlKind::Passed;
}

// Commands in the queue of a MULTI that can go more than one way: the choice of EXEC has a digit for each. No more of them, so that
// the ways at both primaries of a split fit into a byte.
constexpr int kMostOpen = 4;

// How many ways a queued command can go. In a transaction WAIT never blocks: it tells how many have confirmed by then.
int ways_in_queue(const Plan& plan, const std::uint8_t* w, const RedisCommand& c, int task, int node) {
  if (compares_times(c)) return 2;
  return c.call.op == RedisOp::Wait ? 1 + most_confirming(plan, w, c, task, node) : 1;
}

int choices_of_exec(const Plan& plan, const std::uint8_t* w, const RedisConnection& connection, int task, int node) {
  int choices = 1;
  for (int i = 0, open = 0, queued = connection.queued(); i < queued && open < kMostOpen; ++i) {
    const int ways = ways_in_queue(plan, w, command_of(plan, connection.queued_command(i)), task, node);
    if (ways > 1) ++open;
    choices *= ways;
  }
  return choices;
}

int choices_at(const Plan& plan, const std::uint8_t* w, int task, const RedisCommand& c, int node) {
  const RedisConnection connection(plan, const_cast<std::uint8_t*>(w), c.redis, task);
  if (connection.has(kBroken)) return 1;
  if (connection.has(kInMulti)) return c.call.op == RedisOp::Exec ? choices_of_exec(plan, w, connection, task, node) : 1;
  if (compares_times(c)) return 2;
  if (c.call.op != RedisOp::Wait) return 1;
  const int most = most_confirming(plan, w, c, task, node);
  if (c.call.milliseconds > 0) return most + 1;
  return std::max(0, most - static_cast<int>(c.call.number) + 1);
}

class Exec {
 public:
  Exec(Context& ctx, int command, const RedisWay& way)
      : ctx_(ctx), number_(command), c_(command_of(ctx.plan, command)), way_(way),
        connection_(ctx.plan, ctx.w, c_.redis, ctx.task) {}

  RedisAnswer run() {
    if (connection_.has(kBroken)) {
      connection_.unset(kBroken);
      return answer_of(redis_error(ErrorClass::ConnectionLost));
    }
    const int count = std::min(static_cast<int>(c_.args.size()), kMaxRedisArgs);
    CellId args[kMaxRedisArgs];
    for (int i = 0; i < count; ++i) {
      args[i] = eval_cell(ctx_, c_.args[static_cast<std::size_t>(i)]);
      if (is_key(c_, i)) args[i] = ctx_.plan.redis_string[args[i]];
    }
    if (ctx_.limit) return {};
    find_place();
    const bool queues = connection_.has(kInMulti) && !goes_past_queue();
    const RedisAnswer out = connection_.has(kInMulti) ? in_multi(args, count) : alone(args, count);
    if (!queues) remember_offset();
    return out;
  }

 private:
  bool goes_past_queue() const {
    switch (c_.call.op) {
      case RedisOp::Multi:
      case RedisOp::Watch:
      case RedisOp::Exec:
      case RedisOp::Discard: return true;
      default: return false;
    }
  }

  // During a split a client that has found the new primary stays with it.
  void find_place() {
    const int old = old_primary(ctx_.plan, ctx_.w, c_.redis);
    if (old < 0 || c_.on_replica) return;
    if (way_.node != old) {
      connection_.set(kMoved);
    } else if (c_.call.op == RedisOp::Multi || c_.call.op == RedisOp::Watch) {
      connection_.set(kAtOldPrimary);
    }
  }

  RedisAnswer alone(const CellId* args, int count) {
    switch (c_.call.op) {
      case RedisOp::Multi: connection_.set(kInMulti); return answer_of(redis_kind(RedisReply::Kind::Ok));
      case RedisOp::Exec:
      case RedisOp::Discard: return answer_of(redis_error(ErrorClass::Other));  // ERR EXEC without MULTI
      case RedisOp::Watch:
        for (int i = 0; i < count; ++i) {
          if (!connection_.watch(args[i])) ctx_.fail(LimitKind::RedisKeys, kLimitWatches + c_.redis);
        }
        return answer_of(redis_kind(RedisReply::Kind::Ok));
      case RedisOp::Unwatch:
        connection_.unwatch();
        return answer_of(redis_kind(RedisReply::Kind::Ok));
      case RedisOp::Wait: return wait();
      default: break;
    }
    RedisRun run(ctx_, c_.redis, way_.node);
    const RedisAnswer out = perform(run, c_, args, count, way_.choice);
    run.finish();
    return out;
  }

  RedisAnswer perform(RedisRun& run, const RedisCommand& c, const CellId* args, int count, int choice) {
    if (c.call.op != RedisOp::Eval) return run.perform(c.call, args, count, choice);
    return run.script(ctx_.plan.redis_scripts[static_cast<std::size_t>(c.script)], args, c.keys, args + c.keys, count - c.keys);
  }

  RedisAnswer wait() {
    if (!is_primary(ctx_.plan, ctx_.w, c_.redis, way_.node)) return answer_of(redis_error(ErrorClass::Other));
    return confirm(c_, way_.choice);
  }

  RedisAnswer confirm(const RedisCommand& c, int missing) {
    const int confirmed = most_confirming(ctx_.plan, ctx_.w, c, ctx_.task, way_.node) - missing;
    // Where the replicas cannot be told apart: only when all confirm is it certain what each of them has.
    if (confirmed == redis_of(ctx_.plan, c_.redis).replicas) confirm_writes(ctx_, c_.redis, connection_.asked(1));
    return answer_of(redis_int(confirmed));
  }

  RedisAnswer in_multi(const CellId* args, int count) {
    switch (c_.call.op) {
      case RedisOp::Multi:
      case RedisOp::Watch: return answer_of(redis_error(ErrorClass::Other));  // ERR ... inside MULTI
      case RedisOp::Discard:
        connection_.end_multi();
        connection_.unset(kAtOldPrimary);
        return answer_of(redis_kind(RedisReply::Kind::Ok));
      case RedisOp::Exec: return exec();
      default: break;
    }
    if (const ErrorClass why = RedisRun(ctx_, c_.redis, way_.node).refusal(c_.call); why != ErrorClass::None) {
      connection_.set(kExecRefused);
      return answer_of(redis_error(why));
    }
    if (!connection_.queue(number_, args, count)) ctx_.fail(LimitKind::RedisKeys, kLimitQueue + c_.redis);
    return answer_of(redis_kind(RedisReply::Kind::Queued));
  }

  RedisAnswer exec() {
    const int n = connection_.queued();
    RedisRun run(ctx_, c_.redis, way_.node);
    bool refused = connection_.has(kExecRefused);
    for (int i = 0; i < n; ++i) {
      const RedisCommand& c = command_of(ctx_.plan, connection_.queued_command(i));
      refused = refused || (c.call.op != RedisOp::Eval && run.refusal(c.call) != ErrorClass::None);
    }
    RedisAnswer out;
    if (refused) {
      out = answer_of(redis_error(ErrorClass::ExecAborted));
    } else if (!connection_.has(kWatchTripped)) {
      // The transaction's own writes must not trip its watches.
      connection_.unwatch();
      out = answer_of(redis_kind(RedisReply::Kind::List));
      int open = 0, choices = way_.choice;
      for (int i = 0; i < n; ++i) {
        const RedisCommand& c = command_of(ctx_.plan, connection_.queued_command(i));
        const int ways = ways_in_queue(ctx_.plan, ctx_.w, c, ctx_.task, way_.node);
        if (ways > 1 && ++open > kMostOpen) ctx_.fail(LimitKind::RedisKeys, kLimitQueue + c_.redis);
        const int choice = choices % ways;
        choices /= ways;
        CellId args[kMaxRedisArgs];
        const int count = std::min(static_cast<int>(c.args.size()), kMaxRedisArgs);
        connection_.queued_args(i, args, count);
        if (i < kMaxRedisItems) out.items[out.count++] = one(run, c, args, count, choice);
      }
      run.finish();
    }
    connection_.end_multi();
    connection_.unset(kAtOldPrimary);
    return out;
  }

  RedisReply one(RedisRun& run, const RedisCommand& c, const CellId* args, int count, int choice) {
    switch (c.call.op) {
      case RedisOp::Unwatch: return redis_kind(RedisReply::Kind::Ok);
      case RedisOp::Wait: return confirm(c, choice);
      default: return perform(run, c, args, count, choice);
    }
  }

  // WAIT asks for the stream as it is after this connection's last command, whatever that was (Redis 7.0).
  void remember_offset() {
    const RedisLayout& r = redis_of(ctx_.plan, c_.redis);
    if (r.connections.waits < 0) return;
    for (int n = 0; n < static_cast<int>(r.nodes.size()); ++n) {
      const bool mine = primary_of(ctx_.plan, ctx_.w, c_.redis, n) == way_.node;
      connection_.set_asked(n, mine ? queue_of(ctx_.plan, ctx_.w, c_.redis, n).size() : 0);
    }
  }

  Context& ctx_;
  int number_;
  const RedisCommand& c_;
  RedisWay way_;
  RedisConnection connection_;
};

// The value of an answer as SQL reads it.
CellId shown(Context& ctx, const RedisReply& reply) {
  switch (reply.kind) {
    case RedisReply::Kind::Nil:
    case RedisReply::Kind::Error: return kNullCell;
    case RedisReply::Kind::Int: return storable(ctx, int_val(reply.n));
    case RedisReply::Kind::Left: return storable(ctx, int_val(1));
    case RedisReply::Kind::Bulk:
    case RedisReply::Kind::Text: return reply.cell;
    case RedisReply::Kind::Ok:
    case RedisReply::Kind::List: return ctx.plan.redis_words.ok;
    case RedisReply::Kind::Queued: return ctx.plan.redis_words.queued;
    case RedisReply::Kind::Pong: return ctx.plan.redis_words.pong;
    case RedisReply::Kind::TypeString: return ctx.plan.redis_words.type_string;
    case RedisReply::Kind::TypeNone: return ctx.plan.redis_words.type_none;
  }
  return kNullCell;
}

int count_of(const RedisCommand& c, const RedisAnswer& answer) {
  switch (answer.kind) {
    // A SET that answers the old value has found none, and set the key; with XX it has not.
    case RedisReply::Kind::Nil: return c.call.op == RedisOp::Set && c.call.get && !c.call.xx ? 1 : 0;
    case RedisReply::Kind::Queued:
    case RedisReply::Kind::TypeNone:
    case RedisReply::Kind::Error: return 0;
    case RedisReply::Kind::Int:
      if (c.call.op == RedisOp::Incr) return 1;
      if (c.call.op == RedisOp::Ttl) return answer.n == -1 ? 1 : 0;
      return static_cast<int>(answer.n);
    case RedisReply::Kind::List: return answer.count;
    default: return 1;
  }
}

void store_answer(Context& ctx, const RedisCommand& c, const RedisAnswer& answer, std::uint8_t* locals) {
  const Layout& layout = ctx.plan.layout;
  auto store = [&](int cell, CellId value) {
    if (cell >= 0) store_cell(layout, locals + cell * layout.cell, value);
  };
  if (c.into_value >= 0 || ctx.seen != nullptr) {
    const CellId value = shown(ctx, answer);
    store(c.into_value, value);
    if (ctx.seen != nullptr) {
      ctx.seen->count = count_of(c, answer);
      ctx.seen->columns = {"answer"};
      ctx.seen->rows = {{ctx.plan.domain.decode(value)}};
    }
  }
  if (c.into_count >= 0) store(c.into_count, storable(ctx, int_val(count_of(c, answer))));
  for (int i = 0; i < kMaxRedisItems; ++i) {
    if (c.into_items[i] >= 0) store(c.into_items[i], i < answer.count ? shown(ctx, answer.items[i]) : kNullCell);
  }
}

}  // namespace

int confirming_replicas(const Plan& plan, std::uint8_t* w, int redis, int node, int task) {
  const RedisLayout& r = redis_of(plan, redis);
  const RedisConnection connection(plan, w, redis, task);
  int n = 0;
  for (int i = 0; r.stepped && i < static_cast<int>(r.nodes.size()); ++i) {
    if (primary_of(plan, w, redis, i) == node && link_of(plan, w, redis, i) != kLinkSyncs && connection.asked(i) == 0) ++n;
  }
  return n;
}

int redis_ways(const Plan& plan, const std::uint8_t* w, int task, int command) {
  const RedisCommand& c = command_of(plan, command);
  int nodes[8];
  const int n = nodes_of(plan, w, task, c, nodes);
  int ways = 0;
  for (int i = 0; i < n; ++i) ways += choices_at(plan, w, task, c, nodes[i]);
  return ways;
}

RedisWay redis_way(const Plan& plan, const std::uint8_t* w, int task, int command, int number) {
  const RedisCommand& c = command_of(plan, command);
  int nodes[8];
  const int n = nodes_of(plan, w, task, c, nodes);
  for (int i = 0; i < n; ++i) {
    const int choices = choices_at(plan, w, task, c, nodes[i]);
    if (number < choices) return {nodes[i], number};
    number -= choices;
  }
  CHECK_THAT(!"a way that there is");
  return {};
}

RedisAnswer exec_redis(Context& ctx, int command, std::uint8_t* locals, const RedisWay& way) {
  const RedisAnswer answer = Exec(ctx, command, way).run();
  if (ctx.seen != nullptr) ctx.seen->redis = answer;
  if (!ctx.limit && !answer.failed()) store_answer(ctx, command_of(ctx.plan, command), answer, locals);
  return answer;
}

void forget_task(const Plan& plan, std::uint8_t* w, int task) {
  forget_connections(plan, w, task);
  for (const RedisLayout& r : plan.layout.redis) {
    if (!r.tracks_owners) continue;
    each_store(r, [&](const RedisStore& store) {
      const RedisKeys keys(plan.layout, r, store, w);
      for (int i = 0; i < r.slots; ++i) {
        if (keys.owner(i) == task + 1) keys.owner(i) = 0;
      }
      if (store.queue < 0) return;
      const RedisQueue queue(plan.layout, r, store, w);
      for (int i = 0, n = queue.size(); i < n; ++i) {
        RedisWrite write = queue.get(i);
        if (write.owner != task + 1) continue;
        write.owner = 0;
        queue.set(i, write);
      }
    });
  }
}

}  // namespace oncecheck

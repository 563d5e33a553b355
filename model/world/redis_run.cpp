#include "model/world/redis_run.hpp"

#include <charconv>
#include <limits>

#include "model/world/redis_expiry.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

bool redis_writes(const RedisCall& call) {
  switch (call.op) {
    case RedisOp::GetDel:
    case RedisOp::Set:
    case RedisOp::MSet:
    case RedisOp::Del:
    case RedisOp::Incr:
    case RedisOp::Expire:
    case RedisOp::Persist: return true;
    default: return false;
  }
}

bool redis_takes_memory(const RedisCall& call) {
  return call.op == RedisOp::Set || call.op == RedisOp::MSet || call.op == RedisOp::Incr;
}

bool is_key(const RedisCall& call, int argument) {
  switch (call.op) {
    case RedisOp::MGet:
    case RedisOp::Del:
    case RedisOp::Exists:
    case RedisOp::Watch: return true;
    case RedisOp::MSet: return argument % 2 == 0;
    case RedisOp::Eval: return false;
    default: return argument == 0;
  }
}

bool is_key(const RedisCommand& command, int argument) {
  return command.call.op == RedisOp::Eval ? argument < command.keys : is_key(command.call, argument);
}

bool redis_number(const Domain& domain, CellId cell, std::int64_t& number) {
  const Val v = domain.decode(cell);
  if (v.kind == Kind::Int) {
    number = v.n;
    return true;
  }
  if (v.kind != Kind::Text || v.n == kUnknownText) return false;
  const std::string_view text = domain.text(v.n);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  const std::size_t digits = text[0] == '-' ? 1 : 0;
  return text.size() == 1 || (text[digits] != '0');
}

bool redis_length(std::int64_t n, std::int64_t unit, bool absolute, std::int64_t& milliseconds) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (n > most / unit || n < -(most / unit)) return false;
  milliseconds = n * unit;
  return absolute || milliseconds <= most - kRedisNow;
}

int RedisRun::find(CellId key) const {
  const int slot = keys_.find(key);
  return slot >= 0 && redis_hidden(ctx_.plan, ctx_.w, redis_, node_, keys_.ttl(slot)) ? -1 : slot;
}

void RedisRun::note(const RedisWrite& write) {
  if (write_count_ == kMostWrites) {
    ctx_.fail(LimitKind::RedisLog, redis_);
    return;
  }
  writes_[static_cast<std::size_t>(write_count_++)] = write;
}

void RedisRun::finish() {
  for (int i = 0; i < write_count_; ++i) {
    RedisWrite write = writes_[static_cast<std::size_t>(i)];
    write.more = i + 1 < write_count_;
    propagate(ctx_, redis_, node_, write);
  }
  write_count_ = 0;
}

void RedisRun::put(CellId key, CellId value, std::uint8_t ttl, int owned_as) {
  RedisWrite write{kLogSet, false, key, value, ttl, 0};
  if (r_.tracks_owners) write.owner = owned_as >= 0 ? keys_.owner(owned_as) : static_cast<std::uint8_t>(ctx_.task + 1);
  if (!keys_.put(write)) ctx_.fail(LimitKind::RedisKeys, redis_);
  touch_watched(ctx_.plan, ctx_.w, redis_, node_, key);
  note(write);
}

void RedisRun::remove(int slot) {
  const CellId key = keys_.key(slot);
  if (r_.tracks_owners && keys_.owner(slot) != 0 && keys_.owner(slot) != ctx_.task + 1) ctx_.w[r_.foreign_release] = 1;
  keys_.remove(slot);
  touch_watched(ctx_.plan, ctx_.w, redis_, node_, key);
  note({kLogDel, false, key, kNullCell, 0, 0});
}

ErrorClass RedisRun::refusal(const RedisCall& call) const {
  if (!is_primary(ctx_.plan, ctx_.w, redis_, node_)) {
    const std::uint8_t link = link_of(ctx_.plan, ctx_.w, redis_, node_);
    if (!r_.serves_stale && (link == kLinkDown || link == kLinkSyncs)) return ErrorClass::MasterDown;
    return redis_writes(call) ? ErrorClass::ReadOnlyReplica : ErrorClass::None;
  }
  if (r_.recorded && redis_takes_memory(call) && (ctx_.w[r_.roles + 2 * node_ + 1] & kMemoryFull) != 0) {
    return ErrorClass::OutOfMemory;
  }
  if (redis_writes(call) && r_.min_replicas > 0 && good_replicas(ctx_.plan, ctx_.w, redis_, node_) < r_.min_replicas) {
    return ErrorClass::NoReplicas;
  }
  return ErrorClass::None;
}

bool RedisRun::is_past(const RedisCall& call, const CellId* args, int count) const {
  std::int64_t n = 0;
  if (call.ttl != RedisTtlKind::Argument) return call.ttl == RedisTtlKind::Passed;
  return !redis_number(ctx_.plan.domain, args[count - 1], n) || n <= 0;
}

// The deadline of a command that sets one; `passed`: it lies in the past.
std::uint8_t RedisRun::deadline(const RedisCall& call, const CellId* args, int count, bool& passed) {
  std::int64_t length = call.milliseconds;
  passed = is_past(call, args, count);
  if (passed) return 0;
  std::int64_t n = 0;
  const bool given = call.ttl == RedisTtlKind::Argument && redis_number(ctx_.plan.domain, args[count - 1], n);
  CHECK_THAT(!given || redis_length(n, call.number, false, length));  // set() and expire() have refused it
  const std::uint8_t d = take_redis_deadline(ctx_, redis_);
  if (ctx_.seen != nullptr) ctx_.seen->deadlines_set.emplace_back(d, length);
  return d;
}

RedisReply RedisRun::set(const RedisCall& call, const CellId* args, int count) {
  const CellId key = args[0];
  const int slot = find(key);
  if (call.ttl == RedisTtlKind::Argument) {  // looked at before the key
    std::int64_t n = 0, length = 0;
    if (!redis_number(ctx_.plan.domain, args[count - 1], n)) return redis_error(ErrorClass::NotAnInteger);
    if (n <= 0 || !redis_length(n, call.number, false, length)) return redis_error(ErrorClass::Other);  // ERR invalid expire time
  }
  const RedisReply old = slot >= 0 ? redis_bulk(keys_.value(slot)) : RedisReply{};
  if ((call.nx && slot >= 0) || (call.xx && slot < 0)) {
    if (call.setnx) return redis_int(0);
    return call.get ? old : RedisReply{};
  }
  const RedisReply done = call.setnx ? redis_int(1) : call.get ? old : redis_kind(RedisReply::Kind::Ok);
  switch (call.ttl) {
    case RedisTtlKind::None: put(key, args[1], 0); break;  // a plain SET drops the time to live that was there
    case RedisTtlKind::Keep: put(key, args[1], slot >= 0 ? keys_.ttl(slot) : std::uint8_t{0}); break;
    default: {
      bool passed = false;
      const std::uint8_t d = deadline(call, args, count, passed);
      if (!passed) {
        put(key, args[1], d);
      } else if (slot >= 0) {
        remove(slot);
      } else {
        touch_watched(ctx_.plan, ctx_.w, redis_, node_, key);  // it was there for a moment
      }
    }
  }
  return done;
}

RedisReply RedisRun::increment(const RedisCall& call, const CellId* args, int count) {
  std::int64_t step = call.number;
  if (call.number_argument) {
    std::int64_t n = 0;
    if (!redis_number(ctx_.plan.domain, args[count - 1], n)) return redis_error(ErrorClass::NotAnInteger);
    if (__builtin_mul_overflow(call.number, n, &step)) return redis_error(ErrorClass::Other);  // DECRBY of the least number
  }
  const int slot = find(args[0]);
  std::int64_t n = 0;
  if (slot >= 0 && !redis_number(ctx_.plan.domain, keys_.value(slot), n)) return redis_error(ErrorClass::NotAnInteger);
  if (__builtin_add_overflow(n, step, &n)) return redis_error(ErrorClass::Other);  // ERR increment or decrement would overflow
  // A counter is its maker's: with a lock of INCR whoever gets 2 has not got it.
  put(args[0], storable(ctx_, int_val(n)), slot >= 0 ? keys_.ttl(slot) : std::uint8_t{0}, slot);
  return redis_int(n);
}

RedisReply RedisRun::expire(const RedisCall& call, const CellId* args, int count, int choice) {
  const int slot = find(args[0]);
  if (call.ttl == RedisTtlKind::Argument) {
    std::int64_t n = 0, length = 0;
    if (!redis_number(ctx_.plan.domain, args[count - 1], n)) return redis_error(ErrorClass::NotAnInteger);
    if (!redis_length(n, call.number, false, length)) return redis_error(ErrorClass::Other);  // ERR invalid expire time
  }
  if (slot < 0) return redis_int(0);
  const bool has = keys_.ttl(slot) != 0;
  // A key without one counts as endless: GT never, LT always.
  if ((call.nx && has) || (call.xx && !has) || (call.gt && !has)) return redis_int(0);
  bool passed = is_past(call, args, count);
  if (passed && call.gt) return redis_int(0);  // earlier than any time that is left
  if ((call.gt || call.lt) && has && !passed && choice == 1) return redis_int(0);
  const CellId value = keys_.value(slot);
  const std::uint8_t d = deadline(call, args, count, passed);
  if (passed) {
    remove(slot);
  } else {
    put(args[0], value, d, slot);
  }
  return redis_int(1);
}

RedisAnswer RedisRun::perform(const RedisCall& call, const CellId* args, int count, int choice) {
  RedisAnswer out;
  auto give = [&](const RedisReply& reply) { static_cast<RedisReply&>(out) = reply; };
  if (const ErrorClass why = refusal(call); why != ErrorClass::None) {
    give(redis_error(why));
    return out;
  }
  for (int i = 0; i < count; ++i) {
    // Client libraries refuse to send a NULL.
    if (args[i] == kNullCell) {
      give(redis_error(ErrorClass::Other));
      return out;
    }
  }
  const int slot = count > 0 ? find(args[0]) : -1;
  switch (call.op) {
    case RedisOp::Get: give(slot >= 0 ? redis_bulk(keys_.value(slot)) : RedisReply{}); break;
    case RedisOp::GetDel:
      give(slot >= 0 ? redis_bulk(keys_.value(slot)) : RedisReply{});
      if (slot >= 0) remove(slot);
      break;
    case RedisOp::MGet:
      give(redis_kind(RedisReply::Kind::List));
      for (; out.count < count; ++out.count) {
        const int at = find(args[out.count]);
        out.items[out.count] = at >= 0 ? redis_bulk(keys_.value(at)) : RedisReply{};
      }
      break;
    case RedisOp::Set: give(set(call, args, count)); break;
    case RedisOp::MSet:
      for (int i = 0; i + 1 < count; i += 2) put(args[i], args[i + 1], 0);
      give(redis_kind(RedisReply::Kind::Ok));
      break;
    case RedisOp::Del: {
      int n = 0;
      for (int i = 0; i < count; ++i) {
        const int at = find(args[i]);
        if (at < 0) continue;
        remove(at);
        ++n;
      }
      give(redis_int(n));
      break;
    }
    case RedisOp::Exists: {
      int n = 0;
      for (int i = 0; i < count; ++i) n += find(args[i]) >= 0 ? 1 : 0;
      give(redis_int(n));
      break;
    }
    case RedisOp::Incr: give(increment(call, args, count)); break;
    case RedisOp::Expire: give(expire(call, args, count, choice)); break;
    case RedisOp::Persist: {
      const bool runs = slot >= 0 && keys_.ttl(slot) != 0;
      if (runs) put(args[0], keys_.value(slot), 0, slot);
      give(redis_int(runs ? 1 : 0));
      break;
    }
    case RedisOp::Ttl:
      if (slot >= 0 && keys_.ttl(slot) != 0) {
        give({RedisReply::Kind::Left, ErrorClass::None, kNullCell, keys_.ttl(slot)});
      } else {
        give(redis_int(slot >= 0 ? -1 : -2));
      }
      break;
    case RedisOp::Type: give(redis_kind(slot >= 0 ? RedisReply::Kind::TypeString : RedisReply::Kind::TypeNone)); break;
    case RedisOp::DbSize: give(redis_int(keys_.count())); break;  // also what is hidden
    case RedisOp::Ping: give(redis_kind(RedisReply::Kind::Pong)); break;
    case RedisOp::Refused: give(redis_error(ErrorClass::Other)); break;
    default: CHECK_THAT(!"a command about the connection");
  }
  return out;
}

}  // namespace oncecheck

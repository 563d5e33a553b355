#include "model/program/redis_call_reader.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "model/program/diagnostic_log.hpp"
#include "model/world/redis_run.hpp"

namespace oncecheck {

namespace {

const std::vector<std::string> kKnown = {
    "SET",    "SETNX",  "SETEX",   "PSETEX",   "GET",       "GETSET",  "GETDEL", "MGET", "MSET", "DEL",  "UNLINK", "EXISTS", "INCR",
    "DECR",   "INCRBY", "DECRBY",  "EXPIRE",   "PEXPIRE",   "EXPIREAT", "PEXPIREAT", "PERSIST", "TTL", "PTTL", "TYPE", "DBSIZE", "PING",
    "WAIT",   "EVAL",   "MULTI",   "EXEC",     "DISCARD",   "WATCH",   "UNWATCH"};

// As Redis reads it: 07 is no number.
bool to_number(const std::string& text, std::int64_t& n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc() && end == text.data() + text.size() && text == std::to_string(n);
}

class CallReader {
 public:
  explicit CallReader(const std::vector<RedisWord>& words) : words_(words) {}

  RedisCallText read() {
    if (!words_[0].literal) {
      fail("the name of a Redis command is written out");
      return std::move(out_);
    }
    name_ = upper_case(*words_[0].literal);
    RedisCall& c = out_.call;
    if (name_ == "SET") {
      set();
    } else if (name_ == "GET") {
      fixed(RedisOp::Get, 1);
    } else if (name_ == "GETDEL") {
      fixed(RedisOp::GetDel, 1);
    } else if (name_ == "GETSET") {
      fixed(RedisOp::Set, 2);
      c.get = true;
    } else if (name_ == "SETNX") {
      fixed(RedisOp::Set, 2);
      c.nx = c.setnx = true;
    } else if (name_ == "SETEX" || name_ == "PSETEX") {
      if (wants(3)) {
        c.op = RedisOp::Set;
        take(1);
        take(3);
        length(2, name_ == "SETEX" ? 1000 : 1, false);
      }
    } else if (name_ == "MGET") {
      many(RedisOp::MGet);
    } else if (name_ == "MSET") {
      many(RedisOp::MSet);
      if (out_.args.size() % 2 != 0) fail("MSET takes keys and values by turns");
    } else if (name_ == "DEL" || name_ == "UNLINK") {
      many(RedisOp::Del);
    } else if (name_ == "EXISTS") {
      many(RedisOp::Exists);
    } else if (name_ == "WATCH") {
      many(RedisOp::Watch);
    } else if (name_ == "INCR" || name_ == "DECR") {
      fixed(RedisOp::Incr, 1);
      c.number = name_ == "INCR" ? 1 : -1;
    } else if (name_ == "INCRBY" || name_ == "DECRBY") {
      increment(name_ == "INCRBY" ? 1 : -1);
    } else if (name_ == "EXPIRE" || name_ == "PEXPIRE" || name_ == "EXPIREAT" || name_ == "PEXPIREAT") {
      expire();
    } else if (name_ == "PERSIST") {
      fixed(RedisOp::Persist, 1);
    } else if (name_ == "TTL" || name_ == "PTTL") {
      fixed(RedisOp::Ttl, 1);
      c.number = name_ == "TTL" ? 1000 : 1;
    } else if (name_ == "TYPE") {
      fixed(RedisOp::Type, 1);
    } else if (name_ == "WAIT") {
      wait();
    } else if (!without_arguments()) {
      out_.error = "the Redis command " + name_ + " is not modelled (" + alternatives(kKnown) + " are)";
      out_.hint = nearest_name(name_, kKnown);
    }
    return std::move(out_);
  }

 private:
  void fail(const std::string& message) {
    if (out_.error.empty()) out_.error = message;
  }
  void refuse(const std::string& message) {
    if (out_.error.empty()) out_.server_refuses = true;
    fail(message);
  }

  void take(std::size_t word) { out_.args.push_back(words_[word].handle); }

  bool wants(std::size_t n) {
    if (words_.size() == n + 1) return true;
    fail("the Redis command " + name_ + " takes " + std::to_string(n) + " argument(s), not " + std::to_string(words_.size() - 1));
    return false;
  }

  void fixed(RedisOp op, std::size_t n) {
    out_.call.op = op;
    if (!wants(n)) return;
    for (std::size_t i = 1; i <= n; ++i) take(i);
  }

  void many(RedisOp op) {
    out_.call.op = op;
    if (words_.size() < 2) fail("the Redis command " + name_ + " takes at least one key");
    if (words_.size() - 1 > kMaxRedisArgs) fail("the model takes at most " + std::to_string(kMaxRedisArgs) + " arguments of " + name_);
    for (std::size_t i = 1; i < words_.size(); ++i) take(i);
  }

  bool without_arguments() {
    static const std::pair<const char*, RedisOp> all[] = {
        {"DBSIZE", RedisOp::DbSize}, {"PING", RedisOp::Ping},       {"MULTI", RedisOp::Multi},
        {"EXEC", RedisOp::Exec},     {"DISCARD", RedisOp::Discard}, {"UNWATCH", RedisOp::Unwatch}};
    for (const auto& [name, op] : all) {
      if (name_ != name) continue;
      fixed(op, 0);
      return true;
    }
    return false;
  }

  // The word is a number of `unit` milliseconds.
  void length(std::size_t word, std::int64_t unit, bool absolute) {
    RedisCall& c = out_.call;
    if (!words_[word].literal) {
      if (absolute) fail("an absolute time of " + name_ + " is written out");
      c.ttl = RedisTtlKind::Argument;
      c.number = unit;
      take(word);
      return;
    }
    std::int64_t n = 0;
    if (!to_number(*words_[word].literal, n)) {
      refuse(name_ + " needs a number, not \"" + *words_[word].literal + "\"");
      return;
    }
    std::int64_t time = 0;
    if (!redis_length(n, unit, absolute, time)) {
      refuse("the time of " + name_ + " is too large");
      return;
    }
    if (n <= 0 && c.op == RedisOp::Set) refuse("the time to live of " + name_ + " is above zero");
    const bool passed = absolute ? time < kRedisNow : n <= 0;
    c.ttl = passed ? RedisTtlKind::Passed : RedisTtlKind::Runs;
    if (!absolute) c.milliseconds = time;
  }

  void set() {
    if (words_.size() < 3) {
      fail("SET takes a key and a value");
      return;
    }
    RedisCall& c = out_.call;
    c.op = RedisOp::Set;
    take(1);
    take(2);
    for (std::size_t i = 3; i < words_.size(); ++i) {
      const std::string option = words_[i].literal ? upper_case(*words_[i].literal) : "";
      if (option == "NX") {
        c.nx = true;
      } else if (option == "XX") {
        c.xx = true;
      } else if (option == "GET") {
        c.get = true;
      } else if (option == "KEEPTTL" && c.ttl == RedisTtlKind::None) {
        c.ttl = RedisTtlKind::Keep;
      } else if ((option == "EX" || option == "PX" || option == "EXAT" || option == "PXAT") && i + 1 < words_.size() &&
                 c.ttl == RedisTtlKind::None) {
        length(++i, option[0] == 'E' ? 1000 : 1, option.size() == 4);
      } else if (option == "KEEPTTL" || option == "EX" || option == "PX" || option == "EXAT" || option == "PXAT") {
        refuse("SET takes one of EX, PX, EXAT, PXAT and KEEPTTL, with its number");
      } else {
        refuse("SET does not know the option \"" + words_[i].literal.value_or("") + "\" (NX, XX, GET, EX, PX, EXAT, PXAT, KEEPTTL)");
      }
    }
    if (c.nx && c.xx) refuse("SET takes NX or XX, not both");
  }

  void increment(int sign) {
    RedisCall& c = out_.call;
    c.op = RedisOp::Incr;
    c.number = sign;
    if (!wants(2)) return;
    take(1);
    if (!words_[2].literal) {
      c.number_argument = true;
      take(2);
      return;
    }
    std::int64_t n = 0;
    if (!to_number(*words_[2].literal, n)) refuse(name_ + " needs a number, not \"" + *words_[2].literal + "\"");
    if (__builtin_mul_overflow(n, sign, &c.number)) refuse("the number of " + name_ + " is too large");
  }

  void expire() {
    RedisCall& c = out_.call;
    c.op = RedisOp::Expire;
    if (words_.size() < 3) {
      fail(name_ + " takes a key and a time");
      return;
    }
    take(1);
    for (std::size_t i = 3; i < words_.size(); ++i) {
      const std::string option = words_[i].literal ? upper_case(*words_[i].literal) : "";
      bool* flag = option == "NX" ? &c.nx : option == "XX" ? &c.xx : option == "GT" ? &c.gt : option == "LT" ? &c.lt : nullptr;
      if (flag == nullptr) {
        refuse(name_ + " does not know the option \"" + words_[i].literal.value_or("") + "\" (NX, XX, GT, LT)");
        return;
      }
      *flag = true;
    }
    length(2, name_[0] == 'P' ? 1 : 1000, name_.ends_with("AT"));
    if (c.nx && (c.xx || c.gt || c.lt)) refuse(name_ + " takes NX alone, without XX, GT and LT");
    if (c.gt && c.lt) refuse(name_ + " takes GT or LT, not both");
  }

  void wait() {
    RedisCall& c = out_.call;
    c.op = RedisOp::Wait;
    if (!wants(2)) return;
    std::int64_t replicas = 0, timeout = 0;
    const bool numbers = words_[1].literal && words_[2].literal && to_number(*words_[1].literal, replicas) && to_number(*words_[2].literal, timeout);
    if (!numbers || replicas < 0 || timeout < 0) {
      fail("WAIT takes a number of replicas and a time in milliseconds, both written out");
      return;
    }
    c.number = replicas;
    c.milliseconds = timeout;
  }

  const std::vector<RedisWord>& words_;
  std::string name_;
  RedisCallText out_;
};

}  // namespace

std::string upper_case(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return s;
}

RedisCallText read_redis_call(const std::vector<RedisWord>& words) { return CallReader(words).read(); }

}  // namespace oncecheck

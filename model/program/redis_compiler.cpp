#include "model/program/redis_compiler.hpp"

#include <algorithm>
#include <cctype>

#include "model/program/expr_compiler.hpp"
#include "model/program/lua_parser.hpp"
#include "model/program/redis_call_reader.hpp"
#include "model/program/redis_words.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxCommand = 64 * 1024;  // bytes
constexpr int kMaxNames = 16;                   // {:name} in one word

class RedisReader {
 public:
  RedisReader(CompileState& state, const Text& text, LocalNames& names, int redis)
      : state_(state), text_(text), names_(names) {
    out_.redis = redis;
    out_.text = text.value;
  }

  RedisCommand read(bool on_replica) {
    out_.on_replica = on_replica;
    if (text_.value.size() > kMaxCommand) {
      error("this Redis command is longer than 64 KiB");
      return out_;
    }
    if (!split()) return out_;
    if (words_.empty()) {
      error("an empty Redis command");
      return out_;
    }
    if (upper_case(words_[0]) == "EVAL") {
      script();
    } else {
      command();
    }
    if (on_replica && !reads_only()) error("\"replica\": a replica runs a command that reads, alone");
    words_of_answers();
    return out_;
  }

 private:
  void error(const std::string& message, const std::string& hint = {}) { state_.errors.add(text_.at, message, hint); }

  const Redis& part() const { return state_.scenario.redis[static_cast<std::size_t>(out_.redis)].second; }

  static bool reads_name(const std::string& word) { return (word.size() > 1 && word[0] == ':') || word.find("{:") != std::string::npos; }

  void command() {
    std::vector<RedisWord> words;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words.push_back({reads_name(words_[i]) ? std::nullopt : std::optional(words_[i]), static_cast<int>(i)});
    }
    RedisCallText read = read_redis_call(words);
    if (!read.error.empty()) {
      if (!read.server_refuses || !state_.options.run_refused) error(read.error, read.hint);
      read.call.op = RedisOp::Refused;
      read.args.clear();
    }
    out_.call = read.call;
    for (int i : read.args) out_.args.push_back(word(static_cast<std::size_t>(i)));
    if (out_.call.op == RedisOp::Wait && part().replicas == 0 && !state_.options.run_refused) {
      error("WAIT needs a replica: this redis has \"replicas\": 0");
    }
  }

  bool reads_only() const {
    switch (out_.call.op) {
      case RedisOp::Get:
      case RedisOp::MGet:
      case RedisOp::Exists:
      case RedisOp::Ttl:
      case RedisOp::Type: return true;
      default: return false;
    }
  }

  // Answers that are words must be in the domain.
  void words_of_answers() {
    if (out_.call.op == RedisOp::Multi) state_.intern("QUEUED");
    if (out_.call.op == RedisOp::Ping) state_.intern("PONG");
    if (out_.call.op != RedisOp::Type) return;
    state_.intern("string");
    state_.intern("none");
  }

  bool split() {
    const auto words = split_redis_words(text_.value);
    if (!words) {
      error("a quote in the Redis command is not closed");
      return false;
    }
    for (const RedisWordText& word : *words) words_.push_back(word.text);
    return true;
  }

  // "lock:{:key}" is text and a name; ":key" alone is a name.
  ExprId word(std::size_t number) {
    const std::string& w = words_[number];
    if (w.size() > 1 && w[0] == ':') return name(w);
    ExprId out = kNoExpr;
    auto append = [&](ExprId part) {
      if (out == kNoExpr) {
        out = part;
        return;
      }
      Node n;
      n.op = Op::Concat;
      n.a = out;
      n.b = part;
      out = state_.add(n);
    };
    check_braces(w);
    std::size_t from = 0;
    for (int names = 1;; ++names) {
      const std::size_t open = w.find("{:", from);
      if (open == std::string::npos) break;
      const std::size_t close = w.find('}', open);
      if (close == std::string::npos) {
        error("\"{:\" in the Redis command is not closed by \"}\"");
        break;
      }
      if (names > kMaxNames) {
        error("more than " + std::to_string(kMaxNames) + " {:name} in one word of a Redis command");
        break;
      }
      if (open > from) append(state_.text_constant(w.substr(from, open - from)));
      append(name(w.substr(open + 1, close - open - 1)));
      from = close + 1;
    }
    if (from < w.size() || out == kNoExpr) append(state_.text_constant(w.substr(from)));
    return out;
  }

  // {key} is a hash tag of Cluster, or a forgotten colon.
  void check_braces(const std::string& w) {
    for (std::size_t open = w.find('{'); open != std::string::npos; open = w.find('{', open + 1)) {
      const std::string inner = w.substr(open + 1, w.find('}', open) - open - 1);
      if (inner.empty() || inner[0] == ':' || !names_.has(inner)) continue;
      error("\"{" + inner + "}\" is plain text here, though \"" + inner + "\" is a field or a local; write {:" + inner + "}");
    }
  }

  ExprId name(const std::string& reference) {
    try {
      const sql::Expr e = sql::parse_expression(reference);
      ExprCompiler exprs(state_, text_, &names_, -1);
      return exprs.compile(e, Scope{}).id;
    } catch (const sql::SqlError&) {
      error("\"" + reference + "\" in the Redis command is no name");
      return state_.constant(null_val());
    }
  }

  void script() {
    std::size_t keys = 0;
    const bool numbered = words_.size() >= 3 && !words_[2].empty() && words_[2].size() < 3 &&
                          std::all_of(words_[2].begin(), words_[2].end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (numbered) keys = static_cast<std::size_t>(std::stoi(words_[2]));
    if (!numbered || words_.size() < 3 + keys) {
      error("EVAL takes a script, the number of its keys, the keys, then other arguments: EVAL '...' 1 KEY VALUE");
      return;
    }
    if (words_.size() - 3 > kMaxRedisArgs) {
      error("the model takes at most " + std::to_string(kMaxRedisArgs) + " keys and arguments of EVAL");
      return;
    }
    out_.call.op = RedisOp::Eval;
    out_.keys = static_cast<int>(keys);
    for (std::size_t i = 3; i < words_.size(); ++i) out_.args.push_back(word(i));
    try {
      LuaScript script = parse_lua(state_, words_[1]);
      out_.script = static_cast<int>(state_.program.plan.redis_scripts.size());
      state_.program.plan.redis_scripts.push_back(std::move(script));
    } catch (const LuaError& e) {
      error(std::string("the script of EVAL: ") + e.what());
    }
  }

  CompileState& state_;
  const Text& text_;
  LocalNames& names_;
  RedisCommand out_;
  std::vector<std::string> words_;
};

}  // namespace

RedisCommand compile_redis(CompileState& state, const Text& text, LocalNames& names, int redis, bool on_replica) {
  return RedisReader(state, text, names, redis).read(on_replica);
}

const std::vector<std::string>& redis_fields() {
  static const std::vector<std::string> fields = {"",        "count",   "answer1", "answer2", "answer3",
                                                  "answer4", "answer5", "answer6", "answer7", "answer8"};
  return fields;
}

}  // namespace oncecheck

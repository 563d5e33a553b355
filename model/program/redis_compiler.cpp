#include "model/program/redis_compiler.hpp"

#include <algorithm>
#include <cctype>

#include "model/program/expr_compiler.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

// The compare-and-delete script of the Redis manual ("Distributed locks"), without blanks and with one kind of quotes.
constexpr const char* kCompareAndDelete =
    "ifredis.call(\"get\",keys[1])==argv[1]thenreturnredis.call(\"del\",keys[1])elsereturn0end";

std::string normalized_script(const std::string& script) {
  std::string out;
  for (char c : script) {
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    out += c == '\'' ? '"' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string upper(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return s;
}

class RedisReader {
 public:
  RedisReader(CompileState& state, const Text& text, LocalNames& names, int redis)
      : state_(state), text_(text), names_(names) {
    out_.redis = redis;
    out_.text = text.value;
  }

  RedisCommand read() {
    if (!split() || words_.empty()) {
      if (words_.empty()) error("an empty Redis command");
      return out_;
    }
    const std::string name = upper(words_[0]);
    if (name == "GET" && wants(2)) {
      out_.kind = RedisKind::Get;
      out_.key = word(1);
    } else if (name == "DEL" && wants(2)) {
      out_.kind = RedisKind::Del;
      out_.key = word(1);
    } else if (name == "SETNX" && wants(3)) {
      out_.kind = RedisKind::Set;
      out_.nx = out_.setnx = true;
      out_.key = word(1);
      out_.value = word(2);
    } else if (name == "SET") {
      set();
    } else if (name == "EVAL") {
      script();
    } else if (name == "WAIT") {
      wait();
    } else if (name != "GET" && name != "DEL" && name != "SETNX") {
      static const std::vector<std::string> known = {"SET", "SETNX", "GET", "DEL", "EVAL", "WAIT"};
      error("the Redis command " + name + " is not modelled (SET, SETNX, GET, DEL, WAIT and the compare-and-delete script are)",
            nearest_name(name, known));
    }
    return out_;
  }

 private:
  void error(const std::string& message, const std::string& hint = {}) { state_.errors.add(text_.at, message, hint); }

  bool wants(std::size_t n) {
    if (words_.size() == n) return true;
    error("the Redis command " + upper(words_[0]) + " takes " + std::to_string(n - 1) + " argument(s), not " +
          std::to_string(words_.size() - 1));
    return false;
  }

  // Words at blanks; '...' and "..." keep theirs.
  bool split() {
    const std::string& s = text_.value;
    std::size_t i = 0;
    while (i < s.size()) {
      if (std::isspace(static_cast<unsigned char>(s[i]))) {
        ++i;
        continue;
      }
      std::string word;
      while (i < s.size() && !std::isspace(static_cast<unsigned char>(s[i]))) {
        const char quote = s[i];
        if (quote != '\'' && quote != '"') {
          word += s[i++];
          continue;
        }
        const std::size_t end = s.find(quote, i + 1);
        if (end == std::string::npos) {
          error("a quote in the Redis command is not closed");
          return false;
        }
        word += s.substr(i + 1, end - i - 1);
        i = end + 1;
      }
      words_.push_back(word);
    }
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
    std::size_t from = 0;
    for (;;) {
      const std::size_t open = w.find("{:", from);
      if (open == std::string::npos) break;
      const std::size_t close = w.find('}', open);
      if (close == std::string::npos) {
        error("\"{:\" in the Redis command is not closed by \"}\"");
        break;
      }
      if (open > from) append(state_.text_constant(w.substr(from, open - from)));
      append(name(w.substr(open + 1, close - open - 1)));
      from = close + 1;
    }
    if (from < w.size() || out == kNoExpr) append(state_.text_constant(w.substr(from)));
    return out;
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

  void set() {
    if (words_.size() < 3) {
      error("SET takes a key and a value");
      return;
    }
    out_.kind = RedisKind::Set;
    out_.key = word(1);
    out_.value = word(2);
    for (std::size_t i = 3; i < words_.size(); ++i) {
      const std::string option = upper(words_[i]);
      if (option == "NX") {
        out_.nx = true;
      } else if (option == "XX") {
        out_.xx = true;
      } else if (option == "KEEPTTL") {
        out_.keep_ttl = true;
      } else if ((option == "EX" || option == "PX") && i + 1 < words_.size()) {
        const std::string& n = words_[++i];
        const bool number = !n.empty() && std::all_of(n.begin(), n.end(), [](unsigned char c) { return std::isdigit(c); });
        if (!number && n[0] != ':') error("SET " + option + " needs a number, not \"" + n + "\"");
        out_.ttl = true;
      } else {
        error("SET does not know the option \"" + words_[i] + "\" (NX, XX, EX, PX, KEEPTTL)");
      }
    }
    if (out_.nx && out_.xx) error("SET takes NX or XX, not both");
    if (out_.ttl && out_.keep_ttl) error("SET takes EX/PX or KEEPTTL, not both");
  }

  void wait() {
    if (!wants(3)) return;
    out_.kind = RedisKind::Wait;
    const int replicas = state_.scenario.redis[static_cast<std::size_t>(out_.redis)].second.replicas;
    if (words_[1] != "1") error("WAIT is modelled for 1 replica, not for \"" + words_[1] + "\"");
    if (replicas == 0) error("WAIT needs a replica: this redis has \"replicas\": 0");
  }

  void script() {
    if (words_.size() < 2 || normalized_script(words_[1]) != kCompareAndDelete) {
      error("only the compare-and-delete script is modelled: if redis.call('GET', KEYS[1]) == ARGV[1] then return "
            "redis.call('DEL', KEYS[1]) else return 0 end");
      return;
    }
    if (words_.size() != 5 || words_[2] != "1") {
      error("the compare-and-delete script takes one key and one value: EVAL '...' 1 KEY VALUE");
      return;
    }
    out_.kind = RedisKind::DelIfEqual;
    out_.key = word(3);
    out_.value = word(4);
  }

  CompileState& state_;
  const Text& text_;
  LocalNames& names_;
  RedisCommand out_;
  std::vector<std::string> words_;
};

}  // namespace

RedisCommand compile_redis(CompileState& state, const Text& text, LocalNames& names, int redis) {
  return RedisReader(state, text, names, redis).read();
}

const std::vector<std::string>& redis_fields() {
  static const std::vector<std::string> fields = {"", "count"};
  return fields;
}

}  // namespace oncecheck

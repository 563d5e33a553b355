#include "model/program/lua_parser.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "model/program/redis_call_reader.hpp"
#include "model/world/redis_run.hpp"

namespace oncecheck {

namespace {

struct Token {
  enum class Kind { End, Name, Number, Text, Symbol };
  Kind kind = Kind::End;
  std::string text;
};

std::vector<Token> tokens_of(const std::string& s) {
  std::vector<Token> out;
  std::size_t i = 0;
  auto letter = [&](std::size_t at) { return at < s.size() && (std::isalnum(static_cast<unsigned char>(s[at])) != 0 || s[at] == '_'); };
  while (i < s.size()) {
    const char c = s[i];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (s.compare(i, 2, "--") == 0) {
      while (i < s.size() && s[i] != '\n') ++i;
    } else if (c == '\'' || c == '"') {
      std::string text;
      for (++i; i < s.size() && s[i] != c; ++i) {
        if (s[i] == '\\' && i + 1 < s.size()) ++i;
        text += s[i];
      }
      if (i == s.size()) throw LuaError("a string is not closed");
      ++i;
      out.push_back({Token::Kind::Text, text});
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      std::string number;
      while (letter(i) || (i < s.size() && s[i] == '.')) number += s[i++];
      out.push_back({Token::Kind::Number, number});
    } else if (letter(i)) {
      std::string name;
      while (letter(i)) name += s[i++];
      out.push_back({Token::Kind::Name, name});
    } else {
      const std::string two = s.substr(i, 2);
      const bool pair = two == "==" || two == "~=" || two == "<=" || two == ">=" || two == "..";
      out.push_back({Token::Kind::Symbol, pair ? two : std::string(1, c)});
      i += pair ? 2 : 1;
    }
  }
  out.push_back({});
  return out;
}

constexpr int kMaxDepth = 100;  // of parentheses and blocks, and of the terms of one expression

class LuaParser {
 public:
  LuaParser(CompileState& state, const std::string& text) : state_(state), tokens_(tokens_of(text)) {}

  LuaScript parse() {
    scopes_.emplace_back();
    s_.body = block();
    if (here().kind != Token::Kind::End) throw LuaError("\"" + here().text + "\" is not expected");
    return std::move(s_);
  }

 private:
  using Scope = std::vector<std::pair<std::string, int>>;

  const Token& here() const { return tokens_[at_]; }
  const Token& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool is(const std::string& text) const {
    return (here().kind == Token::Kind::Name || here().kind == Token::Kind::Symbol) && here().text == text;
  }
  bool accept(const std::string& text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(const std::string& text) {
    if (!accept(text)) throw LuaError("\"" + text + "\" is expected before \"" + here().text + "\"");
  }
  std::string name(const char* what) {
    if (here().kind != Token::Kind::Name) throw LuaError(std::string(what) + " is expected before \"" + here().text + "\"");
    return tokens_[at_++].text;
  }

  // While it lives the reader is one level deeper.
  class Level {
   public:
    explicit Level(LuaParser& parser) : parser_(parser) {
      if (++parser_.level_ > kMaxDepth) throw LuaError("it is nested too deeply");
    }
    ~Level() { --parser_.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    LuaParser& parser_;
  };

  int depth(int e) const { return e < 0 ? 0 : depths_[static_cast<std::size_t>(e)]; }

  int add(LuaExpr e) {
    int deepest = std::max(depth(e.a), depth(e.b));
    for (int member : e.list) deepest = std::max(deepest, depth(member));
    if (deepest == kMaxDepth) throw LuaError("an expression has too many terms");
    depths_.push_back(deepest + 1);
    s_.exprs.push_back(std::move(e));
    return static_cast<int>(s_.exprs.size()) - 1;
  }
  int add(LuaOp op, int a = -1, int b = -1, std::int64_t n = 0) {
    LuaExpr e;
    e.op = op;
    e.a = a;
    e.b = b;
    e.n = n;
    return add(std::move(e));
  }

  // ---- statements

  std::vector<LuaStatement> block() {
    static const std::set<std::string> ends = {"end", "else", "elseif"};
    const Level level(*this);
    std::vector<LuaStatement> out;
    scopes_.emplace_back();
    while (here().kind != Token::Kind::End && !(here().kind == Token::Kind::Name && ends.count(here().text) > 0)) {
      if (accept(";")) continue;
      out.push_back(statement());
      if (out.back().kind != LuaStatement::Kind::Return) continue;
      accept(";");
      const bool last = here().kind == Token::Kind::End || (here().kind == Token::Kind::Name && ends.count(here().text) > 0);
      if (!last) throw LuaError("\"return\" ends a block: \"" + here().text + "\" is not expected after it");
    }
    scopes_.pop_back();
    return out;
  }

  LuaStatement statement() {
    for (const char* word : {"while", "for", "repeat", "function", "goto", "break", "do"}) {
      if (is(word)) throw LuaError(std::string("\"") + word + "\" in a script is not modelled");
    }
    LuaStatement s;
    if (accept("if")) return if_statement();
    if (accept("return")) {
      s.kind = LuaStatement::Kind::Return;
      const bool bare = here().kind == Token::Kind::End || is("end") || is("else") || is("elseif") || is(";");
      if (!bare) s.expr = expression();
      return s;
    }
    if (accept("local")) {
      const std::string local = name("the name of a local");
      if (is(",")) throw LuaError("several locals in one statement are not modelled");
      s.kind = LuaStatement::Kind::Assign;
      s.expr = accept("=") ? expression() : add(LuaOp::Nil);
      s.local = declare(local);
      assigned(s);
      return s;
    }
    if (here().kind == Token::Kind::Name && next().text == "=" && next().kind == Token::Kind::Symbol) {
      const std::string local = name("the name of a local");
      s.local = find(local);
      if (s.local < 0) throw LuaError("\"" + local + "\" is no local: Redis refuses global variables");
      expect("=");
      s.kind = LuaStatement::Kind::Assign;
      s.expr = expression();
      assigned(s);
      return s;
    }
    s.kind = LuaStatement::Kind::Do;
    s.expr = expression();
    const LuaOp op = s_.exprs[static_cast<std::size_t>(s.expr)].op;
    if (op != LuaOp::Call && op != LuaOp::PCall) throw LuaError("a statement is expected before \"" + here().text + "\"");
    return s;
  }

  // A script has no loops: what a local may hold comes from an assignment above.
  void assigned(const LuaStatement& s) {
    whole(s.expr);
    if (lists_.count(s.expr) > 0) list_locals_.insert(s.local);
  }

  LuaStatement if_statement() {
    const Level level(*this);
    LuaStatement s;
    s.kind = LuaStatement::Kind::If;
    s.expr = expression();
    expect("then");
    s.then = block();
    if (accept("elseif")) {
      s.otherwise.push_back(if_statement());
      return s;
    }
    if (accept("else")) s.otherwise = block();
    expect("end");
    return s;
  }

  int declare(const std::string& local) {
    if (s_.locals == kMaxLuaLocals) throw LuaError("more than " + std::to_string(kMaxLuaLocals) + " locals");
    scopes_.back().emplace_back(local, s_.locals);
    return s_.locals++;
  }

  int find(const std::string& local) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      for (auto it = scope->rbegin(); it != scope->rend(); ++it) {
        if (it->first == local) return it->second;
      }
    }
    return -1;
  }

  // ---- expressions, from the weakest operator

  int expression() {
    const Level level(*this);
    int a = conjunction();
    while (accept("or")) {
      a = either(LuaOp::Or, a, conjunction());
    }
    return a;
  }

  int either(LuaOp op, int a, int b) {
    whole(a);
    whole(b);
    const bool list = lists_.count(a) + lists_.count(b) > 0;
    const int e = add(op, a, b);
    if (list) lists_.insert(e);
    return e;
  }

  int conjunction() {
    int a = comparison();
    while (accept("and")) {
      a = either(LuaOp::And, a, comparison());
    }
    return a;
  }

  int comparison() {
    int a = sum();
    for (;;) {
      static const char* const symbols[] = {"==", "~=", "<", "<=", ">", ">="};
      const auto it = std::find_if(std::begin(symbols), std::end(symbols), [&](const char* s) { return is(s); });
      if (it == std::end(symbols)) return a;
      const std::string symbol = *it;
      ++at_;
      const int b = sum();
      whole(a);
      whole(b);
      if (symbol == "==") a = add(LuaOp::Equal, a, b);
      if (symbol == "~=") a = add(LuaOp::Not, add(LuaOp::Equal, a, b));
      if (symbol == "<") a = add(LuaOp::Less, a, b);
      if (symbol == "<=") a = add(LuaOp::LessEqual, a, b);
      // n = 1: the right operand is evaluated first, as it stands on the left.
      if (symbol == ">") a = add(LuaOp::Less, b, a, 1);
      if (symbol == ">=") a = add(LuaOp::LessEqual, b, a, 1);
    }
  }

  int sum() {
    int a = unary();
    for (;;) {
      for (const char* symbol : {"..", "*", "/", "%", "^"}) {
        if (is(symbol)) throw LuaError(std::string("the operator ") + symbol + " in a script is not modelled");
      }
      const bool plus = is("+");
      if (!plus && !is("-")) return a;
      ++at_;
      const int b = unary();
      whole(a);
      whole(b);
      a = add(plus ? LuaOp::Add : LuaOp::Subtract, a, b);
    }
  }

  // A fraction is cut off in an answer; elsewhere the model does not follow it.
  void whole(int e) const {
    if (fractions_.count(e) > 0) throw LuaError("a number with a fraction is modelled only as an answer");
  }

  int unary() {
    const Level level(*this);
    if (accept("not")) return add(LuaOp::Not, unary());
    if (is("#")) throw LuaError("the operator # in a script is not modelled");
    if (accept("-")) {
      const int a = unary();
      whole(a);
      return add(LuaOp::Subtract, add(LuaOp::Number), a);
    }
    return primary();
  }

  int primary() {
    const Token t = here();
    if (t.kind == Token::Kind::Number) {
      ++at_;
      return number(t.text);
    }
    if (t.kind == Token::Kind::Text) {
      ++at_;
      return text(LuaOp::Text, t.text);
    }
    if (accept("(")) {
      const int e = expression();
      expect(")");
      return e;
    }
    if (accept("{")) return table();
    if (t.kind != Token::Kind::Name) throw LuaError("a value is expected before \"" + t.text + "\"");
    ++at_;
    if (t.text == "nil") return add(LuaOp::Nil);
    if (t.text == "true") return add(LuaOp::True);
    if (t.text == "false") return add(LuaOp::False);
    if (t.text == "KEYS" || t.text == "ARGV") return element(t.text);
    if (t.text == "redis") return redis_function();
    if (t.text == "tonumber" || t.text == "tostring") {
      expect("(");
      const int e = expression();
      whole(e);
      expect(")");
      if (t.text == "tonumber") return add(LuaOp::ToNumber, e);
      LuaExpr out;
      out.op = LuaOp::ToText;
      out.a = e;
      for (const char* word : {"nil", "false", "true"}) out.list.push_back(text(LuaOp::Text, word));  // as LuaValue has them
      return add(std::move(out));
    }
    const int local = find(t.text);
    if (local < 0) throw LuaError("the name \"" + t.text + "\" in a script is not known");
    if (is("[") || is(".")) throw LuaError("members of \"" + t.text + "\" are not modelled");
    const int e = add(LuaOp::Local, -1, -1, local);
    if (list_locals_.count(local) > 0) lists_.insert(e);
    return e;
  }

  int number(const std::string& text) {
    std::size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])) != 0) ++digits;
    const bool fraction = digits + 1 < text.size() && text[digits] == '.' &&
                          std::all_of(text.begin() + static_cast<std::ptrdiff_t>(digits) + 1, text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    if ((digits != text.size() && !fraction) || digits > 15) throw LuaError("the number " + text + " in a script is not modelled");
    const int e = add(LuaOp::Number, -1, -1, std::stoll(text.substr(0, digits)));
    if (fraction) fractions_.insert(e);
    return e;
  }

  int text(LuaOp op, const std::string& value) {
    LuaExpr e;
    e.op = op;
    e.text = state_.text_constant(value);
    const int id = add(std::move(e));
    literals_.emplace(id, value);
    return id;
  }

  int element(const std::string& list) {
    expect("[");
    const Token t = here();
    if (t.kind != Token::Kind::Number || t.text.find_first_not_of("0123456789") != std::string::npos || t.text.size() > 3 || t.text == "0") {
      throw LuaError(list + "[...] needs a number that is written out");
    }
    ++at_;
    expect("]");
    return add(list == "KEYS" ? LuaOp::Key : LuaOp::Argument, -1, -1, std::stoll(t.text) - 1);
  }

  int redis_function() {
    expect(".");
    const std::string function = name("a function of redis");
    if (function == "error_reply" || function == "status_reply") {
      expect("(");
      if (here().kind != Token::Kind::Text) throw LuaError("redis." + function + " needs a text that is written out");
      const std::string words = tokens_[at_++].text;
      expect(")");
      return text(function == "error_reply" ? LuaOp::Error : LuaOp::Status, words);
    }
    if (function != "call" && function != "pcall") throw LuaError("redis." + function + " is not modelled");
    expect("(");
    std::vector<RedisWord> words;
    do {
      const int e = expression();
      whole(e);
      words.push_back({literal(e), e});
    } while (accept(","));
    expect(")");
    return call(function == "call" ? LuaOp::Call : LuaOp::PCall, words);
  }

  std::optional<std::string> literal(int e) const {
    const LuaExpr& expr = s_.exprs[static_cast<std::size_t>(e)];
    if (expr.op == LuaOp::Number) return std::to_string(expr.n);
    const auto it = literals_.find(e);
    return it == literals_.end() || expr.op != LuaOp::Text ? std::nullopt : std::optional(it->second);
  }

  int call(LuaOp op, const std::vector<RedisWord>& words) {
    RedisCallText read = read_redis_call(words);
    if (!read.error.empty()) throw LuaError(read.error);
    switch (read.call.op) {
      case RedisOp::Ttl:
        throw LuaError("TTL in a script is not modelled: the model does not count time");
      case RedisOp::Wait:
      case RedisOp::Multi:
      case RedisOp::Exec:
      case RedisOp::Discard:
      case RedisOp::Watch:
      case RedisOp::Unwatch: throw LuaError("a script cannot call " + upper_case(words[0].literal.value_or("")));
      default: break;
    }
    if (read.call.gt || read.call.lt) throw LuaError("EXPIRE with GT or LT in a script is not modelled");
    LuaExpr e;
    e.op = op;
    e.call = read.call;
    e.list = read.args;
    return read.call.op == RedisOp::MGet ? add_list(std::move(e)) : add(std::move(e));
  }

  int table() {
    if (here().kind == Token::Kind::Name && next().text == "=" && (is("err") || is("ok"))) {
      const bool error = is("err");
      at_ += 2;
      if (here().kind != Token::Kind::Text) throw LuaError("the text of an answer is written out");
      const std::string words = tokens_[at_++].text;
      expect("}");
      return text(error ? LuaOp::Error : LuaOp::Status, words);
    }
    LuaExpr e;
    e.op = LuaOp::Table;
    while (!is("}")) {
      const int member = expression();
      if (lists_.count(member) > 0) throw LuaError("a list in a list is not modelled");
      e.list.push_back(member);
      if (!accept(",") && !accept(";")) break;
    }
    expect("}");
    if (e.list.size() > kMaxRedisItems) throw LuaError("an answer of more than " + std::to_string(kMaxRedisItems) + " items");
    return add_list(std::move(e));
  }

  int add_list(LuaExpr e) {
    if (++list_count_ > kMaxLuaLists) throw LuaError("more than " + std::to_string(kMaxLuaLists) + " lists, of MGET and of {...}");
    const int out = add(std::move(e));
    lists_.insert(out);
    return out;
  }

  CompileState& state_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  LuaScript s_;
  std::vector<Scope> scopes_;
  std::set<int> fractions_;
  std::set<int> lists_, list_locals_;  // expressions and locals that may be a list
  std::vector<int> depths_;            // by expression
  int level_ = 0, list_count_ = 0;
  std::map<int, std::string> literals_;
};

}  // namespace

LuaScript parse_lua(CompileState& state, const std::string& text) { return LuaParser(state, text).parse(); }

}  // namespace oncecheck

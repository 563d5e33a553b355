// Scripts: a subset of Lua 5.1 as Redis runs it (redis.io "Scripting with Lua"; script_lua.c of Redis 7.0). Strings and numbers
// are different values; a missing key is false; an answer of false or nil is nil.
#include <array>
#include <string_view>

#include "model/world/redis_run.hpp"

namespace oncecheck {

namespace {

struct LuaValue {
  enum class Kind : std::uint8_t { Nil, False, True, Number, Text, Status, Error, List };
  Kind kind = Kind::Nil;
  std::int64_t n = 0;
  CellId cell = kNullCell;
  ErrorClass error = ErrorClass::None;

  bool truthy() const { return kind != Kind::Nil && kind != Kind::False; }
};

class LuaRun {
 public:
  LuaRun(Context& ctx, RedisRun& run, const LuaScript& script, const CellId* keys, int key_count, const CellId* args, int arg_count)
      : ctx_(ctx), run_(run), s_(script), keys_(keys), key_count_(key_count), args_(args), arg_count_(arg_count) {}

  RedisAnswer run() {
    if (!block(s_.body)) result_ = {};
    if (failed_ != ErrorClass::None) {
      RedisAnswer out;
      static_cast<RedisReply&>(out) = redis_error(failed_);
      out.cell = error_text_;
      return out;
    }
    if (result_.kind == LuaValue::Kind::List) return list_;
    RedisAnswer out;
    static_cast<RedisReply&>(out) = reply_of(result_);
    return out;
  }

 private:
  using K = LuaValue::Kind;

  // True when the script has ended.
  bool block(const std::vector<LuaStatement>& statements) {
    for (const LuaStatement& s : statements) {
      if (failed_ != ErrorClass::None || ctx_.limit) return true;
      switch (s.kind) {
        case LuaStatement::Kind::Assign: locals_[static_cast<std::size_t>(s.local)] = eval_lua(s.expr); break;
        case LuaStatement::Kind::Do: eval_lua(s.expr); break;
        case LuaStatement::Kind::If:
          if (block(eval_lua(s.expr).truthy() ? s.then : s.otherwise)) return true;
          break;
        case LuaStatement::Kind::Return:
          result_ = s.expr < 0 ? LuaValue{} : eval_lua(s.expr);
          if (result_.kind == K::Error) {
            fail(result_.error);
            error_text_ = result_.cell;
          }
          return true;
      }
    }
    return failed_ != ErrorClass::None;
  }

  void fail(ErrorClass e) {
    if (failed_ == ErrorClass::None) failed_ = e;
  }

  static LuaValue number(std::int64_t n) { return {K::Number, n, kNullCell, ErrorClass::None}; }
  static LuaValue truth(bool b) { return {b ? K::True : K::False, 0, kNullCell, ErrorClass::None}; }
  static LuaValue text(CellId cell) { return {K::Text, 0, cell, ErrorClass::None}; }

  LuaValue element(const CellId* from, int count, std::int64_t i) const {
    return i < count ? text(from[i]) : LuaValue{};
  }

  LuaValue eval_lua(int id) {
    if (failed_ != ErrorClass::None) return {};
    const LuaExpr& e = s_.exprs[static_cast<std::size_t>(id)];
    switch (e.op) {
      case LuaOp::Nil: return {};
      case LuaOp::True: return truth(true);
      case LuaOp::False: return truth(false);
      case LuaOp::Number: return number(e.n);
      case LuaOp::Text: return text(eval_cell(ctx_, e.text));
      case LuaOp::Key: return element(keys_, key_count_, e.n);
      case LuaOp::Argument: return element(args_, arg_count_, e.n);
      case LuaOp::Local: return locals_[static_cast<std::size_t>(e.n)];
      case LuaOp::Call: return call(e, false);
      case LuaOp::PCall: return call(e, true);
      case LuaOp::Not: return truth(!eval_lua(e.a).truthy());
      case LuaOp::And: {
        const LuaValue a = eval_lua(e.a);
        return a.truthy() ? eval_lua(e.b) : a;
      }
      case LuaOp::Or: {
        const LuaValue a = eval_lua(e.a);
        return a.truthy() ? a : eval_lua(e.b);
      }
      case LuaOp::Equal: {
        const LuaValue a = eval_lua(e.a), b = eval_lua(e.b);
        return truth(equal(a, b));
      }
      case LuaOp::Less:
      case LuaOp::LessEqual:
      case LuaOp::Add:
      case LuaOp::Subtract: return arithmetic(e);
      case LuaOp::ToNumber: {
        const LuaValue a = eval_lua(e.a);
        std::int64_t n = 0;
        if (a.kind == K::Number) return a;
        return a.kind == K::Text && lua_number(a.cell, n) ? number(n) : LuaValue{};
      }
      case LuaOp::ToText: {
        const LuaValue a = eval_lua(e.a);
        return a.kind == K::Number ? text(storable(ctx_, int_val(a.n))) : a;
      }
      case LuaOp::Table: return table(e);
      case LuaOp::Error: return {K::Error, 0, eval_cell(ctx_, e.text), ErrorClass::Other};
      case LuaOp::Status: return {K::Status, 0, eval_cell(ctx_, e.text), ErrorClass::None};
    }
    return {};
  }

  bool equal(const LuaValue& a, const LuaValue& b) const {
    if (a.kind != b.kind) return false;
    if (a.kind == K::Number) return a.n == b.n;
    if (a.kind == K::Text) return ctx_.plan.redis_string[a.cell] == ctx_.plan.redis_string[b.cell];
    return a.kind == K::Nil || a.kind == K::True || a.kind == K::False;  // tables are never the same table
  }

  // What Lua takes for a number is more than what Redis does: blanks around it, zeros and a + in front.
  bool lua_number(CellId cell, std::int64_t& n) {
    if (redis_number(ctx_.plan.domain, cell, n)) return true;
    const Val v = ctx_.plan.domain.decode(cell);
    if (v.kind != Kind::Text || v.n == kUnknownText) return false;
    std::string_view t = ctx_.plan.domain.text(v.n);
    while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
    while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
    const bool minus = !t.empty() && t.front() == '-';
    if (minus || (!t.empty() && t.front() == '+')) t.remove_prefix(1);
    if (t.empty() || (t.front() != '.' && (t.front() < '0' || t.front() > '9'))) return false;
    n = 0;
    for (const char c : t) {
      if (c < '0' || c > '9' || n > (1ll << 50)) {
        ctx_.fail(LimitKind::UnknownText);  // perhaps a fraction, an exponent, a hexadecimal number
        return false;
      }
      n = 10 * n + (c - '0');
    }
    if (minus) n = -n;
    return true;
  }

  // Lua takes a string for a number in + and -, but not in comparisons.
  bool operand(const LuaValue& v, bool coerces, std::int64_t& n) {
    if (v.kind == K::Number) {
      n = v.n;
      return true;
    }
    if (coerces && v.kind == K::Text && lua_number(v.cell, n)) return true;
    fail(ErrorClass::Other);
    return false;
  }

  LuaValue arithmetic(const LuaExpr& e) {
    const LuaValue left = eval_lua(e.a), right = eval_lua(e.b);
    const bool sum = e.op == LuaOp::Add || e.op == LuaOp::Subtract;
    std::int64_t a = 0, b = 0;
    if (!operand(left, sum, a) || !operand(right, sum, b)) return {};
    switch (e.op) {
      case LuaOp::Less: return truth(a < b);
      case LuaOp::LessEqual: return truth(a <= b);
      case LuaOp::Add: return number(a + b);
      default: return number(a - b);
    }
  }

  LuaValue call(const LuaExpr& e, bool caught) {
    CellId args[kMaxRedisArgs];
    int count = 0;
    for (int id : e.list) {
      const LuaValue v = eval_lua(id);
      if (v.kind == K::Number) {
        args[count++] = storable(ctx_, int_val(v.n));
      } else if (v.kind == K::Text) {
        args[count++] = v.cell;
      } else {
        fail(ErrorClass::Other);
        return {};
      }
    }
    for (int i = 0; i < count; ++i) {
      if (is_key(e.call, i)) args[i] = ctx_.plan.redis_string[args[i]];
    }
    const RedisAnswer answer = run_.perform(e.call, args, count, 0);
    if (answer.failed() && !caught) {
      fail(answer.error);
      return {};
    }
    switch (answer.kind) {
      case RedisReply::Kind::Int: return number(answer.n);
      case RedisReply::Kind::Bulk: return text(answer.cell);
      case RedisReply::Kind::Nil: return truth(false);
      case RedisReply::Kind::Error: return {K::Error, 0, kNullCell, answer.error};
      case RedisReply::Kind::List: list_ = answer; return {K::List, 0, kNullCell, ErrorClass::None};
      default: return {K::Status, static_cast<std::int64_t>(answer.kind), kNullCell, ErrorClass::None};
    }
  }

  RedisReply reply_of(const LuaValue& v) const {
    switch (v.kind) {
      case K::Nil:
      case K::False:
      case K::List: return {};
      case K::True: return redis_int(1);
      case K::Number: return redis_int(v.n);
      case K::Text: return redis_bulk(v.cell);
      case K::Error: return redis_error(v.error);
      case K::Status:
        if (v.cell != kNullCell) return {RedisReply::Kind::Text, ErrorClass::None, v.cell, 0};
        return redis_kind(static_cast<RedisReply::Kind>(v.n));
    }
    return {};
  }

  LuaValue table(const LuaExpr& e) {
    RedisAnswer out;
    static_cast<RedisReply&>(out) = redis_kind(RedisReply::Kind::List);
    for (int id : e.list) {
      const LuaValue v = eval_lua(id);
      if (v.kind == K::Nil) break;  // an answer ends before the first nil
      out.items[out.count++] = reply_of(v);
    }
    list_ = out;
    return {K::List, 0, kNullCell, ErrorClass::None};
  }

  Context& ctx_;
  RedisRun& run_;
  const LuaScript& s_;
  const CellId* keys_;
  int key_count_;
  const CellId* args_;
  int arg_count_;
  std::array<LuaValue, kMaxLuaLocals> locals_{};
  LuaValue result_;
  RedisAnswer list_;
  ErrorClass failed_ = ErrorClass::None;
  CellId error_text_ = kNullCell;  // of an error that the script itself answers
};

}  // namespace

RedisAnswer RedisRun::script(const LuaScript& script, const CellId* keys, int key_count, const CellId* args, int arg_count) {
  return LuaRun(ctx_, *this, script, keys, key_count, args, arg_count).run();
}

}  // namespace oncecheck

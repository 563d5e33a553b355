// Scripts: a subset of Lua 5.1 as Redis runs it (redis.io "Scripting with Lua"; script_lua.c of Redis 7.0). Strings and numbers
// are different values; a missing key is false; an answer of false or nil is nil.
#include <array>
#include <charconv>
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
  int table = 0;  // List, Status, Error: which one, by when it was made

  bool truthy() const { return kind != Kind::Nil && kind != Kind::False; }
};

// A number of Lua is a double: above this it is not exact.
constexpr std::int64_t kMostExact = 1ll << 53;

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
    if (result_.kind == LuaValue::Kind::List) return lists_[static_cast<std::size_t>(result_.n)];
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

  static LuaValue number(std::int64_t n) { return {K::Number, n, kNullCell, ErrorClass::None, 0}; }
  static LuaValue truth(bool b) { return {b ? K::True : K::False, 0, kNullCell, ErrorClass::None, 0}; }
  static LuaValue text(CellId cell) { return {K::Text, 0, cell, ErrorClass::None, 0}; }

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
        if (a.kind == K::Number) return number_text(a.n);
        if (a.kind == K::Text) return a;
        if (a.kind <= K::True) return eval_lua(e.list[static_cast<std::size_t>(a.kind)]);
        if (failed_ == ErrorClass::None) ctx_.fail(LimitKind::UnknownText);  // the address of a table
        return {};
      }
      case LuaOp::Table: return table(e);
      case LuaOp::Error: return made({K::Error, 0, eval_cell(ctx_, e.text), ErrorClass::Other, 0});
      case LuaOp::Status: return made({K::Status, 0, eval_cell(ctx_, e.text), ErrorClass::None, 0});
    }
    return {};
  }

  bool equal(const LuaValue& a, const LuaValue& b) const {
    if (a.kind != b.kind) return false;
    if (a.kind == K::Number) return a.n == b.n;
    if (a.kind == K::Text) return ctx_.plan.redis_string[a.cell] == ctx_.plan.redis_string[b.cell];
    return a.table == b.table;  // a table is equal to itself only; statuses and errors are tables
  }

  // What Lua takes for a number is more than what Redis does: blanks around it, zeros and a + in front.
  bool lua_number(CellId cell, std::int64_t& n) {
    if (redis_number(ctx_.plan.domain, cell, n)) {
      if (n > kMostExact || n < -kMostExact) ctx_.fail(LimitKind::IntRange);
      return n <= kMostExact && n >= -kMostExact;
    }
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

  // tostring prints 14 digits.
  LuaValue number_text(std::int64_t n) {
    constexpr std::int64_t most = 100'000'000'000'000;
    if (n >= most || n <= -most) ctx_.fail(LimitKind::UnknownText);
    return text(storable(ctx_, int_val(n)));
  }

  std::string_view characters(CellId cell, std::array<char, 24>& digits) {
    const Val v = ctx_.plan.domain.decode(cell);
    if (v.kind == Kind::Text && v.n != kUnknownText) return ctx_.plan.domain.text(v.n);
    if (v.kind != Kind::Int) {
      ctx_.fail(LimitKind::UnknownText);
      return {};
    }
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), v.n).ptr;
    return {digits.data(), static_cast<std::size_t>(end - digits.data())};
  }

  // Byte by byte: a server without a locale.
  int compare(CellId a, CellId b) {
    std::array<char, 24> left{}, right{};
    return characters(a, left).compare(characters(b, right));
  }

  LuaValue arithmetic(const LuaExpr& e) {
    const bool swapped = e.n == 1;  // a > b is b < a, but a is evaluated first
    const LuaValue first = eval_lua(swapped ? e.b : e.a), second = eval_lua(swapped ? e.a : e.b);
    const LuaValue &left = swapped ? second : first, &right = swapped ? first : second;
    const bool sum = e.op == LuaOp::Add || e.op == LuaOp::Subtract;
    if (!sum && left.kind == K::Text && right.kind == K::Text) {
      const int order = compare(left.cell, right.cell);
      return truth(e.op == LuaOp::Less ? order < 0 : order <= 0);
    }
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
    bool fits = true;
    for (int id : e.list) {
      const LuaValue v = eval_lua(id);
      if (v.kind == K::Number) {
        args[count++] = storable(ctx_, int_val(v.n));
      } else if (v.kind == K::Text) {
        args[count++] = v.cell;
      } else {
        fits = false;  // the other arguments are evaluated nevertheless
      }
    }
    if (failed_ != ErrorClass::None) return {};
    if (!fits && caught) return made({K::Error, 0, kNullCell, ErrorClass::Other, 0});
    if (!fits) {
      fail(ErrorClass::Other);
      return {};
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
      case RedisReply::Kind::Error: return made({K::Error, 0, kNullCell, answer.error, 0});
      case RedisReply::Kind::List: return list(answer);
      default: return made({K::Status, static_cast<std::int64_t>(answer.kind), kNullCell, ErrorClass::None, 0});
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

  LuaValue made(LuaValue table) {
    table.table = ++tables_;
    return table;
  }

  LuaValue list(const RedisAnswer& items) {
    CHECK_THAT(list_count_ < kMaxLuaLists);  // the parser counts, and nothing runs twice
    lists_[static_cast<std::size_t>(list_count_)] = items;
    return made({K::List, list_count_++, kNullCell, ErrorClass::None, 0});
  }

  LuaValue table(const LuaExpr& e) {
    RedisAnswer out;
    static_cast<RedisReply&>(out) = redis_kind(RedisReply::Kind::List);
    bool ended = false;
    for (int id : e.list) {
      const LuaValue v = eval_lua(id);
      ended = ended || v.kind == K::Nil;  // an answer ends before the first nil, but what follows has been evaluated
      if (!ended) out.items[out.count++] = reply_of(v);
    }
    return list(out);
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
  std::array<RedisAnswer, kMaxLuaLists> lists_{};  // by the number in its value
  int list_count_ = 0, tables_ = 0;
  ErrorClass failed_ = ErrorClass::None;
  CellId error_text_ = kNullCell;  // of an error that the script itself answers
};

}  // namespace

RedisAnswer RedisRun::script(const LuaScript& script, const CellId* keys, int key_count, const CellId* args, int arg_count) {
  return LuaRun(ctx_, *this, script, keys, key_count, args, arg_count).run();
}

}  // namespace oncecheck

#include "model/world/arithmetic.hpp"

#include <cstdint>

namespace oncecheck {

namespace {

bool is_now(Kind k) { return k == Kind::NowRel || k == Kind::ClockRel; }

Val number(Context& ctx, Op op, std::int64_t a, std::int64_t b, std::uint8_t range) {
  std::int64_t n = 0;
  const bool overflows = op == Op::Add   ? __builtin_add_overflow(a, b, &n)
                         : op == Op::Sub ? __builtin_sub_overflow(a, b, &n)
                                         : __builtin_mul_overflow(a, b, &n);
  if (overflows || (range == kInt4 && (n < INT32_MIN || n > INT32_MAX)) || (range == kUnsigned && n < 0)) {
    ctx.raise(ErrorClass::OutOfRange);
    return null_val();
  }
  return int_val(n);
}

Val length(Context& ctx, Op op, Kind kind, std::int64_t a, std::int64_t b) {
  Val n = number(ctx, op, a, b, kInt8);
  if (!n.is_null()) n.kind = kind;
  return n;
}

// a / b in units of 1 / scale, rounded half away from zero as MySQL rounds decimals.
Val rounded(Context& ctx, Kind kind, std::int64_t a, std::int64_t b, std::int64_t scale) {
  const __int128 dividend = static_cast<__int128>(a) * scale;
  __int128 n = dividend / b;
  const __int128 rest = dividend % b;
  const __int128 twice = (rest < 0 ? -rest : rest) * 2, whole = b < 0 ? -static_cast<__int128>(b) : b;
  if (twice >= whole) n += (dividend < 0) == (b < 0) ? 1 : -1;
  if (n < INT64_MIN || n > INT64_MAX) {
    ctx.raise(ErrorClass::OutOfRange);
    return null_val();
  }
  return {kind, static_cast<std::int64_t>(n)};
}

Val divide(Context& ctx, Op op, std::int64_t a, std::int64_t b, std::uint8_t range) {
  if (b == 0) {
    if (!ctx.null_for_zero) ctx.raise(ErrorClass::DivisionByZero);
    return null_val();
  }
  if (op == Op::Quotient) return rounded(ctx, Kind::Decimal, a, b, kDecimalUnit);
  if (op == Op::RoundedQuotient) return rounded(ctx, Kind::Int, a, b, 1);
  if (b == -1) return op == Op::Mod ? int_val(0) : number(ctx, Op::Sub, 0, a, range);
  return int_val(op == Op::Div ? a / b : a % b);
}

}  // namespace

Val arithmetic(Context& ctx, Op op, const Val& a, const Val& b, std::uint8_t range) {
  if (a.is_null() || b.is_null()) return null_val();
  const bool sum = op == Op::Add || op == Op::Sub;
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    return sum || op == Op::Mul ? number(ctx, op, a.n, b.n, range) : divide(ctx, op, a.n, b.n, range);
  }
  if (b.kind == Kind::Interval) {
    if (sum && (is_now(a.kind) || a.kind == Kind::Interval)) return length(ctx, op, a.kind, a.n, b.n);
    if (op == Op::Mul && a.kind == Kind::Int) return length(ctx, op, Kind::Interval, a.n, b.n);
  }
  if (a.kind == Kind::Interval) {
    if (op == Op::Add && is_now(b.kind)) return length(ctx, op, b.kind, a.n, b.n);
    if (op == Op::Mul && b.kind == Kind::Int) return length(ctx, op, Kind::Interval, a.n, b.n);
    if (op == Op::Div && b.kind == Kind::Int) {
      if (b.n != 0) return rounded(ctx, Kind::Interval, a.n, b.n, 1);
      ctx.raise(ErrorClass::DivisionByZero);
    }
  }
  return null_val();
}

Val negative(Context& ctx, const Val& v) {
  if (v.kind == Kind::Decimal) return {v.kind, -v.n};
  if (v.kind != Kind::Int && v.kind != Kind::Interval) return v;
  return length(ctx, Op::Sub, v.kind, 0, v.n);
}

int compare_numbers(const Val& a, const Val& b) {
  const auto scaled = [](const Val& v) { return static_cast<__int128>(v.n) * (v.kind == Kind::Decimal ? 1 : kDecimalUnit); };
  const __int128 x = scaled(a), y = scaled(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

}  // namespace oncecheck

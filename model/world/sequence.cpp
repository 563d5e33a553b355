#include "model/world/sequence.hpp"

#include <algorithm>
#include <cstring>

namespace oncecheck {

namespace {

constexpr std::int64_t kLast = 65'535;

std::int64_t load(const std::uint8_t* p) { return p[0] | (p[1] << 8); }

void store(std::uint8_t* p, std::int64_t n) {
  p[0] = static_cast<std::uint8_t>(n);
  p[1] = static_cast<std::uint8_t>(n >> 8);
}

}  // namespace

Val next_value(Context& ctx, int sequence, const Val& given) {
  const Layout& layout = ctx.plan.layout;
  std::uint8_t* last = ctx.w + layout.sequences[static_cast<std::size_t>(sequence)].offset;
  const int at = ctx.session >= 0 && ctx.row_to_insert ? layout.sessions[static_cast<std::size_t>(ctx.session)].number_taken : -1;
  std::uint8_t* taken = at >= 0 ? ctx.w + at : nullptr;
  const bool has_number = taken != nullptr && taken[0] == sequence + 1;
  if (given.kind == Kind::Int && given.n != 0) {
    move_sequence(ctx, sequence, given);
    // The next row goes on behind the higher of the two (adjust_next_insert_id_after_explicit_value).
    if (has_number && given.n >= load(taken + 1)) store(taken + 1, std::min(given.n + 1, kLast));
    ctx.number_given = true;
    return given;
  }
  if (!given.is_null() && given.kind != Kind::Int) return given;
  if (has_number) {
    const std::int64_t number = load(taken + 1);
    if (number > load(last)) store(last, number);
    return int_val(number);
  }
  const std::int64_t number = load(last) + 1;
  if (number > kLast) {
    ctx.fail(LimitKind::IntRange);
    return null_val();
  }
  store(last, std::min(number + ctx.numbers_wanted - 1, kLast));
  if (taken != nullptr && taken[0] == 0) {
    taken[0] = static_cast<std::uint8_t>(sequence + 1);
    store(taken + 1, number);
  }
  return int_val(number);
}

void move_sequence(Context& ctx, int sequence, const Val& value) {
  std::uint8_t* last = ctx.w + ctx.plan.layout.sequences[static_cast<std::size_t>(sequence)].offset;
  if (value.kind == Kind::Int && value.n > load(last)) store(last, std::min(value.n, kLast));
}

void forget_number(const Plan& plan, std::uint8_t* w, int session) {
  if (session < 0) return;
  const int at = plan.layout.sessions[static_cast<std::size_t>(session)].number_taken;
  if (at >= 0) std::memset(w + at, 0, 3);
}

void pass_number_on(const Plan& plan, std::uint8_t* w, int session, bool used) {
  const int at = session < 0 ? -1 : plan.layout.sessions[static_cast<std::size_t>(session)].number_taken;
  if (at >= 0 && w[at] != 0 && used) store(w + at + 1, load(w + at + 1) + 1);
}

}  // namespace oncecheck

// A value while it is being computed. What a world stores is the value's id in the scenario's domain (domain.hpp).
#pragma once

#include <cstdint>

namespace oncecheck {

enum class Kind : std::uint8_t {
  Null,
  Bool,      // n: 0 or 1
  Int,       // n
  Text,      // n: index into Domain::texts, kUnknownText for a text that the domain lacks
  Fresh,     // n: number of a symbolic fresh value (UUID, token); only equality means anything
  Instant,   // n: microseconds since 1970; a time written out in the scenario (instant.hpp)
  Past,      // an instant that has passed; all of them look alike
  Deadline,  // n: slot of an instant in the future when it was stored (NOW() + interval)
  Recent,    // n: slot of a stored NOW() that has not yet grown old
  NowRel,    // n: microseconds from the session's NOW(); never stored as such
  ClockRel,  // n: microseconds from the wall clock; never stored as such
  Interval,  // n: microseconds; never stored
  Decimal,   // n: ten-thousandths; the quotient of MySQL's a / b, stored only where it is a whole number
};

inline constexpr std::int64_t kUnknownText = -1;
inline constexpr std::int64_t kDecimalUnit = 10'000;  // MySQL's div_precision_increment: four digits

struct Val {
  Kind kind = Kind::Null;
  std::int64_t n = 0;

  bool is_null() const { return kind == Kind::Null; }
  friend bool operator==(const Val&, const Val&) = default;
};

inline Val null_val() { return {}; }
inline Val bool_val(bool b) { return {Kind::Bool, b ? 1 : 0}; }
inline Val int_val(std::int64_t n) { return {Kind::Int, n}; }
inline Val text_val(std::int64_t index) { return {Kind::Text, index}; }

// A WHERE, HAVING or `if` passes only on TRUE: NULL does not (SQL's three-valued logic).
inline bool is_true(const Val& v) { return v.kind == Kind::Bool && v.n != 0; }

}  // namespace oncecheck

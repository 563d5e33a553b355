// parse_interval of sql_parser.hpp.
#include <array>
#include <charconv>
#include <limits>

#include "model/program/sql_parser.hpp"
#include "model/program/sql_tokens.hpp"

namespace oncecheck::sql {

namespace {

constexpr std::int64_t kMicrosecond = 1;
constexpr std::int64_t kMillisecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;

struct Unit {
  std::string_view name;
  std::int64_t size;
};

// PostgreSQL's spellings. Months and years have no fixed length.
constexpr std::array<Unit, 31> kUnits = {{
    {"us", kMicrosecond},
    {"usec", kMicrosecond},
    {"usecs", kMicrosecond},
    {"microsecond", kMicrosecond},
    {"microseconds", kMicrosecond},
    {"ms", kMillisecond},
    {"msec", kMillisecond},
    {"msecs", kMillisecond},
    {"millisecond", kMillisecond},
    {"milliseconds", kMillisecond},
    {"s", kSecond},
    {"sec", kSecond},
    {"secs", kSecond},
    {"second", kSecond},
    {"seconds", kSecond},
    {"m", kMinute},
    {"min", kMinute},
    {"mins", kMinute},
    {"minute", kMinute},
    {"minutes", kMinute},
    {"h", kHour},
    {"hr", kHour},
    {"hrs", kHour},
    {"hour", kHour},
    {"hours", kHour},
    {"d", kDay},
    {"day", kDay},
    {"days", kDay},
    {"w", 7 * kDay},
    {"week", 7 * kDay},
    {"weeks", 7 * kDay},
}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class IntervalReader {
 public:
  explicit IntervalReader(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> read() {
    skip_spaces();
    if (at_ == text_.size()) return std::nullopt;
    while (at_ < text_.size()) {
      if (!read_part()) return std::nullopt;
      skip_spaces();
    }
    return total_;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view take(bool (*wanted)(char)) {
    const std::size_t from = at_;
    while (at_ < text_.size() && wanted(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // "-2.5 hours", "10m", "01:30:00".
  bool read_part() {
    const bool negative = take('-');
    if (!negative) take('+');
    sign_ = negative ? -1 : 1;
    const std::string_view whole = take(is_digit);
    if (whole.empty()) return false;
    if (take(':')) return read_clock(whole);
    std::string_view fraction;
    if (take('.')) {
      fraction = take(is_digit);
      if (fraction.empty()) return false;
    }
    skip_spaces();
    const std::string_view name = take(is_letter);
    for (const Unit& unit : kUnits) {
      if (same_word(name, unit.name)) return add(whole, unit.size) && add_fraction(fraction, unit.size);
    }
    return false;
  }

  bool read_clock(std::string_view hours) {
    const std::string_view minutes = take(is_digit);
    if (minutes.size() != 2 || minutes[0] > '5' || !add(hours, kHour) || !add(minutes, kMinute)) return false;
    if (!take(':')) return true;
    const std::string_view seconds = take(is_digit);
    if (seconds.size() != 2 || seconds[0] > '5' || !add(seconds, kSecond)) return false;
    return !take('.') || add_fraction(take(is_digit), kSecond);
  }

  bool add(std::string_view digits, std::int64_t unit) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc{} || end != digits.data() + digits.size()) return false;
    std::int64_t product = 0;
    return !__builtin_mul_overflow(number, sign_ * unit, &product) && !__builtin_add_overflow(total_, product, &total_);
  }

  // Only what is a whole number of microseconds.
  bool add_fraction(std::string_view digits, std::int64_t unit) {
    for (char c : digits) {
      if (c != '0' && (unit == 0 || unit % 10 != 0)) return false;
      unit /= 10;
      if (!add(std::string_view(&c, 1), unit)) return false;
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t sign_ = 1;
  std::int64_t total_ = 0;
};

}  // namespace

std::optional<std::int64_t> parse_interval(std::string_view text) { return IntervalReader(text).read(); }

}  // namespace oncecheck::sql

#include "model/world/instant.hpp"

#include <cstdio>

namespace oncecheck {

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": days since 1970-01-01.
std::int64_t days_from_civil(std::int64_t y, int m, int d) {
  y -= m <= 2;
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t yoe = y - era * 400;
  const std::int64_t doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  return era * 146'097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719'468;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> read() {
    int year = 0, month = 0, day = 0;
    if (!number(4, year) || !take('-') || !number(2, month) || !take('-') || !number(2, day)) return std::nullopt;
    static constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (year < 1 || month < 1 || month > 12) return std::nullopt;
    if (day < 1 || day > days[month - 1] + (month == 2 && leap ? 1 : 0)) return std::nullopt;
    std::int64_t at = days_from_civil(year, month, day) * kDay;
    if (done()) return at;
    if (!take(' ') && !take('T')) return std::nullopt;
    if (!time_of_day(at) || !zone(at) || !done()) return std::nullopt;
    return at;
  }

 private:
  bool done() const { return at_ == text_.size(); }

  bool take(char c) {
    if (done() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool number(std::size_t digits, int& out) {
    if (at_ + digits > text_.size()) return false;
    out = 0;
    for (std::size_t i = 0; i < digits; ++i, ++at_) {
      if (text_[at_] < '0' || text_[at_] > '9') return false;
      out = out * 10 + (text_[at_] - '0');
    }
    return true;
  }

  bool time_of_day(std::int64_t& at) {
    int hour = 0, minute = 0, second = 0;
    if (!number(2, hour) || !take(':') || !number(2, minute) || hour > 23 || minute > 59) return false;
    if (take(':') && (!number(2, second) || second > 59)) return false;
    at += (hour * 3600ll + minute * 60 + second) * kSecond;
    if (!take('.')) return true;
    std::int64_t unit = kSecond / 10;
    for (int digit = 0; unit > 0 && number(1, digit); unit /= 10) at += digit * unit;
    return unit < kSecond / 10;
  }

  bool zone(std::int64_t& at) {
    if (take('Z')) return true;
    const bool west = take('-');
    if (!west && !take('+')) return true;
    int hours = 0, minutes = 0;
    if (!number(2, hours)) return false;
    take(':');
    if (!done() && !number(2, minutes)) return false;
    const std::int64_t offset = (hours * 3600ll + minutes * 60) * kSecond;
    at += west ? offset : -offset;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> parse_instant(std::string_view text) {
  if (text == "infinity") return kInfinity;
  if (text == "-infinity") return -kInfinity;
  return Reader(text).read();
}

std::string instant_text(std::int64_t microseconds) {
  if (microseconds == kInfinity) return "infinity";
  if (microseconds == -kInfinity) return "-infinity";
  std::int64_t days = microseconds / kDay, rest = microseconds % kDay;
  if (rest < 0) rest += kDay, --days;
  // The inverse of days_from_civil.
  const std::int64_t z = days + 719'468;
  const std::int64_t era = (z >= 0 ? z : z - 146'096) / 146'097;
  const std::int64_t doe = z - era * 146'097;
  const std::int64_t yoe = (doe - doe / 1460 + doe / 36'524 - doe / 146'096) / 365;
  const std::int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const std::int64_t mp = (5 * doy + 2) / 153;
  const int day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  const int year = static_cast<int>(yoe + era * 400 + (month <= 2 ? 1 : 0));
  const int seconds = static_cast<int>(rest / kSecond), fraction = static_cast<int>(rest % kSecond);
  char buffer[80];
  std::snprintf(buffer, sizeof buffer, "%04d-%02d-%02d %02d:%02d:%02d", year, month, day, seconds / 3600,
                seconds / 60 % 60, seconds % 60);
  std::string text = buffer;
  if (fraction != 0) {
    std::snprintf(buffer, sizeof buffer, ".%06d", fraction);
    text += buffer;
    while (text.back() == '0') text.pop_back();
  }
  return text;
}

}  // namespace oncecheck

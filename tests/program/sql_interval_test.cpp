// Intervals to microseconds.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/program/sql_parser.hpp"

using namespace oncecheck::sql;

namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kDay = 24 * kHour;

}  // namespace

TEST_CASE("intervals") {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"30s", 30 * kSecond},
      {"10 minutes", 600 * kSecond},
      {"1m", 60 * kSecond},
      {"250ms", 250'000},
      {"24h", 24 * kHour},
      {"1 day", kDay},
      {"1 DAY", kDay},
      {"  5  sec ", 5 * kSecond},
      {"2 weeks", 14 * kDay},
      {"7us", 7},
      {"1 day 2 hours 3 min", kDay + 2 * kHour + 180 * kSecond},
      {"1h30m", kHour + 1800 * kSecond},
      {"1.5 hours", kHour + kHour / 2},
      {"0.000001 s", 1},
      {"1.50 ms", 1500},
      {"-5 minutes", -300 * kSecond},
      {"+1 s", kSecond},
      {"1 day -1 hour", 23 * kHour},
      {"01:30:00", kHour + kHour / 2},
      {"00:00:01.25", 1'250'000},
      {"-0:30", -1800 * kSecond},
      {"1 day 12:00", kDay + 12 * kHour},
      {"0s", 0},
  };
  for (const auto& [text, microseconds] : cases) {
    CAPTURE(text);
    CHECK(parse_interval(text) == microseconds);
  }
}

TEST_CASE("no intervals") {
  for (const char* text : {"",
                           " ",
                           "5",
                           "s",
                           "abc",
                           "1 month",
                           "2 years",
                           "1 fortnight",
                           "1..5 s",
                           "1. s",
                           "s 5",
                           "5 s x",
                           "- 5 s",
                           "1:5",
                           "1:60",
                           "1:00:61",
                           "P1D",
                           "now",
                           "5 s,",
                           "1 day ago",
                           "0.0000001 s",
                           "1.0001 ms",
                           "9223372036854775808 us",
                           "9223372036855 s",
                           "106751992 days"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_interval(text).has_value());
  }
  CHECK(parse_interval("9223372036854775807 us") == INT64_MAX);
}

TEST_CASE("intervals in SQL keep their text") {
  const Expr e = parse_expression("interval '1 minute'");
  CHECK(e.kind == ExprKind::Interval);
  CHECK(e.text == "1 minute");
  CHECK(e.number == 60 * kSecond);
  CHECK(e.location == 0);
  CHECK(parse_expression("'30s'::interval").number == 30 * kSecond);
  CHECK(parse_expression("cast('30s' as interval)").number == 30 * kSecond);
  CHECK(parse_expression("interval '2' hour").number == 2 * kHour);
  const Expr param = parse_expression(":ttl::interval");
  CHECK(param.kind == ExprKind::Cast);
  CHECK(param.name == "interval");
}

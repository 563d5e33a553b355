#include "sim/conform/outcome.hpp"

#include <algorithm>

#include "model/world/instant.hpp"
#include "sim/conform/error_codes.hpp"

namespace oncecheck {

namespace {

bool is_time_stamp(const Json& v) {
  if (!v.is_string()) return false;
  const std::string& s = v.get_ref<const std::string&>();
  return s.size() >= 10 && std::all_of(s.begin(), s.begin() + 4, [](char c) { return c >= '0' && c <= '9'; }) && s[4] == '-';
}

bool same_cell(const Json& got, const Json& expected) {
  if (!got.is_object()) return got == expected;
  return got.contains("instant") ? is_time_stamp(expected) : !expected.is_null();
}

bool same_row(const Json& got, const Json& expected) {
  return got.size() == expected.size() &&
         std::equal(got.begin(), got.end(), expected.begin(), [](const Json& a, const Json& b) { return same_cell(a, b); });
}

std::string returned(int step, int until) {
  return until == step ? "" : ", when step " + std::to_string(until) + " was done";
}

std::string result_text(const Json& result) {
  if (result.is_number()) return result.dump() + (result == 1 ? " row affected" : " rows affected");
  return result.is_string() ? result.get<std::string>() : result.dump();
}

}  // namespace

Json shown(const Domain& domain, Engine engine, const Val& value) {
  switch (value.kind) {
    case Kind::Null: return nullptr;
    case Kind::Bool:
      if (is_innodb(engine)) return value.n;
      return value.n != 0;
    case Kind::Int: return value.n;
    case Kind::Text:
      if (value.n != kUnknownText) return std::string(domain.text(value.n));
      return Json{{"unknown", "text"}};
    case Kind::Fresh: return Json{{"fresh", value.n + 1}};
    case Kind::Instant: return instant_text(value.n);
    case Kind::Past: return Json{{"instant", "past"}};
    case Kind::Deadline: return Json{{"instant", "future"}};
    case Kind::Recent: return Json{{"instant", "now"}};
    case Kind::NowRel:
    case Kind::ClockRel: return Json{{"instant", value.n > 0 ? "future" : value.n < 0 ? "past" : "now"}};
    case Kind::Interval: return Json{{"interval", value.n}};
    case Kind::Decimal:
      // A recorder writes a decimal without a fraction as a number.
      if (value.n % kDecimalUnit == 0) return value.n / kDecimalUnit;
      return decimal_text(value.n);
  }
  return nullptr;
}

Json shown_rows(const Domain& domain, Engine engine, const std::vector<std::vector<Val>>& rows) {
  Json out = Json::array();
  for (const auto& row : rows) {
    Json cells = Json::array();
    for (const Val& v : row) cells.push_back(shown(domain, engine, v));
    out.push_back(std::move(cells));
  }
  return out;
}

bool same_result(const Json& got, const Json& expected, bool ordered) {
  if (!got.is_array() || !expected.is_array()) return got == expected;
  if (got.size() != expected.size()) return false;
  if (ordered) return std::equal(got.begin(), got.end(), expected.begin(), same_row);
  std::vector<bool> used(expected.size(), false);
  for (const Json& row : got) {
    std::size_t found = expected.size();
    for (std::size_t i = 0; i < expected.size() && found == expected.size(); ++i) {
      if (!used[i] && same_row(row, expected[i])) found = i;
    }
    if (found == expected.size()) return false;
    used[found] = true;
  }
  return true;
}

bool same_outcome(Engine engine, const StepOutcome& got, const RecordedOutcome& expected) {
  if (got.until != expected.until) return false;
  if (got.error != ErrorClass::None || !expected.error.empty()) return is_code_of(engine, got.error, expected.error);
  return same_result(got.result, expected.result, got.ordered);
}

std::string describe(const RecordedOutcome& expected, int step) {
  std::string out = expected.error.empty() ? result_text(expected.result) : "error " + expected.error;
  if (!expected.error_class.empty()) out += " " + expected.error_class;
  return out + returned(step, expected.until);
}

std::string describe(Engine engine, const StepOutcome& got) {
  std::string out = got.error == ErrorClass::None
                        ? result_text(got.result)
                        : "error " + usual_code(engine, got.error) + " " + error_class_name(got.error);
  return out + returned(got.step, got.until);
}

}  // namespace oncecheck

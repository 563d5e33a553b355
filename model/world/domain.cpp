#include "model/world/domain.hpp"

#include <algorithm>

#include "model/world/check.hpp"
#include "model/world/instant.hpp"

namespace oncecheck {

Domain::Domain(std::vector<std::string> texts, std::vector<std::int64_t> extra_ints, std::int64_t int_min,
               std::int64_t int_max, int fresh, int deadlines, std::vector<std::int64_t> instants)
    : texts_(std::move(texts)),
      extra_ints_(std::move(extra_ints)),
      int_min_(int_min),
      int_max_(int_max),
      fresh_(fresh),
      deadlines_(deadlines),
      instants_(std::move(instants)) {
  decode_ = {null_val(), bool_val(false), bool_val(true)};
  dense_base_ = 3;
  for (std::int64_t i = int_min_; i <= int_max_; ++i) decode_.push_back(int_val(i));
  extra_base_ = static_cast<CellId>(decode_.size());
  for (std::int64_t i : extra_ints_) decode_.push_back(int_val(i));
  text_base_ = static_cast<CellId>(decode_.size());
  for (std::size_t i = 0; i < texts_.size(); ++i) decode_.push_back(text_val(static_cast<std::int64_t>(i)));
  fresh_base_ = static_cast<CellId>(decode_.size());
  for (int i = 0; i < fresh_; ++i) decode_.push_back({Kind::Fresh, i});
  instant_base_ = static_cast<CellId>(decode_.size());
  for (std::int64_t i : instants_) decode_.push_back({Kind::Instant, i});
  past_ = static_cast<CellId>(decode_.size());
  decode_.push_back({Kind::Past, 0});
  for (int i = 0; i < deadlines_; ++i) decode_.push_back({Kind::Deadline, i});
  for (int i = 0; i < deadlines_; ++i) decode_.push_back({Kind::Recent, i});
  CHECK_THAT(decode_.size() < 65536);
}

CellId Domain::encode(Val v, Limit& limit) const {
  switch (v.kind) {
    case Kind::Null: return kNullCell;
    case Kind::Bool: return v.n != 0 ? 2 : 1;
    case Kind::Int: {
      if (v.n >= int_min_ && v.n <= int_max_) return static_cast<CellId>(dense_base_ + (v.n - int_min_));
      auto it = std::lower_bound(extra_ints_.begin(), extra_ints_.end(), v.n);
      if (it != extra_ints_.end() && *it == v.n) return static_cast<CellId>(extra_base_ + (it - extra_ints_.begin()));
      limit.kind = LimitKind::IntRange;
      return kNullCell;
    }
    case Kind::Text:
      if (v.n == kUnknownText) {
        limit.kind = LimitKind::UnknownText;
        return kNullCell;
      }
      return static_cast<CellId>(text_base_ + v.n);
    case Kind::Fresh: return static_cast<CellId>(fresh_base_ + v.n);
    case Kind::Instant: {
      auto it = std::lower_bound(instants_.begin(), instants_.end(), v.n);
      if (it != instants_.end() && *it == v.n) return static_cast<CellId>(instant_base_ + (it - instants_.begin()));
      limit.kind = LimitKind::InstantOrder;
      return kNullCell;
    }
    case Kind::Past: return past_;
    case Kind::Deadline: return static_cast<CellId>(first_deadline() + v.n);
    case Kind::Recent: return static_cast<CellId>(first_recent() + v.n);
    case Kind::NowRel:
    case Kind::ClockRel:
    case Kind::Interval: limit.kind = LimitKind::StoreInterval; return kNullCell;
    case Kind::Decimal:
      if (v.n % kDecimalUnit == 0) return encode(int_val(v.n / kDecimalUnit), limit);
      limit.kind = LimitKind::StoreInterval;
      return kNullCell;
  }
  return kNullCell;
}

std::int64_t Domain::text_index(std::string_view text) const {
  auto it = std::lower_bound(texts_.begin(), texts_.end(), text,
                             [](const std::string& a, std::string_view b) { return std::string_view(a) < b; });
  if (it == texts_.end() || *it != text) return kUnknownText;
  return it - texts_.begin();
}

std::string decimal_text(std::int64_t n) {
  const std::uint64_t size = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  std::string digits = std::to_string(size % kDecimalUnit);
  digits.insert(0, 4 - digits.size(), '0');
  return (n < 0 ? "-" : "") + std::to_string(size / kDecimalUnit) + "." + digits;
}

std::string Domain::show(Val v) const {
  switch (v.kind) {
    case Kind::Null: return "NULL";
    case Kind::Bool: return v.n != 0 ? "true" : "false";
    case Kind::Int: return std::to_string(v.n);
    case Kind::Text: return v.n == kUnknownText ? "'?'" : "'" + std::string(text(v.n)) + "'";
    case Kind::Fresh: return "uuid-" + std::to_string(v.n + 1);
    case Kind::Instant: return "'" + instant_text(v.n) + "'";
    case Kind::Past: return "passed";
    case Kind::Deadline: return "in the future";
    case Kind::Recent: return "just now";
    case Kind::NowRel:
    case Kind::ClockRel: return "now";
    case Kind::Interval: return std::to_string(v.n / 1000) + " ms";
    case Kind::Decimal: return decimal_text(v.n);
  }
  return "?";
}

}  // namespace oncecheck

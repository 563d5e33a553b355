// The finite domain of a scenario: every value that a cell of the world can hold, interned as a small id. The compiler
// fills it; it never changes afterwards, so ids mean the same in every thread and every run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/world/limit.hpp"
#include "model/world/value.hpp"

namespace oncecheck {

using CellId = std::uint16_t;
inline constexpr CellId kNullCell = 0;

// 3.3333 for 33333 ten-thousandths.
std::string decimal_text(std::int64_t n);

class Domain {
 public:
  // REQUIRES: texts, extra_ints and instants sorted and unique; int_min <= 0 <= int_max. Fewer than 65,536 values in all.
  Domain(std::vector<std::string> texts, std::vector<std::int64_t> extra_ints, std::int64_t int_min, std::int64_t int_max,
         int fresh, int deadlines, std::vector<std::int64_t> instants = {});
  Domain() : Domain({}, {}, 0, 1, 0, 0) {}

  int size() const { return static_cast<int>(decode_.size()); }
  int cell_bytes() const { return size() <= 256 ? 1 : 2; }

  Val decode(CellId id) const { return decode_[id]; }
  // The id of a storable value; sets `limit` when the domain lacks it. NowRel, ClockRel and Interval are not
  // storable here.
  CellId encode(Val v, Limit& limit) const;

  std::string_view text(std::int64_t index) const { return texts_[static_cast<std::size_t>(index)]; }
  std::int64_t text_index(std::string_view text) const;  // kUnknownText when absent
  int text_count() const { return static_cast<int>(texts_.size()); }

  int fresh_count() const { return fresh_; }
  int deadline_count() const { return deadlines_; }
  CellId first_fresh() const { return fresh_base_; }
  CellId past() const { return past_; }
  CellId first_deadline() const { return static_cast<CellId>(past_ + 1); }
  CellId first_recent() const { return static_cast<CellId>(past_ + 1 + deadlines_); }

  // For people: 'text', 17, true, NULL, uuid-1, "an instant that has passed".
  std::string show(Val v) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::int64_t> extra_ints_;
  std::int64_t int_min_, int_max_;
  int fresh_, deadlines_;
  std::vector<std::int64_t> instants_;
  CellId dense_base_, extra_base_, text_base_, fresh_base_, instant_base_, past_;
  std::vector<Val> decode_;
};

}  // namespace oncecheck

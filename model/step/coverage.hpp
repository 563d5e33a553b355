// Which steps and faults have been seen to happen: the hygiene of a report (DESIGN 5).
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/event.hpp"

namespace oncecheck {

class Coverage {
 public:
  explicit Coverage(const Program& program);
  // Before the event is applied to `world`.
  void note(const Program& program, const std::uint8_t* world, const Event& event);
  void merge(const Coverage& other);

  std::vector<int> unreached_steps(const Program& program) const;  // visible ones
  std::vector<int> unused_faults() const;

 private:
  std::vector<bool> code_;
  std::vector<bool> faults_;
};

}  // namespace oncecheck

// The states of a search (SearchStates) and, with symmetry, the one of its orbit that stands for each.
#pragma once

#include <cstdint>
#include <optional>

#include "model/check/search_states.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

class StateSpace : public SearchStates {
 public:
  // monitor: null when there is none.
  StateSpace(const Program& program, const Monitor* monitor, bool symmetry) : SearchStates(program, monitor) {
    if (symmetry) symmetry_.emplace(program);
  }

  const std::optional<Symmetry>& symmetry() const { return symmetry_; }
  bool reduces() const { return symmetry_ && symmetry_->any(); }
  // Replaces it by the one that stands for it. Whether that is another one.
  bool represent(std::uint8_t* state, Symmetry::Scratch& scratch) const { return reduces() && symmetry_->represent(state, scratch); }

 private:
  std::optional<Symmetry> symmetry_;
};

}  // namespace oncecheck

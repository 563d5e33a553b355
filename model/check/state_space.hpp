// What a state of the search is: a world, then the state of the monitor if there is one; and, with symmetry, the one of its
// orbit that stands for it.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "model/check/checker.hpp"
#include "model/check/fingerprint.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

class StateSpace {
 public:
  // monitor: null when there is none.
  StateSpace(const Program& program, const Monitor* monitor, bool symmetry)
      : p_(program), monitor_(monitor), world_bytes_(static_cast<std::size_t>(program.plan.layout.bytes)) {
    if (symmetry) symmetry_.emplace(program);
  }

  const Program& program() const { return p_; }
  std::size_t bytes() const { return world_bytes_ + (monitor_ != nullptr ? 1 : 0); }
  const std::optional<Symmetry>& symmetry() const { return symmetry_; }

  std::vector<std::uint8_t> first() const {
    std::vector<std::uint8_t> first = p_.initial;
    first.resize(bytes(), 0);
    return first;
  }
  bool judges(const std::uint8_t* state) const { return monitor_ == nullptr || monitor_->judges(state[world_bytes_]); }
  // What the event makes of the monitor's state; false: it is forbidden.
  bool allows(const std::uint8_t* state, const Event& e, std::uint8_t* child) const {
    if (monitor_ == nullptr) return true;
    const int next = monitor_->next(p_, state, state[world_bytes_], e);
    if (next == Monitor::kForbidden) return false;
    child[world_bytes_] = static_cast<std::uint8_t>(next);
    return true;
  }

  bool reduces() const { return symmetry_ && symmetry_->any(); }
  // Replaces it by the one that stands for it. Whether that is another one.
  bool represent(std::uint8_t* state, Symmetry::Scratch& scratch) const { return reduces() && symmetry_->represent(state, scratch); }
  std::uint64_t fingerprint_of(const std::uint8_t* state) const { return fingerprint(state, bytes()); }

 private:
  const Program& p_;
  const Monitor* monitor_;
  std::size_t world_bytes_;
  std::optional<Symmetry> symmetry_;
};

}  // namespace oncecheck

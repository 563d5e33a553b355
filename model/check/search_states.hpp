// The states of a search: a world, and behind it the byte of a monitor if there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/check/fingerprint.hpp"
#include "model/check/monitor.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

class SearchStates {
 public:
  // Both must outlive it. monitor: null for none.
  SearchStates(const Program& program, const Monitor* monitor) : p_(program), monitor_(monitor) {}

  const Program& program() const { return p_; }
  std::size_t world_bytes() const { return static_cast<std::size_t>(p_.plan.layout.bytes); }
  std::size_t bytes() const { return world_bytes() + (monitor_ != nullptr ? 1 : 0); }

  // By which states are known: their worlds, and what the monitor says of them.
  std::uint64_t fingerprint(const std::uint8_t* state) const { return oncecheck::fingerprint(state, bytes()); }

  std::vector<std::uint8_t> first() const {
    std::vector<std::uint8_t> state = p_.initial;
    state.resize(bytes(), 0);
    return state;
  }

  bool judges(const std::uint8_t* state) const { return monitor_ == nullptr || monitor_->judges(state[world_bytes()]); }
  bool asks_liveness() const { return monitor_ == nullptr || monitor_->forbids_only_paid(); }

  // Writes what the event, about to happen in `state`, makes of the monitor's byte into `child`, which may be the same. False:
  // it is forbidden.
  bool allows(const std::uint8_t* state, const Event& event, std::uint8_t* child) const {
    if (monitor_ == nullptr) return true;
    const int next = monitor_->next(p_, state, state[world_bytes()], event);
    if (next != Monitor::kForbidden) {
      child[world_bytes()] = static_cast<std::uint8_t>(next);
      return true;
    }
    CHECK_THAT(!monitor_->forbids_only_paid() || (event.fault != kNoBudget && !p_.faults[event.fault].endless));
    return false;
  }

 private:
  const Program& p_;
  const Monitor* monitor_;
};

}  // namespace oncecheck

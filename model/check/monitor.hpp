// What a search can run beside the model.
#pragma once

#include <cstdint>

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

// Looks at the runs beside the model: forbids events, and says from when on promises are judged. Its state, one byte, belongs
// to the state of the search. Called from many threads at once.
class Monitor {
 public:
  static constexpr int kForbidden = -1;
  virtual ~Monitor() = default;
  // The monitor's state, 0 at first, after an event that `enabled` gave for this world; or kForbidden: such a run is not
  // looked at. A forbidden event that costs nothing still keeps its world from being at rest.
  virtual int next(const Program& program, const std::uint8_t* world, int state, const Event& event) const = 0;
  // Whether a violation counts in this state.
  virtual bool judges(int state) const = 0;
  // Whether it never forbids anything but events that use up a budget. Promises of liveness are judged only beside such a
  // monitor: faults may stop at any moment, but what the system does by itself must be free to go on, or what is fair would
  // not be known. (A fault without end uses up nothing. It may end a timer, and so is part of how things go on.)
  virtual bool forbids_only_paid() const { return false; }
};

}  // namespace oncecheck

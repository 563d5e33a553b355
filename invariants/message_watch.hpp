// Whether a way to go round for ever leaves out one message, or one call at a provider, that could be taken at every moment.
// Actions (model/step/fairness.hpp) take messages that differ in fresh values only for one; here each is followed by itself, since
// along a given way it is known which fresh value becomes which.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/step/relation.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

class MessageWatch {
 public:
  // `world`: where the way round begins.
  MessageWatch(const Program& program, const std::uint8_t* world);

  // Around each step of the way, in turn.
  void before(const std::uint8_t* world, const Event& event);
  void after(const std::uint8_t* world, const Observation& seen);

  // At the end, which is the world of the beginning.
  bool one_is_left_out() const;

 private:
  using Thing = std::vector<std::uint64_t>;  // what it is and what it says, with the numbers that fresh values have now
  std::vector<Thing> takable(const std::uint8_t* world);
  Thing thing_of(const std::uint8_t* world, const Event& event) const;
  std::optional<Thing> renumbered(const Thing& thing, const Observation& seen) const;

  const Program& p_;
  std::vector<Event> events_;
  std::map<Thing, std::optional<Thing>> now_;  // of those that could be taken at every moment so far, as they were at the beginning
};

}  // namespace oncecheck

// Which of the enabled events a random run takes next.
//
// - Uniform: each of them alike.
// - Pct: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A Randomized Scheduler with
//   Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). Each participant has a random priority; the highest one that can
//   act does, and at a few random steps it is put below all others. Good at bugs that need one participant to be slow for long.
//   Here a participant is a handler, a client, a message under way, a call at a provider, or one kind of timer. Faults fall due
//   at random steps and strike as soon as they can. After as many steps as a run usually has, it goes on uniformly, so that it ends.
// - Swarm: swarm testing (Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012). Each run leaves out a random half of the faults, and
//   each participant is quick or slow by a random factor.
//
// Integers only; all randomness comes from the run's generator.
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/event.hpp"
#include "sim/rng.hpp"

namespace oncecheck {

enum class Strategy { Uniform, Pct, Swarm };
const char* strategy_name(Strategy s);

class Scheduler {
 public:
  static constexpr int kMostChanges = 3;  // of priorities in a run: bugs of a depth up to 4

  // usual_steps: how many events a run usually has; Pct spreads over them. REQUIRES: it is positive.
  Scheduler(const Program& program, Strategy strategy, int usual_steps) : p_(program), strategy_(strategy), usual_steps_(usual_steps) {}

  // A new run.
  void begin(Rng& rng);
  // The place of one of the events; `step` counts from 0 in this run. REQUIRES: there are events.
  std::size_t pick(const std::uint8_t* world, const std::vector<Event>& events, int step, Rng& rng);

 private:
  std::size_t uniform(const std::vector<Event>& events, Rng& rng) const { return rng.below(static_cast<std::uint32_t>(events.size())); }
  std::size_t by_priority(const std::uint8_t* world, const std::vector<Event>& events, int step, Rng& rng);
  std::size_t by_weight(const std::uint8_t* world, const std::vector<Event>& events, Rng& rng);
  std::uint64_t highest(const std::uint8_t* world, const std::vector<Event>& events);
  std::uint64_t participant(const std::uint8_t* world, const Event& e) const;
  std::uint64_t priority(std::uint64_t participant) const;
  void lower(std::uint64_t participant);
  std::uint64_t weight(const std::uint8_t* world, const Event& e) const;

  const Program& p_;
  Strategy strategy_;
  int usual_steps_;
  std::uint64_t salt_ = 0;                                        // of this run
  std::vector<std::uint64_t> lowered_;                            // Pct: participants, the lowest last
  std::vector<int> changes_;                                      // Pct: steps at which the one that acts is put below all
  struct Due {
    int step;
    int fault;
  };
  std::vector<Due> due_;                                          // Pct
  std::vector<bool> left_out_;                                    // Swarm: by fault
  int fault_shift_ = 0;                                           // Swarm: faults are rarer by 2^
  std::vector<std::size_t> candidates_;
  std::vector<std::uint64_t> weights_;
};

}  // namespace oncecheck

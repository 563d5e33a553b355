// What every way to search does with a state: its steps are taken, its promises judged. Which states have been seen, and in
// which order they come, is the business of the search.
//
// All of it may be called from many threads at once, each with its own Worker, but for gather().
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/check/checker.hpp"
#include "model/check/search_worker.hpp"
#include "model/check/state_space.hpp"

namespace oncecheck {

class Expansion {
 public:
  // Both must outlive it. judge_live: promises of liveness are recorded, unless there is a monitor that makes them undecidable.
  Expansion(const Program& program, const CheckOptions& options, bool judge_live = true);

  const Program& program() const { return p_; }
  const CheckOptions& options() const { return options_; }
  const StateSpace& space() const { return space_; }
  std::size_t state_bytes() const { return bytes_; }
  bool has_live() const { return has_live_; }
  const std::vector<std::size_t>& live_invariants() const { return live_invariants_; }

  // The first state into child(0) of the worker, what stands for it into representative(0). Gives its fingerprint.
  std::uint64_t first(Worker& w) const;

  // The events of a state, into w.events; what promises of liveness need to know of it is noted. Whether something is left to
  // happen in it for sure: else judge_rest() is to be called after its steps.
  bool begin(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, int depth) const;
  // One step: the target waits in w.reached, child() and representative(), at the end. False: it leads nowhere. REQUIRES: there
  // is room; the state stays where it is until its targets have been judged.
  bool take(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, const Event& event) const;
  // Of a target that waits: promises of steps, and of a state that has not been seen before those of states.
  void judge(Worker& w, std::size_t waiting, bool is_new) const;
  void judge_rest(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint) const;

  // By what a target that waits is known: what stands for it.
  const std::uint8_t* known_by(Worker& w, std::size_t waiting) const { return space_.reduces() ? w.representative(waiting) : w.child(waiting); }

  // Faults that happened on every way to this state: budgets are part of it.
  int faults_in(const std::uint8_t* state) const;

  // Between the phases of a search: what the workers have found since the last time.
  void gather(const std::vector<std::unique_ptr<Worker>>& workers);
  const std::vector<Break>& found() const { return breaks_; }
  bool decided(std::size_t invariant) const { return breaks_[invariant].found(); }
  // Whether the search may end early. What must be reached is looked for even when every promise is broken.
  bool nothing_left_to_ask(const std::vector<std::unique_ptr<Worker>>& workers) const;

 private:
  bool all_decided() const;
  void begin_live(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, int depth) const;
  void note_edge(Worker& w, const std::uint8_t* state, const Event& e, const std::uint8_t* child, std::uint64_t to) const;

  const Program& p_;
  const CheckOptions& options_;
  std::vector<std::size_t> state_invariants_, final_invariants_, step_invariants_, live_invariants_;
  bool has_live_;
  StateSpace space_;
  std::size_t bytes_;
  std::vector<Break> breaks_;  // by promise
};

// All that the workers have covered.
Coverage covered(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace oncecheck

// What has been seen to happen: the hygiene of a report (DESIGN 5).
#pragma once

#include <cstdint>
#include <vector>

#include "model/step/relation.hpp"

namespace oncecheck {

// What was never reached, by number. Meaningful when every state was explored.
struct Unseen {
  std::vector<int> steps;       // Program::steps: not executed; an `if` or `while` that was never asked
  std::vector<int> branches;    // Program::branches of those that were asked
  std::vector<int> faults;      // Program::faults
  std::vector<int> promises;    // Program::invariants whose premise never held
  std::vector<int> must_reach;  // Program::must_reach
  bool operator==(const Unseen&) const = default;
};

class Coverage {
 public:
  explicit Coverage(const Program& program);

  // Turns on the notes of branches in a workspace, and takes them over.
  void watch(Workspace& workspace) const { workspace.visited.assign(branches_.size() + code_.size(), 0); }
  void take(const Workspace& workspace);

  // Before the event is applied to `world`.
  void note(const Program& program, const std::uint8_t* world, const Event& event, Workspace& workspace);
  // A state, and null or one from which a step led to it and which has been noted.
  void note_state(const Program& program, const std::uint8_t* world, const std::uint8_t* parent, Workspace& workspace, Limit& limit) {
    if (waits_for_states_) look_at(program, world, parent, workspace, limit);
  }
  // Whether what occurs in an event may still be news: every event is to be noted.
  bool waits_for_occurrences() const { return waits_for_occurrences_; }
  void merge(const Coverage& other);

  // REQUIRES: branches have been taken over.
  Unseen unseen(const Program& program) const;
  bool reached_all_marks(const Program& program) const;

 private:
  void look_at(const Program& program, const std::uint8_t* world, const std::uint8_t* parent, Workspace& workspace, Limit& limit);
  bool reached(const Program& program, std::size_t mark) const;
  std::vector<bool> executed_steps(const Program& program) const;

  std::vector<bool> code_;
  std::vector<bool> faults_;
  std::vector<bool> branches_;
  std::vector<std::vector<bool>> armed_;  // by invariant, by premise
  std::vector<bool> marks_;  // by mark: it has occurred, or its query has found something
  bool waits_for_states_ = true;
  bool waits_for_occurrences_ = false;
};

}  // namespace oncecheck

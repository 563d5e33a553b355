// Lets one disturbance happen, in one window, and counts the violations after it.
#pragma once

#include <atomic>
#include <vector>

#include "model/check/checker.hpp"
#include "model/check/window_map.hpp"

namespace oncecheck {

inline constexpr int kAnyWindow = -1;

// The disturbance is an event of this kind of fault that concerns who stands in the window:
// - Crash, Deploy: of its instance, of its service;
// - Timeout: it gives up its call, or its caller gives up on it, though the answer could still come;
// - LoseResponse: the answer to its call, or the reply that is under way, is lost;
// - DuplicateRequest: another request to its endpoint arrives that is not known to have another key or to be of another operation,
//   whether the network made it, or a client that clicks or tries again; or the provider gets the request of its call twice;
// - Expire, Failover: any such event.
// No other fault happens, unless keep_faults: then the budgets alone say what may. Before the disturbance nothing is judged.
// With kAnyWindow a run may go through the disturbance in any of the windows: what holds then holds in each of them.
//
// It keeps those promises of liveness, too: what goes on for ever after a disturbance in one of the windows goes on in the
// search for any of them, with the same ways out. REQUIRES: without keep_faults the program has no fault without end.
class WindowMonitor : public Monitor {
 public:
  static constexpr int kUndisturbed = 0, kDisturbed = 1;

  // The windows must outlive it.
  WindowMonitor(const std::vector<Window>& windows, FaultKind disturbance, int window, bool keep_faults)
      : windows_(windows), disturbance_(disturbance), window_(window), keep_faults_(keep_faults), happened_(windows.size()) {}

  int next(const Program& program, const std::uint8_t* world, int state, const Event& event) const override;
  bool judges(int state) const override { return state == kDisturbed; }
  bool forbids_only_paid() const override { return true; }

  // Whether the disturbance was ever possible in this window, as far as the search came.
  bool happened(int window) const { return happened_[static_cast<std::size_t>(window)].load(std::memory_order_relaxed); }

 private:
  bool in_window(const Program& program, const std::uint8_t* world, const Event& event, int window) const;
  bool is_disturbance(const Program& program, const Event& event) const;

  const std::vector<Window>& windows_;
  FaultKind disturbance_;
  int window_;
  bool keep_faults_;
  mutable std::vector<std::atomic<bool>> happened_;
};

}  // namespace oncecheck

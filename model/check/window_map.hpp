// The windows of a program: the moments between two neighbouring visible steps of a handler, a start-up program or a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/program/program.hpp"

namespace oncecheck {

enum class WindowKind : std::uint8_t {
  Before,    // a task stands before a visible step, or waits for a lock in it
  Sent,      // its call is sent, and no answer is there
  Answered,  // the answer to its call is under way
  Replied,   // its reply to a client is under way; the task itself has ended, or goes on
};

struct Window {
  WindowKind kind = WindowKind::Before;
  int body = 0;
  int pc = -1;  // the visible step, or the Await of the call; -1 for Replied
  std::string place;               // "checkout on_request/3"
  std::vector<std::string> after;  // what came last: one of these; empty at the beginning of the program
  std::string before;              // what comes next
};

// In the order of the code. A window is known by its next step: steps that are reached from several sides have one window.
std::vector<Window> windows_of(const Program& program);

// The task in this world stands in the window. Not for Replied.
bool stands_in(const Program& program, const std::uint8_t* world, int task, const Window& window);
// A reply of the window's body is under way to this sender. For Replied.
bool replied_to(const Program& program, const std::uint8_t* world, int sender, const Window& window);

}  // namespace oncecheck

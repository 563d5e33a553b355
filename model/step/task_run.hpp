// Running a task: one visible step, then the local steps up to the next visible one.
#pragma once

#include "model/step/relation.hpp"

namespace oncecheck {

class TaskRun {
 public:
  // REQUIRES: the task is in use.
  TaskRun(const Program& program, Context& ctx, int task);

  // Begins a task in a free slot. sender: 255 when nobody waits for an answer.
  void start(int body, int instance, std::uint8_t sender);
  // The visible step at the task's pc, or the rest of a statement that had to wait.
  void step(bool acknowledged = true);  // acknowledged: see exec_redis
  // The answer of a provider has come, or is given up (Answer::None: time-out).
  void resume_call(Answer answer, CellId id);
  // The database fails the waiting statement to break a cycle of waits.
  void fail_deadlocked();
  // The process dies: sessions close, calls go on without it, nobody answers.
  void kill();

  // Runs local steps from the task's pc on; ends the task at End.
  void run_local();
  void set_cell(int cell, CellId value);

 private:
  std::uint8_t* me() const { return ctx_.w + layout_.offset; }
  void go(int pc);
  void sql(const Instr& instr);
  void call(const Instr& instr);
  void reply(int index);
  void raise();
  void end();
  void next_row(const Instr& instr, int& pc);
  void clear_dead_cells();
  void enter_session(int statement);

  const Program& p_;
  Context& ctx_;
  const TaskLayout& layout_;
  int task_;
};

}  // namespace oncecheck

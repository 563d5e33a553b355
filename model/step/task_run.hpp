// Running a task: one visible step, then the local steps up to the next visible one.
#pragma once

#include "model/step/partition.hpp"
#include "model/step/relation.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

class TaskRun {
 public:
  // REQUIRES: the task is in use.
  TaskRun(const Program& program, Context& ctx, int task);

  // Begins a task in a free slot. sender: 255 when nobody waits for an answer.
  void start(int body, int instance, std::uint8_t sender);
  // The visible step at the task's pc, or the rest of a statement that had to wait.
  void step(int way, int choice);  // Event::b, Event::c
  // The answer to its call has come (it is in the task's header), or is given up.
  void take_answer();
  void give_up_call();
  // The database fails the waiting statement: to break a cycle of waits, or after a time-out.
  void fail_waiting(ErrorClass error);
  // The connection of the statement at hand is lost, `after` it ran or before. The handler goes on with connection_lost.
  // way: the connection that a pool gave it.
  void lose_connection(bool after, int way);
  // Its pool has no connection for the statement at hand. The handler goes on with connection_lost.
  void give_up_connection();
  // The process dies: sessions close, calls go on without it, nobody answers. A statement that waits for a lock is an
  // exception: the server does not look at the socket before the wait ends, so the statement lives on (kOrphaned) and may
  // even commit, when it runs in autocommit.
  void die();
  // The task is over; its sessions close.
  void kill();

  // Runs local steps from the task's pc on; ends the task at End.
  void run_local();
  void set_cell(int cell, CellId value);

 private:
  std::uint8_t* me() const { return ctx_.w + layout_.offset; }
  void go(int pc);
  void look_at_own_clock();
  void sql(const Instr& instr, int way);
  void redis(const Instr& instr, int choice);
  void lose_redis_connection(const Instr& instr, bool after, int way);
  void call(const Instr& instr);
  void look_up(int provider);
  void publish(const Instr& instr);
  std::uint8_t* post(int route, std::uint8_t caller, ExprId key, const std::vector<ExprId>& payload);
  void resume_call(Answer answer, int status, CellId id);
  void reply(int index);
  void record_answer(int sender, const ReplySpec& spec);
  std::uint8_t caller_code() const { return static_cast<std::uint8_t>(p_.plan.layout.sender_count + task_); }
  void raise();
  void end();
  // settle_message; but behind a cut from where the message came nobody hears of it.
  void settle(Handled how);
  // A new connection to the database: the server ends what the program left behind a cut.
  void connect(int db);
  std::uint8_t& network(int byte) const { return ctx_.w[layout_.network + byte]; }  // REQUIRES: there are partitions
  bool partitions() const { return layout_.network >= 0; }
  int zone() const { return zone_of_task(p_, ctx_.w, task_); }
  void next_row(const Instr& instr, int& pc);
  void take_branch(int branch) {
    if (ctx_.visited != nullptr) ctx_.visited[branch] = 1;
  }
  void visit(int pc) {
    if (ctx_.visited != nullptr) ctx_.visited[p_.branches.size() + static_cast<std::size_t>(pc)] = 1;
  }
  void clear_dead_cells();
  void enter_session(int statement);
  void go_to_handler(const Instr& instr, ErrorClass error);
  // The locals as they are, in scratch; null when that is full. Nobody hears what a statement then puts into them.
  const std::uint8_t* keep_locals();
  void put_locals_back(const std::uint8_t* kept);

  const Program& p_;
  Context& ctx_;
  const TaskLayout& layout_;
  int task_;
};

}  // namespace oncecheck

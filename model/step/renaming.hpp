// Gives tasks, sessions, senders, instances, clients' operations and values of a world other numbers, wherever it names them.
//
// The list below is a contract: everything in a world's bytes that stands at the place of one of them, or names one. Who adds
// such a byte adds it to the list, to rename(), and to the planted bugs of tests/check/symmetry_test.cpp.
//
//   stands at the place of        what
//   a task                        its slot; its connection to each redis
//   a session                     its bytes, savepoints and number taken; on PostgreSQL its lock byte in each row and its SSI
//                                 record; on InnoDB its bytes in the lock table
//   a sender                      its bytes, the zone that its answer comes from
//   an instance                   its flags
//   an operation of a client      the byte of what was told, whether it was refused, its answers
//
//   names a session               xmin and xmax of a row, kWaits of a session, owner of an advisory lock, an entry of InnoDB's
//                                 lock table, the record numbers and masks of SSI (rows, tables, indexes, keys, records), the
//                                 mask of a deadline
//   names a task                  the caller of a message, of a running task or of a provider's request; who holds a message;
//                                 the owner of a Redis key or of a write on its way
//   names a sender                the caller of a message or of a running task
//   names a route of a client     a message
//   names an instance             the instance of a task; by its clock the mask of a deadline
//   is or names a value           the value cells of the layout
//
// Not of this kind: slots of rows, numbers of snapshots, deadlines and fresh values. The canonical form sees to those.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program/program.hpp"

namespace oncecheck {

// The kinds of the list above, one bit each, so that a test can leave one out and see that it is missed.
enum class Reference : std::uint8_t {
  Connection, Savepoints, NumberTaken, RowLocks, SsiRecords, LockTableBytes, Senders, Flags, Told,
  RowMarks, Waits, AdvisoryOwner, LockEntry, SsiNumbers, SsiMasks, SessionDeadline,
  CallingTask, ProviderCaller, HeldBy, KeyOwner, WriteOwner, CallingSender, TaskInstance, ClockDeadline, Routes, Values,
  // Not references: reasons to keep things apart (symmetry.hpp), left out in the same way.
  SharedRowLocks, RowOrder, ValueUse, Words,
};
inline constexpr int kReferences = 30;
inline bool sees(std::uint32_t forgotten, Reference r) { return (forgotten >> static_cast<int>(r) & 1) == 0; }

// Old number to new one. Each is a permutation; the identity until told otherwise.
struct Renaming {
  explicit Renaming(const Program& program);

  std::vector<std::uint8_t> task, session, sender, operation, route;
  std::vector<std::vector<std::uint8_t>> instance;  // by service
  std::vector<CellId> value;
  bool moves_tasks = false, moves_senders = false, moves_instances = false;
  bool moves_clients = false;  // operation, route, value

  std::uint32_t forgotten = 0;  // planted bugs of tests: bits of Reference that rename() leaves out

  // Back to the identity; clients' operations, routes and values only where they were moved.
  void clear();
  // With its sessions and connections. REQUIRES: both are slots of the same kind.
  void move_task(const Layout& layout, int from, int to);
  bool moves() const { return moves_tasks || moves_senders || moves_instances || moves_clients; }
};

// `from` with the new numbers into `to`; they do not overlap. The outcome has no canonical form yet (make_canonical).
void rename(const Program& program, const Renaming& renaming, const std::uint8_t* from, std::uint8_t* to);

}  // namespace oncecheck

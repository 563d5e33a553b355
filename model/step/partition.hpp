// Partitions between named groups (the fault "partition" with "groups").
//
// While a cut stands, nothing passes between members of its different groups. What is on its way stays on its way and
// arrives after the healing, also when nobody waits for it any more. A statement, a command or a publication across the cut
// does not run; the program may hear connection_lost, or wait. One that was sent before the cut fell may run all the same,
// its answer lost. A session whose client is behind the cut goes on at the server, with its locks, until the server ends it
// (EndSession); when the client connects anew, the server ends what it had before. What lies unread at the receiver when the
// cut falls counts as not having passed.
//
// All of this is a function of zones (NetworkPlan) and of one byte of cuts that stand (Layout::cuts).
#pragma once

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

// Whether some standing cut is between the two zones.
bool cut_off(const Program& program, const std::uint8_t* w, int zone, int other);

// Zone 0 when the process is gone.
int zone_of_task(const Program& program, const std::uint8_t* w, int task);
int zone_of_instance(const Program& program, int service, int instance);
// Where the message comes from.
int origin_zone(const Program& program, const std::uint8_t* message);

// Whether the statement, command or publication at hand of a task that is ready or blocked has to cross a standing cut.
bool step_cut_off(const Program& program, const std::uint8_t* w, int task);
// Whether the instance that runs the task cannot tell the message's origin what it did with it.
bool origin_cut_off(const Program& program, const std::uint8_t* w, int task, const std::uint8_t* message);

// Whether an answer that is there, or may still be made, can reach the waiting task or sender before a cut heals.
bool answer_passes(const Program& program, const std::uint8_t* w, int task);
bool reply_passes(const Program& program, const std::uint8_t* w, int sender);

// Whether ending the session would be noticed by anybody: a transaction is open, or it holds a lock.
bool session_open(const Plan& plan, const std::uint8_t* w, int session);
// Whether the task's session on the database outlives the task: the server behind the cut does not learn of its end.
bool session_outlives(const Program& program, const std::uint8_t* w, int task, int db);
// Whether the server may end the session because it hears nothing from it.
bool server_may_end(const Program& program, const std::uint8_t* w, int task, int db);
// It does. A program that still counts on the session hears connection_lost at its next statement.
void server_ends_session(const Program& program, std::uint8_t* w, int task, int db);

void cut_network(const Program& program, std::uint8_t* w, int cut);
void heal_network(const Program& program, std::uint8_t* w, int cut);

}  // namespace oncecheck

// What the promises of liveness are about, on single worlds and steps: InvariantKind::EventuallyEmpty and ::Answered. Shared
// by the checker and by replay, which checks a counterexample again.
//
// Both promises have subjects: rows of a query, or clicks of clients. A subject is open in some worlds. The promise breaks
// when faults have stopped, the system goes on fairly (model/step/fairness.hpp), and one subject stays open for ever.
// - EventuallyEmpty: a row is open where the query finds it. A row that comes and goes again and again does not break it.
// - Answered: a click is open while its client waits, tries again or polls, and further on after an answer that settles
//   nothing or after giving up, if it has sent since the last fault. So a client that gives up breaks the promise, unless a
//   fault struck after it sent for the last time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/step/relation.hpp"

namespace oncecheck {

using Subject = std::uint64_t;  // never 0; the same number in every world of a program

// The subjects that are open in this world, whatever has happened before: ascending, each once. In a row, fresh values and
// deadlines count as equal, since they are numbered anew from world to world. Sets `limit` when the model cannot tell.
// REQUIRES: is_liveness(invariant.spec.kind).
std::vector<Subject> open_subjects(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                   Workspace& workspace, Limit& limit);

// Answered: the subject of a sender.
inline Subject subject_of_sender(int sender) { return 1 + static_cast<Subject>(sender); }

// Whether the step from `before` by `event` to `after` gives a client an answer that settles its request: told as ok or
// failed for good, or as accepted when it neither polls nor tries again on that; and the client takes it as the last word.
bool settles(const Program& program, const std::uint8_t* before, const Event& event, const std::uint8_t* after);

// What breaks_for_ever says of a cycle in which one of several messages, or calls of a provider, that differ in fresh values only
// could be taken at every moment and never is.
inline constexpr const char* kLeftOut = "one of several messages that differ in fresh values only is never taken";

// The rows of an EventuallyEmpty that belong to these subjects, for people: one line each.
std::vector<std::string> rows_of(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                 const std::vector<Subject>& subjects, Workspace& workspace);

// Whether events[cycle_from..] is a way to go on for ever, without a fault that costs something, that is fair and keeps a
// subject open: a counterexample. An empty cycle is one where nothing is left to happen. Otherwise `why` says what is wrong.
// `open`, if there, takes the subjects that stay open.
// REQUIRES: the events are a path of the model, cycle_from <= events.size().
bool breaks_for_ever(const Program& program, const Invariant& invariant, const std::vector<Event>& events,
                     std::size_t cycle_from, std::string& why, std::vector<Subject>* open = nullptr);

}  // namespace oncecheck

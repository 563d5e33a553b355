// The hygiene of a run: what was never reached, what of that is intended, and which marks of "must_reach" were met.
#pragma once

#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/coverage.hpp"

namespace oncecheck {

struct Gap {
  enum class Kind { Step, Branch, Fault, Promise } kind = Kind::Step;
  std::string what;     // as "unreached" names it: a place, "fault expire", a promise
  std::string text;     // a step: what it does; a branch: what decides
  std::string reason;   // why it is intended; "" when it is not
  bool implied = false; // it lies in another gap
};
// "never taken: checkout on_request/1/else: if :claim.count = 0"; not `whole`: "not taken so far: ...".
std::string gap_words(const Gap& gap, bool whole = true);

struct MarkReport {
  std::string name;
  std::string text;  // what it asks for: "a step checkout on_request/1", "the fault crash", a query, an occurrence
  bool reached = false;
};

struct Hygiene {
  bool whole = false;  // every state was explored: a gap is one for certain. Otherwise nothing has been seen so far.
  std::vector<Gap> gaps, intended;
  std::vector<std::string> stale;  // named by "unreached" and reached all the same
  std::vector<MarkReport> marks;
};

Hygiene hygiene_of(const Program& program, const Unseen& unseen, bool whole);

}  // namespace oncecheck

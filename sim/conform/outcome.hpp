// What a statement gave in the model, and whether a recorded outcome says the same.
#pragma once

#include <string>

#include "model/world/context.hpp"
#include "sim/conform/vector.hpp"

namespace oncecheck {

struct StepOutcome {
  int step = 0;
  int until = 0;  // the step during which it returned
  Json result;    // as RecordedOutcome::result; instants and fresh values as objects that say what they are
  ErrorClass error = ErrorClass::None;
  bool ordered = false;  // the order of the rows counts
};

// A value as vectors show it. InnoDB has no booleans: it answers 1 and 0.
Json shown(const Domain& domain, Engine engine, const Val& value);
Json shown_rows(const Domain& domain, Engine engine, const std::vector<std::vector<Val>>& rows);

// Whether the results are the same; rows as a multiset unless `ordered`. An instant fits any recorded time stamp, since
// the model has no clock, and a fresh value any recorded value.
bool same_result(const Json& got, const Json& expected, bool ordered);

bool same_outcome(Engine engine, const StepOutcome& got, const RecordedOutcome& expected);

// For people: "1 row changed", "[[1,"A"]]", "error 23505 unique_violation", ", after step 4".
std::string describe(const RecordedOutcome& expected, int step);
std::string describe(Engine engine, const StepOutcome& got);

}  // namespace oncecheck

// Runs a recording through the model in its recorded order and follows every path that the model allows: which of several
// woken sessions goes first, and what else is up to the server.
//
// A step that blocks costs 300 ms (Vector::step_ms) of the driver's clock and so does every step while somebody is blocked:
// that is how the cases were recorded, and what time-outs and stored deadlines are measured by.
#pragma once

#include <string>
#include <vector>

#include "sim/conform/outcome.hpp"
#include "sim/conform/vector_program.hpp"

namespace oncecheck {

enum class Victims {
  AsRecorded,  // what the recorded servers do: PostgreSQL the session that closed the circle, InnoDB the lightest
  Any,         // every session of the circle; and InnoDB may have purged deleted rows before each step
};

// One way in which the model leaves the record.
struct Divergence {
  struct Line {
    int step = 0;  // -1: a table at the end
    std::string expected;
    std::string got;
  };
  int step = 0;  // during which; the number of steps for the final contents
  std::vector<Line> lines;
};

struct DriveResult {
  bool reached = false;                 // the model allows the record
  std::vector<Divergence> divergences;  // other things that it allows, the latest first; not more than a few
  std::string limit;                    // why the model could not follow, "" when it could
  std::vector<std::string> missing_texts;  // values outside of the compiled domain, when that is why
  std::vector<std::int64_t> missing_ints;
};

DriveResult drive(const Vector& vector, const Recording& recording, const VectorProgram& program, Victims victims);

}  // namespace oncecheck

// A vector as a compiled scenario: each session is a service whose start-up program runs its statements. So a vector
// runs through the code that a user's scenario runs through, from the SQL text on.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "sim/conform/vector.hpp"

namespace oncecheck {

// Values that the model met and did not know: compile again with them.
struct ExtraValues {
  std::set<std::string> texts;
  std::set<std::int64_t> ints;
};

struct VectorProgram {
  std::unique_ptr<Program> program;
  std::vector<int> sessions;  // the model's session of each session of the vector
  int administrator = -1;     // session
  std::vector<int> steps;     // statement of each step, -1 for an operation
  std::vector<int> setup;     // statements that write the first rows
  std::vector<int> teardown;
  std::vector<std::string> tables;  // those of the final contents
  std::vector<int> reads;           // statements that read them
};

// Throws ScenarioError with what the model refuses, each at its place in the vector.
VectorProgram compile_vector(const Vector& vector, const Recording& recording, const ExtraValues& extra);

}  // namespace oncecheck

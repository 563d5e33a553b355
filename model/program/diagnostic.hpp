// A mistake in the user's input, told with its place. Never an internal error: those are CHECKs (model/world/check.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace oncecheck {

// Where something in a scenario was written. `pointer` is an RFC 6901 JSON pointer into the file as written (a value that
// a variant changed points into "/variants/NAME/..."); line and column count from 1, 0 when unknown.
struct Origin {
  std::string file;
  std::string pointer;
  int line = 0;
  int column = 0;
};

// One mistake. `message` says what is wrong and what was expected; `suggestion` is the nearest known name, or empty.
struct Diagnostic {
  Origin at;
  std::string message;
  std::string suggestion;

  // "FILE:LINE:COLUMN: error: MESSAGE (at POINTER); did you mean 'X'?"
  std::string text() const;
};

// Thrown by everything that reads input; carries one or more diagnostics. The command line prints them and exits with 2.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Diagnostic> diagnostics);
  ScenarioError(Origin at, std::string message, std::string suggestion = {});
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// The candidate with the smallest edit distance (Damerau-Levenshtein), or "" when none is near enough (more than a third of
// the longer name, at least 2 edits allowed for names over 4 characters).
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace oncecheck

// Collects the mistakes of a file, so that a user sees all of them at once and not one a run.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/program/diagnostic.hpp"

namespace oncecheck {

class DiagnosticLog {
 public:
  // A mistake that is already there (same place, same message) is dropped: variants share most of their text.
  void add(Origin at, std::string message, std::string suggestion = {});

  bool empty() const { return diagnostics_.empty(); }
  // How often add() was called: whether something was wrong with a part, even if it had been said before.
  std::size_t reported() const { return reported_; }

  // In the order of the file. At most 100, then one that says how many are left out.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t reported_ = 0;
  std::set<std::tuple<int, int, std::string, std::string>> seen_;
};

// 'text' for a message; what is too long is cut at a character boundary.
std::string in_quotes(std::string_view text);

// "a, b or c".
std::string alternatives(const std::vector<std::string>& names);

}  // namespace oncecheck

// A run of the model as a list of named choices. Engines write it, reports and replay read it. See model/README.md for the
// file format.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace oncecheck {

struct Trace {
  std::string scenario;                          // file
  std::string variant;
  std::map<std::string, std::string> overrides;  // --set
  std::string invariant;                         // the promise that breaks at its end; "" when it is just a run
  bool at_rest = false;
  std::vector<std::string> choices;              // describe.hpp
  // What the run is of, when it is not the scenario as written.
  std::string ablation = "";    // with this guard gone (Mutant::name)
  std::string only_fault = "";  // with one fault of this kind and no other
  std::string one_more = "";    // with one more fault of this kind
  std::optional<std::size_t> cycle_from;         // of a promise of liveness: choices[*cycle_from..] goes on for ever
};

}  // namespace oncecheck

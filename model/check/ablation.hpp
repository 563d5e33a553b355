// Which guards of a design are needed: each mutant (model/program/mutants.hpp) of a variant that holds is checked with the same
// faults, bounds and limits.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/check/checker.hpp"
#include "model/program/mutants.hpp"

namespace oncecheck {

enum class Need {
  LoadBearing,      // a promise breaks without it
  NotNeeded,        // every promise holds without it, within these bounds
  Inconclusive,     // a bound or limit was reached before a promise broke
  CannotBeDropped,  // what is left is no scenario
};
const char* need_name(Need need);  // "load-bearing", ...

struct MutantResult {
  Mutant mutant;    // its scenarios are gone
  Need need = Need::Inconclusive;
  std::string why;  // Inconclusive: the bound; CannotBeDropped: the mistake
  CheckResult check;                  // ends with the level in which a promise broke
  std::unique_ptr<Program> program;   // LoadBearing: what the counterexamples run on
};

struct Ablation {
  std::string scenario, variant;
  CheckResult original;
  // Why nothing was ablated: a promise of the original does not hold. "" otherwise.
  std::string refused;
  bool refused_inconclusive = false;  // and it was not clear whether they hold
  std::vector<MutantResult> mutants;  // in the order of mutants_of
};

// `done` is called after each mutant with how many are done, and how many there are. Throws ScenarioError when the scenario
// itself does not compile.
Ablation ablate(const Scenario& scenario, const CheckOptions& options,
                const std::function<void(std::size_t, std::size_t)>& done = {});

// The program of a mutant. Changes `mutant.change` when only `mutant.instead` compiles. Throws ScenarioError when neither does.
std::unique_ptr<Program> compile_mutant(Mutant& mutant);

// The mutant of this name (Mutant::name), for traces. Throws ScenarioError when there is none.
Mutant find_mutant(const Scenario& scenario, const std::string& name);

}  // namespace oncecheck

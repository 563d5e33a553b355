// A scenario with one guard less: what `oncecheck ablate` checks (model/check/ablation.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/program/scenario.hpp"

namespace oncecheck {

struct Mutant {
  Origin at;          // what was written there: the step, the text, the part
  std::string place;  // "checkout on_request/5", "database pay"
  std::string change; // "without the step", "if: never", "without a conjunct of WHERE"
  std::string text;   // what goes or changes, on one line
  Scenario scenario;
  // Stands for `scenario` when that does not compile: a unique key that goes together with the conflict targets that name it.
  std::optional<Scenario> instead;
  std::string instead_change;

  // "POINTER: CHANGE: TEXT", for trace files. Of several with the same name the later ones end in " #2", " #3".
  std::string name;
};

// Every mutant of a scenario, in the order of its parts: services, then databases, then Redis. One thing is changed in each:
// - a step is dropped; BEGIN goes with the COMMIT or ROLLBACK that follows it in the same list, MULTI with its EXEC;
// - an `if` takes always one side, a `while` is never entered, a condition loses one conjunct;
// - a statement or command loses a guard (sql_cuts.hpp, redis_cuts.hpp);
// - a call loses its key, its on_timeout, its resends; a step loses one branch of on_error;
// - a job, on_start, a drain, a constraint, an index, synchronous replication, min_replicas or persistence is dropped or
//   weakened, an isolation level lowered by one.
// Providers, clients and faults are the world around a design, and stay. NOT NULL and DEFAULT stay too.
// REQUIRES: the scenario compiles.
std::vector<Mutant> mutants_of(const Scenario& scenario);

}  // namespace oncecheck

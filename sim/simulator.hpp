// Random runs of the model, seeded: each run is a path of the relation. A run draws events uniformly, faults among them, for
// a while; then faults stop and it goes on until the system is at rest, where the promises of rest are judged, or in a circle, which
// is judged by the promises of liveness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/coverage.hpp"
#include "sim/strategy.hpp"

namespace oncecheck {

struct SimulateOptions {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  int threads = 0;            // 0: one a core; the result is the same for any number
  Strategy strategy = Strategy::Uniform;
  std::uint64_t shard = 0, shards = 1;  // only the runs whose number is `shard` modulo `shards`
  int faulty_steps = 120;     // then faults stop
  int max_steps = 3000;       // a run that is not at rest by then is counted as unfinished
};

struct SimulatedInvariant {
  std::string name;
  std::uint64_t broken_runs = 0;
  std::uint64_t first_run = 0;    // the first run that breaks it
  std::vector<Event> trace;       // of that run, up to the break
  bool at_rest = false;
  std::optional<std::size_t> cycle_from;  // of a promise of liveness: trace[*cycle_from..] can go on for ever
};

struct SimulateResult {
  std::uint64_t seed = 1;
  Strategy strategy = Strategy::Uniform;
  std::uint64_t shard = 0, shards = 1;
  std::uint64_t runs = 0;
  std::uint64_t events = 0;
  std::uint64_t at_rest = 0;      // runs that came to rest
  std::uint64_t circled = 0;      // runs that go round for ever, and break every promise of liveness there is
  std::uint64_t unfinished = 0;
  std::uint64_t limited = 0;      // runs that met a bound of the model
  double seconds = 0;
  std::vector<SimulatedInvariant> invariants;
  Unseen unseen;
};

SimulateResult simulate(const Program& program, const SimulateOptions& options);

// One run, for tests and for showing: its events up to rest or the limit of steps.
std::vector<Event> simulate_one(const Program& program, const SimulateOptions& options, std::uint64_t run);

}  // namespace oncecheck

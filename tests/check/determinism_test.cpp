// The same check or seed gives the same bytes: for any number of threads, and on repetition.
#include <doctest/doctest.h>

#include "model/check/checker.hpp"
#include "reports/run_report.hpp"
#include "sim/simulator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

std::string checked(const std::string& file, int threads) {
  std::vector<RunReport> reports;
  for (const auto& p : programs_of(file)) {
    CheckOptions options;
    options.threads = threads;
    options.max_states = 60'000;
    reports.push_back(make_report(*p, check(*p, options), {}));
  }
  return to_json(reports, false);
}

std::string simulated(const std::string& file, int threads, std::uint64_t seed) {
  std::vector<RunReport> reports;
  for (const auto& p : programs_of(file)) {
    SimulateOptions options;
    options.threads = threads;
    options.runs = 60;
    options.seed = seed;
    reports.push_back(make_report(*p, simulate(*p, options), {}));
  }
  return to_json(reports, false);
}

}  // namespace

TEST_CASE("check gives the same bytes for 1, 2 and 4 threads and when repeated") {
  for (const std::string& file : shipped_files()) {
    CAPTURE(file);
    const std::string one = checked(file, 1);
    CHECK(one == checked(file, 1));
    CHECK(one == checked(file, 2));
    CHECK(one == checked(file, 4));
  }
}

TEST_CASE("simulate gives the same bytes for 1, 2 and 4 threads and when repeated") {
  for (const std::string& file : shipped_files()) {
    CAPTURE(file);
    const std::string one = simulated(file, 1, 5);
    CHECK(one == simulated(file, 1, 5));
    CHECK(one == simulated(file, 2, 5));
    CHECK(one == simulated(file, 4, 5));
  }
}

TEST_CASE("different seeds give different runs") {
  const auto programs = programs_of(shipped("dedup-race.jsonc"));
  SimulateOptions a, b;
  a.seed = 1;
  b.seed = 2;
  int different = 0;
  for (std::uint64_t run = 0; run < 10; ++run) {
    different += simulate_one(*programs[0], a, run) != simulate_one(*programs[0], b, run) ? 1 : 0;
  }
  CHECK(different >= 9);
}

// Damaged scenario files: each is refused with a ScenarioError, or is a program that can be checked and simulated.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "invariants/load.hpp"
#include "model/check/checker.hpp"
#include "reports/run_report.hpp"
#include "sim/simulator.hpp"
#include "tests/support/mutator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// More of them: ONCECHECK_FUZZ=100000. Others: ONCECHECK_FUZZ_SEED=1000000 is the first seed.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* n = std::getenv(variable);
  return n != nullptr ? std::strtoull(n, nullptr, 10) : otherwise;
}

constexpr int kRefused = 10, kRan = 11;
constexpr unsigned kSecondsEach = 60;  // then it hangs

// Everything that the command line does with a file, short. Gives kRefused or kRan.
int use(const std::string& text) {
  std::vector<std::unique_ptr<Program>> programs;
  try {
    programs = load_programs_text(text, "fuzz.jsonc");
  } catch (const ScenarioError& e) {
    return e.diagnostics().empty() ? 1 : kRefused;
  }
  for (const auto& program : programs) {
    CheckOptions check_options;
    check_options.threads = 1;
    check_options.max_states = 2000;
    SimulateOptions simulate_options;
    simulate_options.threads = 1;
    simulate_options.runs = 20;
    simulate_options.max_steps = 400;
    to_json({make_report(*program, check(*program, check_options), {}),
             make_report(*program, simulate(*program, simulate_options), {})},
            false);
  }
  return kRan;
}

// In a process of its own: a failed CHECK_THAT ends the process, and a crash must not end the test. Gives its exit
// status, or minus the signal that ended it.
int in_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alarm(kSecondsEach);
    int status = 1;
    try {
      status = body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "exception: %s\n", e.what());
    } catch (...) {
      std::fprintf(stderr, "exception of an unknown type\n");
    }
    std::fflush(nullptr);
    _exit(status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a damaged scenario is refused or runs; nothing else happens") {
  std::vector<std::string> texts;
  for (const std::string& file : shipped_files()) texts.push_back(read_text(file));
  const std::uint64_t inputs = number_from("ONCECHECK_FUZZ", 3000), first = number_from("ONCECHECK_FUZZ_SEED", 0);
  std::uint64_t refused = 0, ran = 0;
  for (std::uint64_t seed = first; seed < first + inputs; ++seed) {
    const std::string text = damaged_scenario(texts, seed);
    const int status = in_child([&] { return use(text); });
    refused += status == kRefused ? 1 : 0;
    ran += status == kRan ? 1 : 0;
    if (status == kRefused || status == kRan) continue;
    FAIL_CHECK("seed " << seed << " ended with " << status << ":\n" << text);
  }
  MESSAGE(refused << " inputs refused, " << ran << " ran");
  // A fuzzer that breaks every file tests only the reader.
  CHECK(ran * 10 > inputs);
  CHECK(refused * 10 > inputs);
}

// Damaged scenario files: each is refused with a ScenarioError, or is a program that can be checked and simulated.
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "invariants/load.hpp"
#include "model/check/checker.hpp"
#include "reports/run_report.hpp"
#include "sim/simulator.hpp"
#include "tests/support/generator.hpp"
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

constexpr unsigned kSecondsEach = 60;  // then it hangs

// Everything that the command line does with a file, short. False when the file is refused.
bool use(const std::string& text) {
  std::vector<std::unique_ptr<Program>> programs;
  try {
    programs = load_programs_text(text, "fuzz.jsonc");
  } catch (const ScenarioError& e) {
    if (e.diagnostics().empty()) throw std::logic_error("a ScenarioError that says nothing");
    return false;
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
  return true;
}

// What the process that works tells the one that waits for it, in memory that both share.
struct Tally {
  std::uint64_t seed = 0;  // being worked on
  std::uint64_t refused = 0, ran = 0;
};

// Works through the seeds [tally.seed, end). Ends the process at the first that is neither refused nor runs.
[[noreturn]] void work(const std::vector<std::string>& texts, std::uint64_t end, Tally& tally) {
  for (; tally.seed < end; ++tally.seed) {
    alarm(kSecondsEach);
    try {
      (use(damaged_scenario(texts, tally.seed)) ? tally.ran : tally.refused) += 1;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "exception: %s\n", e.what());
      std::_Exit(1);
    } catch (...) {
      std::fprintf(stderr, "exception of an unknown type\n");
      std::_Exit(1);
    }
  }
  std::_Exit(0);
}

// In a process of its own: a failed CHECK_THAT ends the process, and a crash must not end the test. Gives 0, the exit
// status, or minus the signal that ended it.
int in_child(const std::vector<std::string>& texts, std::uint64_t end, Tally& tally) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) work(texts, end, tally);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a damaged scenario is refused or runs; nothing else happens") {
  std::vector<std::string> texts;
  for (const std::string& file : shipped_files()) texts.push_back(read_text(file));
  // Those use more of the format than the files that ship.
  for (std::uint64_t seed = 0; seed < 12; ++seed) texts.push_back(generated_scenario(seed));
  const std::uint64_t inputs = number_from("ONCECHECK_FUZZ", 3000), first = number_from("ONCECHECK_FUZZ_SEED", 0);
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  Tally& tally = *new (shared) Tally;
  for (tally.seed = first; tally.seed < first + inputs; ++tally.seed) {
    const int status = in_child(texts, first + inputs, tally);
    if (status == 0) break;
    FAIL_CHECK("seed " << tally.seed << " ended with " << status << ":\n" << damaged_scenario(texts, tally.seed));
  }
  MESSAGE(tally.refused << " inputs refused, " << tally.ran << " ran");
  // A fuzzer that breaks every file tests only the reader.
  CHECK(tally.ran * 10 > inputs);
  CHECK(tally.refused * 10 > inputs);
  munmap(shared, sizeof(Tally));
}

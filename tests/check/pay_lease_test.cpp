// The protocol of docs/performance.md: the verdicts of SPIN, Rumur and TLC, and the number of states that Rumur counts of
// tests/bench/pay_lease_as_ours.m.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "invariants/load.hpp"
#include "model/check/checker.hpp"

using namespace oncecheck;

namespace {

CheckResult checked(const std::string& variant, const std::map<std::string, int>& set) {
  LoadOptions options;
  options.variant = variant;
  for (const auto& [name, value] : set) options.overrides[name] = std::to_string(value);
  CheckOptions all;
  all.explore_all = true;
  const auto programs = load_programs(std::string(ONCECHECK_SOURCE_DIR) + "/tests/bench/pay-lease.jsonc", options);
  return check(*programs.front(), all);
}

std::string verdicts(const CheckResult& r) {
  std::string out;
  for (const InvariantResult& i : r.invariants) out += i.verdict == Verdict::Holds ? "h" : i.verdict == Verdict::Violated ? "v" : "?";
  return out;
}

}  // namespace

TEST_CASE("pay-lease has the verdicts of the other model checkers") {
  for (int handlers : {2, 3}) {
    CAPTURE(handlers);
    CHECK(verdicts(checked("key-honoured", {{"handlers", handlers}})) == "hvhv");
    CHECK(verdicts(checked("key-ignored", {{"handlers", handlers}})).front() == 'v');
  }
}

TEST_CASE("without losses pay-lease has as many states as the same protocol in Murphi") {
  const auto states = [](int handlers, int retries, int timeouts, int crashes, int expiries) {
    return checked("key-honoured", {{"handlers", handlers}, {"retries", retries}, {"timeouts", timeouts}, {"losses", 0}, {"crashes", crashes},
                                    {"expiries", expiries}}).states;
  };
  CHECK(states(1, 0, 0, 0, 0) == 16);
  CHECK(states(2, 0, 0, 0, 0) == 62);
  CHECK(states(2, 1, 0, 0, 0) == 92);
  CHECK(states(2, 1, 1, 0, 0) == 344);
  CHECK(states(2, 1, 0, 1, 0) == 426);
  CHECK(states(2, 1, 0, 0, 1) == 942);
}

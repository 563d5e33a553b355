#include "reports/run_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/trace_file.hpp"

namespace oncecheck {

namespace {

const char* target_kind(FaultTarget t) {
  switch (t) {
    case FaultTarget::Any: return "";
    case FaultTarget::Service: return "service";
    case FaultTarget::Provider: return "provider";
    case FaultTarget::Client: return "client";
    case FaultTarget::Redis: return "redis";
    case FaultTarget::Database: return "database";
    case FaultTarget::Queue: return "queue";
    case FaultTarget::Network: return "between";
  }
  return "";
}

std::string fault_words(const Program& p, const FaultBudget& f) {
  std::string out = fault_name(f.kind);
  std::string name;
  const auto i = static_cast<std::size_t>(std::max(f.index, 0));
  if (f.target == FaultTarget::Service) name = p.services[i].name;
  if (f.target == FaultTarget::Provider) name = p.providers[i].name;
  if (f.target == FaultTarget::Client) name = p.clients[i];
  if (f.target == FaultTarget::Queue) name = p.message_queues[i].name;
  if (f.target == FaultTarget::Database) name = p.plan.layout.databases[i].name;
  if (f.target == FaultTarget::Network) name = p.network.cuts[i];
  if (f.target == FaultTarget::Redis) name = p.plan.layout.redis[i].name;
  if (!name.empty()) out += std::string(" (") + target_kind(f.target) + " " + name + ")";
  return out;
}

std::vector<std::string> covered(const Program& p) {
  std::vector<std::string> out;
  for (const auto& [name, c] : p.scenario.clients) {
    out.push_back(fmt::format("client {}: {} request(s), {} click(s), {} retries", name, c.requests.size(), c.clicks,
                              c.retries == kUnlimited ? "unlimited" : std::to_string(c.retries)));
  }
  for (const ServiceInfo& s : p.services) {
    out.push_back(fmt::format("service {}: {} instance(s), at most {} requests at once", s.name, s.instances, s.request_tasks.size()));
  }
  std::string faults;
  for (const FaultBudget& f : p.faults) {
    faults += (faults.empty() ? "" : ", ") + fault_words(p, f) + (f.endless ? " without end" : " x" + std::to_string(f.max));
  }
  out.push_back("faults: " + (faults.empty() ? "none" : faults));
  return out;
}

RunReport base_report(const Program& p, const char* mode, const std::vector<int>& unreached, const std::vector<int>& unused) {
  RunReport r;
  r.scenario = p.scenario.file;
  r.variant = p.scenario.variant;
  r.title = p.scenario.title;
  r.mode = mode;
  for (int s : unreached) {
    const StepInfo& step = p.steps[static_cast<std::size_t>(s)];
    r.unreached_steps.push_back(step.place + ": " + step.text);
  }
  for (int f : unused) r.unused_faults.push_back(fault_words(p, p.faults[static_cast<std::size_t>(f)]));
  r.coverage = covered(p);
  r.has_expect = p.scenario.has_expect;
  r.expects_violation_of_any = p.scenario.expect_all == Expectation::Violated;
  return r;
}

}  // namespace

RunReport make_report(const Program& program, const CheckResult& result, const std::map<std::string, std::string>& overrides) {
  RunReport r = base_report(program, "check", result.complete ? result.unreached_steps : std::vector<int>{},
                            result.complete ? result.unused_faults : std::vector<int>{});
  r.check = result;
  for (std::size_t i = 0; i < result.invariants.size(); ++i) {
    const InvariantResult& v = result.invariants[i];
    VerdictReport report{v.name, v.verdict, program.invariants[i].expected, std::nullopt, 0};
    if (v.verdict == Verdict::Violated) report.trace = trace_of(program, v.trace, v.name, v.at_rest, overrides, v.cycle_from);
    r.verdicts.push_back(std::move(report));
  }
  for (const auto& [what, pinned] : program.scenario.expect_counts) {
    const std::uint64_t got = what == "states" ? result.states : what == "transitions" ? result.transitions : static_cast<std::uint64_t>(result.depth);
    if (result.complete && got != pinned) r.count_mismatches.push_back(fmt::format("{}: {} expected, {} found", what, pinned, got));
  }
  return r;
}

RunReport make_report(const Program& program, const SimulateResult& result, const std::map<std::string, std::string>& overrides) {
  RunReport r = base_report(program, "simulate", result.unreached_steps, result.unused_faults);
  r.simulated = result;
  r.check.seconds = result.seconds;
  r.check.transitions = result.events;
  for (std::size_t i = 0; i < result.invariants.size(); ++i) {
    const SimulatedInvariant& v = result.invariants[i];
    const bool broken = v.broken_runs > 0;
    // Random runs that find nothing prove nothing.
    VerdictReport report{v.name, broken ? Verdict::Violated : Verdict::Inconclusive, program.invariants[i].expected, std::nullopt, v.broken_runs};
    if (broken) report.trace = trace_of(program, v.trace, v.name, v.at_rest, overrides);
    r.verdicts.push_back(std::move(report));
  }
  return r;
}

int exit_status(const RunReport& r) {
  bool inconclusive = false, differs = !r.count_mismatches.empty(), any_violated = false;
  for (const VerdictReport& v : r.verdicts) {
    any_violated = any_violated || v.verdict == Verdict::Violated;
    const bool must_hold = v.expected == Expectation::Holds || (!r.has_expect && !v.expected);
    if (v.verdict == Verdict::Violated && must_hold) differs = true;
    if (v.verdict == Verdict::Holds && v.expected == Expectation::Violated) differs = true;
    if (v.verdict == Verdict::Inconclusive) inconclusive = true;
  }
  if (r.expects_violation_of_any) {
    if (any_violated) return r.count_mismatches.empty() ? 0 : 1;
    if (!inconclusive) differs = true;
  }
  if (differs) return 1;
  if (r.mode == "simulate") {
    // A simulation is asked for what it finds: nothing found is no verdict, and no failure either.
    return 0;
  }
  // A verdict that is still open counts as such, even if the search ended because everything else was decided.
  return inconclusive || (r.verdicts.empty() && !r.check.complete) ? 3 : 0;
}

}  // namespace oncecheck

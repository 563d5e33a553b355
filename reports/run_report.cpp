#include "reports/run_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/program/place_names.hpp"
#include "reports/trace_file.hpp"

namespace oncecheck {

namespace {

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

bool goes_on_for_ever(const Program& p) {
  return std::any_of(p.senders.begin(), p.senders.end(), [](const SenderInfo& s) { return s.retries == kUnlimited || s.polls == kEndlessPolls; });
}

RunReport base_report(const Program& p, const char* mode, const Unseen& unseen, bool whole) {
  RunReport r;
  r.scenario = p.scenario.file;
  r.variant = p.scenario.variant;
  r.title = p.scenario.title;
  r.mode = mode;
  r.hygiene = hygiene_of(p, unseen, whole);
  r.coverage = covered(p);
  r.has_expect = p.scenario.has_expect;
  r.expects_violation_of_any = p.scenario.expect_all == Expectation::Violated;
  return r;
}

}  // namespace

RunReport make_report(const Program& program, const CheckResult& result, const std::map<std::string, std::string>& overrides) {
  RunReport r = base_report(program, "check", result.unseen, result.complete);
  r.check = result;
  for (std::size_t i = 0; i < result.invariants.size(); ++i) {
    const InvariantResult& v = result.invariants[i];
    VerdictReport report{v.name, v.verdict, program.invariants[i].expected, std::nullopt, 0, 0};
    if (v.verdict == Verdict::Violated) report.trace = trace_of(program, v.trace, v.name, v.at_rest, overrides, v.cycle_from);
    const bool holds_at_rest = v.verdict == Verdict::Holds && program.invariants[i].spec.kind == InvariantKind::FinallyEmpty;
    if (holds_at_rest && goes_on_for_ever(program)) r.only_at_rest.push_back(v.name);
    r.verdicts.push_back(std::move(report));
  }
  for (const auto& [what, pinned] : program.scenario.expect_counts) {
    const std::uint64_t got = what == "states" ? result.states : what == "transitions" ? result.transitions : static_cast<std::uint64_t>(result.depth);
    if (result.complete && got != pinned) r.count_mismatches.push_back(fmt::format("{}: {} expected, {} found", what, pinned, got));
  }
  return r;
}

RunReport make_report(const Program& program, const SimulateResult& result, const std::map<std::string, std::string>& overrides) {
  RunReport r = base_report(program, "simulate", result.unseen, false);
  r.simulated = result;
  r.check.seconds = result.seconds;
  r.check.transitions = result.events;
  for (std::size_t i = 0; i < result.invariants.size(); ++i) {
    const SimulatedInvariant& v = result.invariants[i];
    const bool broken = v.broken_runs > 0;
    // Random runs that find nothing prove nothing.
    VerdictReport report{v.name, broken ? Verdict::Violated : Verdict::Inconclusive, program.invariants[i].expected, std::nullopt, v.broken_runs, v.first_run};
    if (broken) report.trace = trace_of(program, v.trace, v.name, v.at_rest, overrides, v.cycle_from);
    r.verdicts.push_back(std::move(report));
  }
  return r;
}

namespace {

bool misses_mark(const RunReport& r) {
  return std::any_of(r.hygiene.marks.begin(), r.hygiene.marks.end(), [](const MarkReport& m) { return !m.reached; });
}

// Some promise holds only because there was never anything to judge.
bool holds_unarmed(const RunReport& r) {
  const auto holds = [&](const std::string& promise) {
    return std::any_of(r.verdicts.begin(), r.verdicts.end(), [&](const VerdictReport& v) { return v.invariant == promise && v.verdict == Verdict::Holds; });
  };
  return std::any_of(r.hygiene.gaps.begin(), r.hygiene.gaps.end(), [&](const Gap& g) { return g.kind == Gap::Kind::Promise && holds(g.what); });
}

}  // namespace

int exit_status(const RunReport& r) {
  // A mark may still be reached where the search did not go.
  const bool open_mark = r.mode == "check" && !r.hygiene.whole && misses_mark(r);
  bool inconclusive = false;
  bool differs = !r.count_mismatches.empty() || !r.hygiene.stale.empty(), any_violated = false;
  for (const VerdictReport& v : r.verdicts) {
    any_violated = any_violated || v.verdict == Verdict::Violated;
    const bool must_hold = v.expected == Expectation::Holds || (!r.has_expect && !v.expected);
    if (v.verdict == Verdict::Violated && must_hold) differs = true;
    if (v.verdict == Verdict::Holds && v.expected == Expectation::Violated) differs = true;
    if (v.verdict == Verdict::Inconclusive) inconclusive = true;
  }
  if (r.expects_violation_of_any) {
    inconclusive = inconclusive && !any_violated;
    if (!any_violated && !inconclusive) differs = true;
  }
  if (differs) return 1;
  if (r.mode == "simulate") {
    // A simulation is asked for what it finds: nothing found is no verdict, and no failure either.
    return 0;
  }
  // A verdict that is still open counts as such, even if the search ended because everything else was decided.
  if (inconclusive || open_mark || (r.verdicts.empty() && !r.check.complete)) return 3;
  return r.hygiene.whole && (misses_mark(r) || holds_unarmed(r)) ? 5 : 0;
}

}  // namespace oncecheck

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/run_report.hpp"
#include "reports/table.hpp"

namespace oncecheck {

namespace {

std::string verdict_line(const RunReport& r, const VerdictReport& v, const TextOptions& o) {
  const bool must_hold = v.expected == Expectation::Holds || (!r.has_expect && !v.expected);
  const bool surprise = (v.verdict == Verdict::Violated && must_hold && !r.expects_violation_of_any) ||
                        (v.verdict == Verdict::Holds && v.expected == Expectation::Violated);
  const char* mark = v.verdict == Verdict::Holds ? (o.unicode ? "✓" : "+") : v.verdict == Verdict::Violated ? (o.unicode ? "✗" : "X") : "?";
  std::string line = fmt::format("    {} {:<28} {}", mark, v.invariant, verdict_name(v.verdict));
  if (v.trace) line += " " + broken_when(v.trace->choices.size(), v.trace->cycle_from);
  if (v.broken_runs > 0) line += fmt::format(", in {} runs", thousands(v.broken_runs));
  if (surprise) {
    line += r.has_expect ? fmt::format("   UNEXPECTED: expected {}", v.expected == Expectation::Holds ? "holds" : "violated") : "";
  } else if (v.expected == Expectation::Violated && v.verdict == Verdict::Violated) {
    line += "   as expected";
  }
  if (o.color && surprise) line = "\033[31m" + line + "\033[0m";
  return line + "\n";
}

std::string symmetry_lines(const CheckResult& r) {
  std::string out;
  if (!r.interchangeable.empty()) {
    out += fmt::format("    symmetry: interchangeable are {}", fmt::join(r.interchangeable, ", "));
    out += r.collapsed ? "\n" : fmt::format("; {} of {} steps led to a state that another one stands for\n", thousands(r.renamed), thousands(r.transitions));
  }
  if (r.collapsed) out += "    collapsed: what a request does beside a shared state was found out once, and remembered\n";
  for (const std::string& s : r.kept_apart) out += "    symmetry: told apart are " + s + "\n";
  return out;
}

bool any_violated(const RunReport& r) {
  return std::any_of(r.verdicts.begin(), r.verdicts.end(), [](const VerdictReport& v) { return v.verdict == Verdict::Violated; });
}

std::string hygiene_lines(const RunReport& r, bool verbose) {
  const Hygiene& h = r.hygiene;
  std::string out;
  for (const std::string& s : h.stale) out += "    \"unreached\" names what is reached: " + s + "\n";
  // A search that ended early has not looked everywhere.
  const bool looked = h.whole || r.mode == "simulate";
  for (const MarkReport& m : h.marks) {
    if (!m.reached) out += std::string("    ") + (h.whole ? "NOT REACHED: " : "not reached so far: ") + m.name + " (" + m.text + ")\n";
    if (m.reached && verbose) out += "    reached: " + m.name + "\n";
  }
  if (!looked) return out + (verbose ? "    what is never reached is not known: the search ended early (--all-states)\n" : "");
  for (const Gap& g : h.gaps) {
    if (!g.implied) out += "    " + gap_words(g, h.whole) + "\n";
  }
  for (const Gap& g : h.intended) {
    if (!g.implied && verbose) out += "    " + gap_words(g, h.whole) + "; intended: " + g.reason + "\n";
  }
  return out;
}

}  // namespace

std::string broken_when(std::size_t steps, const std::optional<std::size_t>& cycle_from) {
  if (!cycle_from) return fmt::format("in {} steps", steps);
  const std::string how = steps == *cycle_from ? "nothing more happens" : fmt::format("a cycle of {}", steps - *cycle_from);
  return fmt::format("after {} steps and then for ever ({})", *cycle_from, how);
}

std::string to_text(const RunReport& r, const TextOptions& o) {
  const int status = exit_status(r);
  const char* word = status == 0 ? "ok" : status == 1 ? (r.has_expect || !any_violated(r) ? "DIFFERS" : "VIOLATED") : status == 5 ? "VACUOUS" : "INCONCLUSIVE";
  std::string out = r.scenario + (r.variant.empty() ? "" : "  " + r.variant) + "\n";
  if (r.mode == "check") {
    out += fmt::format("    {:<12} {} states, {} transitions, depth {}, {} bytes a state, {:.2f} s\n", word, thousands(r.check.states),
                       thousands(r.check.transitions), r.check.depth, r.check.state_bytes, r.check.seconds);
  } else {
    const SimulateResult& s = *r.simulated;
    out += fmt::format("    {:<12} {} runs, {} events, {} came to rest, {:.2f} s\n", word, thousands(s.runs), thousands(s.events),
                       thousands(s.at_rest), s.seconds);
    if (s.circled > 0) out += fmt::format("    {} runs went round for ever\n", thousands(s.circled));
    if (s.unfinished > 0) out += fmt::format("    {} runs were cut off before they came to rest\n", thousands(s.unfinished));
    if (s.limited > 0) out += fmt::format("    {} runs met a bound of the model\n", thousands(s.limited));
  }
  for (const VerdictReport& v : r.verdicts) out += verdict_line(r, v, o);
  if (r.mode == "check" && !r.check.why_incomplete.empty() && r.check.why_incomplete.find("every promise is broken") == std::string::npos) {
    out += "    inconclusive: " + r.check.why_incomplete + "\n";
  }
  for (const std::string& m : r.count_mismatches) out += "    pinned count differs: " + m + "\n";
  if (!r.only_at_rest.empty()) {
    out += fmt::format("    only at rest: {}; whoever tries again without end need not come to rest (eventually_empty asks what happens then)\n",
                       fmt::join(r.only_at_rest, ", "));
  }
  out += hygiene_lines(r, o.verbose);
  if (o.verbose) {
    for (const std::string& c : r.coverage) out += "    covered: " + c + "\n";
    const double n = static_cast<double>(r.check.states);
    if (r.mode == "check") {
      out += symmetry_lines(r.check);
      out += fmt::format("    {} states/s, {:.1f} MB, {:.1f} bytes a visited state, chance that a fingerprint collision hid a state: {:.1e}\n",
                         thousands(r.check.seconds > 0 ? static_cast<std::uint64_t>(n / r.check.seconds) : 0),
                         static_cast<double>(r.check.peak_memory_bytes) / 1e6, static_cast<double>(r.check.visited_bytes) / n, n * n / std::ldexp(1.0, 65));
    }
  }
  return out;
}

std::string summary(const std::vector<RunReport>& reports, double seconds) {
  std::map<int, int> by_status;
  std::uint64_t states = 0;
  for (const RunReport& r : reports) {
    ++by_status[exit_status(r)];
    states += r.check.states;
  }
  std::string out = fmt::format("{} variants: {} as expected", reports.size(), by_status[0]);
  if (by_status[1] > 0) out += fmt::format(", {} different", by_status[1]);
  if (by_status[5] > 0) out += fmt::format(", {} vacuous", by_status[5]);
  if (by_status[3] > 0) out += fmt::format(", {} inconclusive", by_status[3]);
  std::uint64_t events = 0;
  for (const RunReport& r : reports) events += r.simulated ? r.simulated->events : 0;
  return out + (events > 0 ? fmt::format("; {} events in {:.1f} s\n", thousands(events), seconds)
                           : fmt::format("; {} states in {:.1f} s\n", thousands(states), seconds));
}

}  // namespace oncecheck

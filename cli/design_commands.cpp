#include "cli/design_commands.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "cli/files.hpp"
#include "invariants/load.hpp"
#include "reports/ablation_report.hpp"
#include "reports/trace_file.hpp"
#include "reports/windows_report.hpp"

namespace oncecheck {

namespace {

// Where text goes: JSON on standard output stands alone there.
std::FILE* text_out(const Arguments& a) { return a.json == "-" ? stderr : stdout; }

void print(const Arguments& a, const std::string& text) {
  std::fputs(text.c_str(), text_out(a));
  std::fflush(text_out(a));
}

// Calls run(scenario) for each variant asked for, and writes the JSON of what it gives.
template <class Result, class Run>
std::vector<Result> each_variant(const Arguments& a, Run run) {
  std::vector<Result> results;
  std::vector<Diagnostic> mistakes;
  for (const std::string& file : scenario_files(a.paths)) {
    try {
      for (const Scenario& s : load_scenarios(file, {overrides_of(a), a.variant, true})) results.push_back(run(s));
    } catch (const ScenarioError& e) {
      // One bad file does not keep the others from being looked at, but it decides the exit status.
      mistakes.insert(mistakes.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  }
  if (!a.json.empty()) write_report(a.json, to_json(results));
  if (!mistakes.empty()) throw ScenarioError(std::move(mistakes));
  return results;
}

void save(const Arguments& a, const std::string& stem, const std::vector<Trace>& traces) {
  if (a.traces.empty() || traces.empty()) return;
  make_folder(a.traces);
  for (const Trace& t : traces) {
    write_file(trace_stem(a.traces, t.scenario, t.variant) + "." + stem + "." + file_stem(t.invariant) + ".trace.json", trace_to_json(t));
  }
}

}  // namespace

int run_ablate(const Arguments& a) {
  const Terminal terminal = stdout_terminal();
  CheckOptions options = check_options(a);
  ProgressLine line;
  std::string so_far;
  options.progress = [&](const Progress& p) { line.show(p, so_far); };
  const auto results = each_variant<Ablation>(a, [&](const Scenario& s) {
    so_far.clear();
    Ablation r = ablate(s, options, [&](std::size_t done, std::size_t all) { so_far = fmt::format("{} of {} mutants, ", done, all); });
    line.clear();
    print(a, to_text(r, text_options(a, terminal)) + "\n");
    for (std::size_t m = 0; m < r.mutants.size(); ++m) {
      const MutantResult& mutant = r.mutants[m];
      save(a, fmt::format("ablate-{}", m + 1), traces_of(mutant, overrides_of(a)));
      for (const InvariantResult& i : mutant.check.invariants) {
        if (!a.explain || i.verdict != Verdict::Violated) continue;
        print(a, fmt::format("{}: {}: {}\n", mutant.mutant.place, mutant.mutant.change, mutant.mutant.text));
        print_story(*mutant.program, i.trace, {i.name, i.at_rest, i.cycle_from}, terminal, text_out(a));
      }
    }
    return r;
  });
  int status = 0;
  for (const Ablation& r : results) status = std::max(status, exit_status(r) == 3 ? 3 : 0);
  const bool none = std::all_of(results.begin(), results.end(), [](const Ablation& r) { return !r.refused.empty(); });
  return status == 0 && none ? 2 : status;
}

int run_windows(const Arguments& a) {
  const Terminal terminal = stdout_terminal();
  WindowOptions options{check_options(a), a.keep_faults};
  ProgressLine line;
  std::string so_far;
  options.check.progress = [&](const Progress& p) { line.show(p, so_far); };
  const auto results = each_variant<WindowTable>(a, [&](const Scenario& s) {
    so_far.clear();
    WindowTable t = check_windows(s, options, [&](std::size_t done, std::size_t all) { so_far = fmt::format("{} of {} disturbances, ", done, all); });
    line.clear();
    print(a, to_text(t, text_options(a, terminal)) + "\n");
    for (std::size_t w = 0; w < t.windows.size(); ++w) {
      for (const WindowColumn& c : t.columns) {
        save(a, fmt::format("window-{}.{}", w + 1, fault_name(c.disturbance)), traces_of(t, c, c.cells[w], overrides_of(a)));
        for (const InvariantResult& i : c.cells[w].broken) {
          if (!a.explain) continue;
          print(a, fmt::format("window {}, {}: {}\n", w + 1, t.windows[w].place, fault_name(c.disturbance)));
          print_story(*c.program, i.trace, {i.name, i.at_rest, i.cycle_from}, terminal, text_out(a));
        }
      }
    }
    return t;
  });
  int status = 0;
  for (const WindowTable& t : results) status = std::max(status, exit_status(t));
  return status;
}

}  // namespace oncecheck

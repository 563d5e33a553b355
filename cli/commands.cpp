#include "cli/commands.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/conform_command.hpp"
#include "cli/design_commands.hpp"
#include "cli/files.hpp"
#include "cli/list_library.hpp"
#include "cli/terminal.hpp"
#include "invariants/library.hpp"
#include "invariants/load.hpp"
#include "model/check/ablation.hpp"
#include "model/check/checker.hpp"
#include "model/check/windows.hpp"
#include "model/program/schema.hpp"
#include "model/program/text_file.hpp"
#include "reports/merge_reports.hpp"
#include "reports/run_report.hpp"
#include "reports/story.hpp"
#include "reports/timeline.hpp"
#include "reports/trace_file.hpp"
#include "reports/version.hpp"
#include "sim/replay.hpp"
#include "sim/simulator.hpp"

namespace oncecheck {

namespace {

void save_traces(const Arguments& a, const RunReport& r) {
  if (a.traces.empty()) return;
  make_folder(a.traces);
  for (const VerdictReport& v : r.verdicts) {
    if (!v.trace) continue;
    write_file(trace_stem(a.traces, r.scenario, r.variant) + "." + file_stem(v.invariant) + ".trace.json", trace_to_json(*v.trace));
  }
}

void print_stories(const Program& p, const RunReport& r, const Terminal& t, std::FILE* out) {
  for (const VerdictReport& v : r.verdicts) {
    if (v.trace) print_story(p, replay(p, v.trace->choices).events, {v.invariant, v.trace->at_rest, v.trace->cycle_from}, t, out);
  }
}

int worst(int a, int b) {
  // A verdict that differs matters more than one that is open, and that one more than one that says nothing.
  for (int status : {1, 3, 5}) {
    if (a == status || b == status) return status;
  }
  return std::max(a, b);
}

template <class Run>
int run_scenarios(const Arguments& a, Run run) {
  const Terminal terminal = stdout_terminal();
  // JSON on standard output stands alone there.
  std::FILE* const out = a.json == "-" ? stderr : stdout;
  const auto start = std::chrono::steady_clock::now();
  const Overrides overrides = overrides_of(a);
  std::vector<RunReport> reports;
  std::vector<Diagnostic> mistakes;
  int status = 0;
  for (const std::string& file : scenario_files(a.paths)) {
    try {
      for (const auto& program : load_programs(file, {overrides, a.variant, !a.no_reductions})) {
        RunReport r = run(*program, overrides);
        status = worst(status, exit_status(r));
        if (!a.quiet || exit_status(r) != 0) std::fputs(to_text(r, text_options(a, terminal)).c_str(), out);
        if (a.explain) print_stories(*program, r, terminal, out);
        std::fflush(out);
        save_traces(a, r);
        reports.push_back(std::move(r));
      }
    } catch (const ScenarioError& e) {
      // One bad file does not keep the others from being checked, but it decides the exit status.
      mistakes.insert(mistakes.end(), e.diagnostics().begin(), e.diagnostics().end());
    }
  }
  if (!a.json.empty()) write_report(a.json, to_json(reports, !a.no_times));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (reports.size() > 1 && !(a.quiet && status == 0)) std::fputs(("\n" + summary(reports, seconds)).c_str(), out);
  if (!mistakes.empty()) throw ScenarioError(std::move(mistakes));
  return status;
}

int run_check(const Arguments& a) {
  CheckOptions options = check_options(a);
  options.explore_all = a.explore_all;
  options.symmetry = !a.no_symmetry && !a.no_reductions;
  options.collapse = !a.no_collapse;
  ProgressLine line;
  options.progress = [&](const Progress& p) { line.show(p); };
  return run_scenarios(a, [&](const Program& p, const Overrides& overrides) {
    const CheckResult result = check(p, options);
    line.clear();
    return make_report(p, result, overrides);
  });
}

// "2/4"; "" is all.
bool read_shard(const std::string& text, SimulateOptions& options) {
  if (text.empty()) return true;
  unsigned long long i = 0, n = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4llu/%4llu%n", &i, &n, &used) != 2 || used != static_cast<int>(text.size()) || i < 1 || i > n) return false;
  options.shard = i - 1;
  options.shards = n;
  return true;
}

int run_simulate(const Arguments& a) {
  SimulateOptions options;
  options.runs = a.runs;
  options.seed = a.seed;
  options.threads = a.threads;
  for (const Strategy s : {Strategy::Uniform, Strategy::Pct, Strategy::Swarm}) {
    if (a.strategy == strategy_name(s)) options.strategy = s;
  }
  if (!read_shard(a.shard, options)) {
    std::fprintf(stderr, "oncecheck: --shard %s: expected I/N with I from 1 to N, as 2/4\n", a.shard.c_str());
    return 2;
  }
  return run_scenarios(a, [&](const Program& p, const Overrides& overrides) { return make_report(p, simulate(p, options), overrides); });
}

int run_merge(const Arguments& a) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& path : a.paths) {
    TextFile file = read_text_file(path);
    if (!file.error.empty()) throw ScenarioError({path, "", 0, 0}, "this report cannot be read: " + file.error);
    files.emplace_back(path, std::move(file.text));
  }
  const MergedReports merged = merge_reports(files);
  if (!a.json.empty()) write_report(a.json, merged.json);
  if (a.json != "-") std::fputs(merged.text.c_str(), stdout);
  return merged.status;
}

struct LoadedTrace {
  Trace trace;
  std::unique_ptr<Program> program;
};

LoadedTrace load_trace(const Arguments& a) {
  LoadedTrace out;
  out.trace = read_trace(a.trace);
  // The scenario is looked for as the trace names it, then beside the trace.
  std::string file = out.trace.scenario;
  std::error_code error;  // a name that no file can have is told by who reads it
  if (!std::filesystem::exists(file, error)) {
    const auto beside = std::filesystem::path(a.trace).parent_path() / std::filesystem::path(file).filename();
    if (std::filesystem::exists(beside, error)) file = beside.string();
  }
  Overrides overrides(out.trace.overrides.begin(), out.trace.overrides.end());
  for (const auto& [name, value] : overrides_of(a)) overrides[name] = value;
  const LoadOptions options{overrides, out.trace.variant, true};
  const Scenario scenario = std::move(load_scenarios(file, options).front());
  if (!out.trace.ablation.empty()) {
    Mutant mutant = find_mutant(scenario, out.trace.ablation);
    out.program = compile_mutant(mutant);
  } else if (!out.trace.only_fault.empty()) {
    out.program = disturbed_program(scenario, out.trace.only_fault, false);
  } else if (!out.trace.one_more.empty()) {
    out.program = disturbed_program(scenario, out.trace.one_more, true);
  } else {
    out.program = load_program(scenario);
  }
  return out;
}

void print_divergence(const ReplayDivergence& d) {
  std::fprintf(stderr, "oncecheck: the trace diverges at step %zu: \"%s\" cannot happen there\n", d.step + 1, d.choice.c_str());
  if (!d.reason.empty()) std::fprintf(stderr, "  reason: %s\n", d.reason.c_str());
  if (!d.nearest.empty()) std::fprintf(stderr, "  nearest that can: \"%s\"\n", d.nearest.c_str());
  std::fprintf(stderr, "  what can happen:\n");
  for (const std::string& o : d.offered) std::fprintf(stderr, "    %s\n", o.c_str());
}

int run_replay(const Arguments& a) {
  const LoadedTrace t = load_trace(a);
  const Replay run = replay(*t.program, t.trace.choices);
  if (run.divergence) {
    print_divergence(*run.divergence);
    return 1;
  }
  if (t.trace.invariant.empty()) {
    std::printf("replayed %zu steps\n", run.events.size());
    return 0;
  }
  std::string why;
  if (!breaks_at_end(*t.program, run.events, t.trace.invariant, t.trace.cycle_from, &why)) {
    std::fprintf(stderr, "oncecheck: all %zu steps replay, but %s is not broken at their end any more%s%s\n", run.events.size(),
                 t.trace.invariant.c_str(), why.empty() ? "" : ": ", why.c_str());
    return 1;
  }
  std::printf("replayed %zu steps: %s is broken at the end\n", run.events.size(), t.trace.invariant.c_str());
  return 0;
}

int run_explain(const Arguments& a) {
  const Terminal terminal = stdout_terminal();
  const LoadedTrace t = load_trace(a);
  const Replay run = replay(*t.program, t.trace.choices);
  const bool broken = !run.divergence && !t.trace.invariant.empty() && breaks_at_end(*t.program, run.events, t.trace.invariant, t.trace.cycle_from);
  const std::string invariant = broken ? t.trace.invariant : "";
  const Story story = tell(*t.program, run.events, invariant, t.trace.cycle_from);
  std::fputs(timeline(*t.program, story, {invariant, t.trace.at_rest, t.trace.cycle_from}, {terminal.unicode, terminal.color, terminal.width}).c_str(), stdout);
  std::fflush(stdout);
  if (run.divergence) {
    print_divergence(*run.divergence);
    return 1;
  }
  if (!t.trace.invariant.empty() && !broken) {
    std::fprintf(stderr, "oncecheck: %s is not broken at the end of this trace any more\n", t.trace.invariant.c_str());
    return 1;
  }
  return 0;
}

int run_list(const Arguments& a) {
  if (a.paths.size() == 1 && list_library(a.paths[0])) return 0;  // a folder of that name: ./faults
  for (const std::string& file : scenario_files(a.paths.empty() ? std::vector<std::string>{"scenarios"} : a.paths)) {
    bool first = true;
    for (const Scenario& s : read_scenario(file, overrides_of(a))) {
      if (first) std::printf("%s: %s\n", file.c_str(), s.title.c_str());
      first = false;
      if (!s.variant.empty()) std::printf("    %-28s %s\n", s.variant.c_str(), s.lesson.c_str());
    }
  }
  return 0;
}

void add_scenario_options(CLI::App* c, Arguments& a) {
  c->add_option("scenario", a.paths, "scenario files, or folders of them")->required();
  c->add_option("--variant", a.variant, "only this variant");
  c->add_option("--set", a.sets, "override a parameter of the scenario: NAME=VALUE (may be repeated)")->allow_extra_args(false);
  c->add_option("--threads", a.threads, "threads; the result is the same for any number (default: one a core)")->check(CLI::Range(1, 256));
  c->add_option("--json", a.json, "write the report as JSON to this file (- for standard output)");
  c->add_option("--traces", a.traces, "write a trace file for each broken promise into this folder");
  c->add_flag("--explain", a.explain, "tell the story of each broken promise");
}

void add_run_options(CLI::App* c, Arguments& a) {
  add_scenario_options(c, a);
  c->add_flag("--no-times", a.no_times, "leave times and memory out of the JSON: the same bytes on every run");
  c->add_flag("-q,--quiet", a.quiet, "print only what is not as expected");
  c->add_flag("-v,--verbose", a.verbose, "also print what was covered");
}

void add_limits(CLI::App* c, Arguments& a) {
  c->add_option("--max-states", a.max_states, "stop a search after about this many states: inconclusive");
  c->add_option("--max-memory", a.max_memory, "stop a search at this much memory for states, e.g. 4G: inconclusive");
}

}  // namespace

int run_command_line(int argc, char** argv) {
  Arguments a;
  CLI::App app{"oncecheck: a model checker and fault simulator for idempotent endpoints\n"
               "Example: oncecheck check scenarios/ --explain"};
  app.set_version_flag("--version", std::string("oncecheck ") + kVersion);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);
  app.footer("Exit status: 0 every verdict is as expected; 1 a verdict differs; 2 bad usage or scenario; 3 inconclusive; 4 our own bug; 5 vacuous.");

  CLI::App* c = app.add_subcommand("check", "explore every interleaving within the fault budgets");
  add_run_options(c, a);
  add_limits(c, a);
  c->add_flag("--no-reductions", a.no_reductions, "switch reductions off (dead variables, order of purges, symmetry): more states, the same verdicts");
  c->add_flag("--no-collapse", a.no_collapse, "take every step anew instead of remembering what parts of a state do: slower, the same states");
  c->add_flag("--no-symmetry", a.no_symmetry, "tell interchangeable clicks, handlers, instances and clients apart: more states, the same verdicts");
  c->add_flag("--all-states", a.explore_all, "explore to the end even when every promise is broken already");
  c->footer("Example: oncecheck check scenarios/lying-api.jsonc --variant charge-then-ledger --explain");

  c = app.add_subcommand("simulate", "random runs, seeded");
  add_run_options(c, a);
  c->add_option("--runs", a.runs, "number of runs (default 1000)");
  c->add_option("--seed", a.seed, "same seed, same runs (default 1)");
  c->add_option("--strategy", a.strategy, "uniform: any event; pct: random priorities; swarm: random faults and speeds (default uniform)")
      ->check(CLI::IsMember({"uniform", "pct", "swarm"}));
  c->add_option("--shard", a.shard, "I/N: only the I-th of N parts of the runs; 'merge' puts their JSON together");
  c->footer("Example: oncecheck simulate scenarios/redis-failover.jsonc --runs 100000 --seed 7");

  c = app.add_subcommand("merge", "put the JSON reports of the parts of one simulation together");
  c->add_option("reports", a.paths, "what 'simulate --shard I/N --json FILE' wrote, all of them")->required();
  c->add_option("--json", a.json, "write the whole report as JSON to this file (- for standard output)");
  c->footer("Example: oncecheck merge part1.json part2.json --json all.json");

  c = app.add_subcommand("ablate", "take away one step, guard or constraint at a time: which are load-bearing");
  add_scenario_options(c, a);
  add_limits(c, a);
  c->add_flag("-v,--verbose", a.verbose, "do not shorten texts");
  c->footer("Example: oncecheck ablate scenarios/lying-api.jsonc --variant intent-log");

  c = app.add_subcommand("windows", "one disturbance between two neighbouring steps: where does it break a promise");
  add_scenario_options(c, a);
  add_limits(c, a);
  c->add_flag("-v,--verbose", a.verbose, "do not shorten texts");
  c->add_flag("--keep-faults", a.keep_faults, "the faults of the scenario may happen besides: one disturbance more than it has");
  c->footer("Example: oncecheck windows scenarios/rpc-in-transaction.jsonc --variant rollback-on-timeout");

  c = app.add_subcommand("replay", "run a trace on the model; fails at the first step that differs");
  c->add_option("trace", a.trace, "a trace file (check --traces DIR writes them)")->required();
  c->add_option("--set", a.sets, "override a parameter of the scenario: NAME=VALUE")->allow_extra_args(false);
  c->footer("Example: oncecheck replay traces/lying-api.charge-then-ledger.ledger-matches-provider.trace.json");

  c = app.add_subcommand("explain", "tell a trace as a time line");
  c->add_option("trace", a.trace, "a trace file (check --traces DIR writes them)")->required();
  c->add_option("--set", a.sets, "override a parameter of the scenario: NAME=VALUE")->allow_extra_args(false);
  c->footer("Example: oncecheck explain traces/lying-api.charge-then-ledger.ledger-matches-provider.trace.json");

  ConformArguments conform;
  c = app.add_subcommand("conform", "run recorded cases of real database servers through the model");
  c->add_option("vectors", conform.paths, "vector files, or folders of them")->required();
  c->add_option("--engine", conform.engine, "only vectors of this engine")->check(CLI::IsMember({"postgres", "mysql", "mariadb", "redis"}));
  c->add_option("--json", conform.json, "write the report as JSON to this file (- for standard output)");
  c->add_option("--threads", conform.threads, "threads; the result is the same for any number (default: one a core)")->check(CLI::Range(1, 256));
  c->add_flag("-v,--verbose", conform.verbose, "also print what the model allows besides the recorded outcome");
  c->add_flag("-q,--quiet", conform.quiet, "no table of topics");
  c->footer("Example: oncecheck conform tests/vectors --engine postgres");

  c = app.add_subcommand("list", "the scenarios of a folder and their variants; or: list invariants, faults, steps, providers, occurrences");
  c->add_option("what", a.paths, "files or folders (default: scenarios), invariants, or faults");
  c->footer("Example: oncecheck list scenarios/\n         oncecheck list faults");

  c = app.add_subcommand("schema", "print the JSON Schema of scenario files");
  c->footer("Example: oncecheck schema > scenario.schema.json");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    return status == 0 ? 0 : 2;
  }
  if (app.got_subcommand("check")) return run_check(a);
  if (app.got_subcommand("simulate")) return run_simulate(a);
  if (app.got_subcommand("merge")) return run_merge(a);
  if (app.got_subcommand("ablate")) return run_ablate(a);
  if (app.got_subcommand("windows")) return run_windows(a);
  if (app.got_subcommand("replay")) return run_replay(a);
  if (app.got_subcommand("explain")) return run_explain(a);
  if (app.got_subcommand("conform")) return run_conform(conform);
  if (app.got_subcommand("list")) return run_list(a);
  std::fputs(std::string(scenario_schema()).c_str(), stdout);
  return 0;
}

}  // namespace oncecheck

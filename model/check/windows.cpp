#include "model/check/windows.hpp"

#include <algorithm>
#include <array>

#include "invariants/load.hpp"
#include "model/check/window_monitor.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr std::array kDisturbances = {FaultKind::Crash,            FaultKind::Deploy, FaultKind::Timeout, FaultKind::LoseResponse,
                                      FaultKind::DuplicateRequest, FaultKind::Expire, FaultKind::Failover};

// fault: null for none.
std::unique_ptr<Program> program_with(Scenario scenario, const char* fault, bool keep_faults) {
  // What must be reached is asked of the scenario as it is.
  scenario.must_reach.clear();
  scenario.unreached.clear();
  if (!keep_faults) scenario.faults.clear();
  if (fault != nullptr) {
    const auto same = std::find_if(scenario.faults.begin(), scenario.faults.end(),
                                   [&](const Fault& f) { return f.name == fault && f.target.empty(); });
    if (same != scenario.faults.end()) {
      ++same->max;
    } else {
      Fault f;
      f.at = {scenario.file, "", 0, 0};
      f.name = fault;
      f.max = 1;
      scenario.faults.push_back(f);
    }
  }
  return load_program(scenario);
}

bool has_part_for(const Scenario& s, FaultKind disturbance) {
  if (disturbance != FaultKind::Failover) return true;
  const auto replicated = [](const auto& part) { return part.second.replicas > 0; };
  return std::any_of(s.databases.begin(), s.databases.end(), replicated) || std::any_of(s.redis.begin(), s.redis.end(), replicated);
}

bool can_happen(const WindowColumn& column) {
  return std::any_of(column.cells.begin(), column.cells.end(), [](const WindowCell& c) { return c.safety != Safety::CannotHappen; });
}

class TableMaker {
 public:
  TableMaker(const Scenario& scenario, const WindowOptions& options) : scenario_(scenario), options_(options) {}

  WindowTable make(const std::function<void(std::size_t, std::size_t)>& done) {
    table_.scenario = scenario_.file;
    table_.variant = scenario_.variant;
    table_.keep_faults = options_.keep_faults;
    const auto quiet = program_with(scenario_, nullptr, options_.keep_faults);
    table_.undisturbed = check(*quiet, options_.check);
    table_.windows = windows_of(*quiet);
    std::size_t looked_at = 0;
    for (const FaultKind kind : kDisturbances) {
      if (has_part_for(scenario_, kind)) {
        WindowColumn c = column(kind);
        if (can_happen(c)) table_.columns.push_back(std::move(c));
      }
      if (done) done(++looked_at, kDisturbances.size());
    }
    return std::move(table_);
  }

 private:
  WindowColumn column(FaultKind kind) {
    WindowColumn out;
    out.disturbance = kind;
    out.program = program_with(scenario_, fault_name(kind), options_.keep_faults);
    CHECK_THAT(windows_of(*out.program).size() == table_.windows.size());  // faults change no code
    std::erase_if(out.program->invariants, [&](const Invariant& i) { return breaks_anyway(i.spec.name); });
    // Most columns are safe as a whole: one search then answers for all of their windows. It looks at every state, as it must for
    // promises of liveness, unless another promise breaks on the way.
    const WindowMonitor any(table_.windows, kind, kAnyWindow, options_.keep_faults);
    const CheckResult all = run(*out.program, any, true);
    const bool safe = all.complete && holds(all);
    for (int w = 0; w < static_cast<int>(table_.windows.size()); ++w) {
      out.cells.push_back(safe ? safe_cell(*out.program, all, any.happened(w)) : cell(*out.program, kind, w));
    }
    return out;
  }

  static bool holds(const CheckResult& r) {
    return std::all_of(r.invariants.begin(), r.invariants.end(), [](const InvariantResult& i) { return i.verdict == Verdict::Holds; });
  }
  static bool violated(const CheckResult& r) {
    return std::any_of(r.invariants.begin(), r.invariants.end(), [](const InvariantResult& i) { return i.verdict == Verdict::Violated; });
  }

  bool breaks_anyway(const std::string& promise) const {
    const auto& all = table_.undisturbed.invariants;
    return std::any_of(all.begin(), all.end(), [&](const InvariantResult& r) { return r.name == promise && r.verdict == Verdict::Violated; });
  }

  CheckResult run(const Program& program, const WindowMonitor& monitor, bool stop_at_first) const {
    CheckOptions options = options_.check;
    options.monitor = &monitor;
    options.stop_at_first = stop_at_first;
    return check(program, options);
  }

  WindowCell safe_cell(const Program& program, const CheckResult& r, bool happened) const {
    WindowCell out;
    if (!happened) return out;
    out.safety = Safety::Safe;
    for (std::size_t i = 0; i < r.invariants.size(); ++i) {
      if (r.invariants[i].verdict == Verdict::Holds) continue;
      out.safety = Safety::Inconclusive;
      out.why = r.why_incomplete;
      // What a timer would tell (liveness.hpp) is known only with a fault that lets it run out, and faults are left out.
      if (r.complete && is_liveness(program.invariants[i].spec.kind) && !options_.keep_faults) out.why += " (--keep-faults keeps the faults of the scenario)";
    }
    return out;
  }

  WindowCell cell(const Program& program, FaultKind kind, int window) const {
    const WindowMonitor monitor(table_.windows, kind, window, options_.keep_faults);
    const CheckResult r = run(program, monitor, false);
    if (!violated(r) && !r.complete) return {Safety::Inconclusive, r.why_incomplete, {}};
    if (!violated(r)) return safe_cell(program, r, monitor.happened(window));
    WindowCell out;
    out.safety = Safety::Unsafe;
    for (const InvariantResult& i : r.invariants) {
      if (i.verdict == Verdict::Violated) out.broken.push_back(i);
    }
    return out;
  }

  const Scenario& scenario_;
  const WindowOptions& options_;
  WindowTable table_;
};

}  // namespace

const char* safety_name(Safety safety) {
  switch (safety) {
    case Safety::Safe: return "safe";
    case Safety::Unsafe: return "unsafe";
    case Safety::CannotHappen: return "cannot happen";
    case Safety::Inconclusive: return "inconclusive";
  }
  return "";
}

WindowTable check_windows(const Scenario& scenario, const WindowOptions& options,
                          const std::function<void(std::size_t, std::size_t)>& done) {
  return TableMaker(scenario, options).make(done);
}

std::unique_ptr<Program> disturbed_program(const Scenario& scenario, const std::string& fault, bool keep_faults) {
  std::vector<std::string> known;
  for (const FaultKind kind : kDisturbances) {
    if (fault == fault_name(kind)) return program_with(scenario, fault_name(kind), keep_faults);
    known.push_back(fault_name(kind));
  }
  throw ScenarioError({scenario.file, "", 0, 0}, "the trace names the unknown disturbance \"" + fault + "\"", nearest_name(fault, known));
}

}  // namespace oncecheck

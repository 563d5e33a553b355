#include "model/check/windows.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "invariants/load.hpp"
#include "model/check/window_monitor.hpp"
#include "model/program/each_step.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr std::array kDisturbances = {FaultKind::Crash,            FaultKind::Deploy, FaultKind::Timeout, FaultKind::LoseResponse,
                                      FaultKind::DuplicateRequest, FaultKind::Expire, FaultKind::Failover};

std::unique_ptr<Program> program_with(Scenario scenario, const char* fault) {
  scenario.faults.clear();
  if (fault != nullptr) {
    Fault f;
    f.at = {scenario.file, "", 0, 0};
    f.name = fault;
    f.max = 1;
    scenario.faults.push_back(f);
  }
  return load_program(scenario);
}

bool has_timeouts(const Scenario& s) {
  bool found = std::any_of(s.clients.begin(), s.clients.end(), [](const auto& c) { return c.second.timeout.has_value(); });
  const auto visit = [&](const Step& step) { found = found || step.timeout.has_value(); };
  for (const auto& [name, service] : s.services) {
    found = found || service.drain_time.has_value();
    each_step_of(service, visit);
    if (service.next) each_step_of(*service.next, visit);
  }
  for (const auto& [name, db] : s.databases) found = found || db.engine.value != "postgres";  // InnoDB ends every wait
  return found;
}

bool has_part_for(const Program& p, FaultKind disturbance) {
  const Scenario& s = p.scenario;
  if (disturbance == FaultKind::Timeout) return has_timeouts(s);
  if (disturbance == FaultKind::Expire) {
    bool forgets = false;
    for (const ProviderInfo& provider : p.providers) {
      for (const OperationInfo& o : provider.operations) forgets = forgets || o.forgets;
    }
    return forgets || p.plan.layout.deadline_slots > 0;
  }
  if (disturbance != FaultKind::Failover) return true;
  const auto replicated = [](const auto& part) { return part.second.replicas > 0; };
  return std::any_of(s.databases.begin(), s.databases.end(), replicated) || std::any_of(s.redis.begin(), s.redis.end(), replicated);
}

class TableMaker {
 public:
  TableMaker(const Scenario& scenario, const CheckOptions& options) : scenario_(scenario), options_(options) {}

  WindowTable make(const std::function<void(std::size_t, std::size_t)>& done) {
    table_.scenario = scenario_.file;
    table_.variant = scenario_.variant;
    const auto quiet = program_with(scenario_, nullptr);
    table_.undisturbed = check(*quiet, options_);
    table_.windows = windows_of(*quiet);
    std::vector<FaultKind> kinds;
    std::copy_if(kDisturbances.begin(), kDisturbances.end(), std::back_inserter(kinds), [&](FaultKind k) { return has_part_for(*quiet, k); });
    for (const FaultKind kind : kinds) {
      table_.columns.push_back(column(kind));
      if (done) done(table_.columns.size(), kinds.size());
    }
    return std::move(table_);
  }

 private:
  WindowColumn column(FaultKind kind) {
    WindowColumn out;
    out.disturbance = kind;
    out.program = program_with(scenario_, fault_name(kind));
    CHECK_THAT(windows_of(*out.program).size() == table_.windows.size());  // faults change no code
    std::erase_if(out.program->invariants, [&](const Invariant& i) { return breaks_anyway(i.spec.name); });
    // Most columns are safe as a whole: one search then answers for all of their windows.
    const WindowMonitor any(table_.windows, kind, kAnyWindow);
    const CheckResult all = run(*out.program, any, true);
    const bool safe = all.complete && !violated(all);
    for (int w = 0; w < static_cast<int>(table_.windows.size()); ++w) {
      out.cells.push_back(safe ? safe_cell(all, any.happened(w)) : cell(*out.program, kind, w));
    }
    return out;
  }

  static bool violated(const CheckResult& r) {
    return std::any_of(r.invariants.begin(), r.invariants.end(), [](const InvariantResult& i) { return i.verdict == Verdict::Violated; });
  }

  bool breaks_anyway(const std::string& promise) const {
    const auto& all = table_.undisturbed.invariants;
    return std::any_of(all.begin(), all.end(), [&](const InvariantResult& r) { return r.name == promise && r.verdict == Verdict::Violated; });
  }

  CheckResult run(const Program& program, const WindowMonitor& monitor, bool stop_at_first) const {
    CheckOptions options = options_;
    options.monitor = &monitor;
    options.stop_at_first = stop_at_first;
    return check(program, options);
  }

  WindowCell safe_cell(const CheckResult& r, bool happened) const {
    WindowCell out;
    if (!happened) return out;
    out.safety = Safety::Safe;
    for (const InvariantResult& i : r.invariants) {
      if (i.verdict == Verdict::Holds) continue;
      out.safety = Safety::Inconclusive;
      out.why = r.why_incomplete;
    }
    return out;
  }

  WindowCell cell(const Program& program, FaultKind kind, int window) const {
    const WindowMonitor monitor(table_.windows, kind, window);
    const CheckResult r = run(program, monitor, false);
    if (!violated(r) && !r.complete) return {Safety::Inconclusive, r.why_incomplete, {}};
    if (!violated(r)) return safe_cell(r, monitor.happened(window));
    WindowCell out;
    out.safety = Safety::Unsafe;
    for (const InvariantResult& i : r.invariants) {
      if (i.verdict == Verdict::Violated) out.broken.push_back(i);
    }
    return out;
  }

  const Scenario& scenario_;
  const CheckOptions options_;
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

WindowTable check_windows(const Scenario& scenario, const CheckOptions& options,
                          const std::function<void(std::size_t, std::size_t)>& done) {
  return TableMaker(scenario, options).make(done);
}

std::unique_ptr<Program> disturbed_program(const Scenario& scenario, const std::string& fault) {
  std::vector<std::string> known;
  for (const FaultKind kind : kDisturbances) {
    if (fault == fault_name(kind)) return program_with(scenario, fault_name(kind));
    known.push_back(fault_name(kind));
  }
  throw ScenarioError({scenario.file, "", 0, 0}, "'only_fault' names the unknown disturbance \"" + fault + "\"", nearest_name(fault, known));
}

}  // namespace oncecheck

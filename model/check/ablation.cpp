#include "model/check/ablation.hpp"

#include <algorithm>

#include "invariants/load.hpp"

namespace oncecheck {

namespace {

bool has(const CheckResult& result, Verdict verdict) {
  return std::any_of(result.invariants.begin(), result.invariants.end(), [&](const InvariantResult& r) { return r.verdict == verdict; });
}

// Why a variant is not ablated; "" when all of its promises hold.
std::string refusal(const CheckResult& original) {
  if (original.invariants.empty()) return "it makes no promise";
  for (const InvariantResult& r : original.invariants) {
    if (r.verdict != Verdict::Holds) return r.name + " is " + verdict_name(r.verdict);
  }
  return "";
}

MutantResult check_mutant(Mutant mutant, const CheckOptions& options) {
  MutantResult r;
  r.mutant = std::move(mutant);
  try {
    r.program = compile_mutant(r.mutant);
  } catch (const ScenarioError& e) {
    r.need = Need::CannotBeDropped;
    r.why = e.diagnostics().front().message;
  }
  r.mutant.scenario = {};
  r.mutant.instead.reset();
  if (!r.program) return r;
  r.check = check(*r.program, options);
  if (has(r.check, Verdict::Violated)) {
    r.need = Need::LoadBearing;
    return r;
  }
  r.program.reset();
  r.need = has(r.check, Verdict::Inconclusive) ? Need::Inconclusive : Need::NotNeeded;
  if (r.need == Need::Inconclusive) r.why = r.check.why_incomplete;
  return r;
}

}  // namespace

const char* need_name(Need need) {
  switch (need) {
    case Need::LoadBearing: return "load-bearing";
    case Need::NotNeeded: return "not needed within these bounds";
    case Need::Inconclusive: return "inconclusive";
    case Need::CannotBeDropped: return "cannot be dropped";
  }
  return "";
}

std::unique_ptr<Program> compile_mutant(Mutant& mutant) {
  try {
    return load_program(mutant.scenario);
  } catch (const ScenarioError&) {
    if (!mutant.instead) throw;
    mutant.change = mutant.instead_change;
    return load_program(*mutant.instead);
  }
}

Mutant find_mutant(const Scenario& scenario, const std::string& name) {
  std::vector<std::string> known;
  for (Mutant& m : mutants_of(scenario)) {
    if (m.name == name) return std::move(m);
    known.push_back(m.name);
  }
  throw ScenarioError({scenario.file, "", 0, 0}, "nothing can be ablated by the name \"" + name + "\"", nearest_name(name, known));
}

Ablation ablate(const Scenario& scenario, const CheckOptions& options, const std::function<void(std::size_t, std::size_t)>& done) {
  Ablation out;
  out.scenario = scenario.file;
  out.variant = scenario.variant;
  out.original = check(*load_program(scenario), options);
  out.refused = refusal(out.original);
  out.refused_inconclusive = !has(out.original, Verdict::Violated) && has(out.original, Verdict::Inconclusive);
  if (!out.refused.empty()) return out;
  CheckOptions mutant_options = options;
  mutant_options.stop_at_first = true;
  std::vector<Mutant> mutants = mutants_of(scenario);
  for (Mutant& m : mutants) {
    out.mutants.push_back(check_mutant(std::move(m), mutant_options));
    if (done) done(out.mutants.size(), mutants.size());
  }
  return out;
}

}  // namespace oncecheck

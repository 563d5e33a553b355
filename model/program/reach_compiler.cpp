#include "model/program/reach_compiler.hpp"

#include <algorithm>

#include "model/program/expr_compiler.hpp"
#include "model/program/place_names.hpp"
#include "model/program/query_compiler.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

constexpr const char* kFaultPrefix = "fault ";

class ReachCompiler {
 public:
  explicit ReachCompiler(CompileState& state) : state_(state), p_(state.program) {}

  void compile() {
    for (const MustReachSpec& spec : state_.scenario.must_reach) p_.must_reach.push_back(mark(spec));
    for (const Unreached& u : state_.scenario.unreached) check(u);
  }

 private:
  MustReach mark(const MustReachSpec& spec) {
    MustReach out;
    out.name = spec.name;
    out.kind = spec.kind;
    out.occurrence = spec.occurrence;
    if (spec.kind == MustReachKind::Finds) query(spec.what, out);
    if (spec.kind == MustReachKind::Step) steps(spec.what, out);
    if (spec.kind == MustReachKind::Fault) faults(spec.what, out);
    return out;
  }

  void query(const Text& text, MustReach& out) {
    try {
      const sql::Statement s = sql::parse_statement(text.value);
      if (s.kind != sql::StatementKind::Select || s.select->locking) {
        state_.sql_error(text, 0, "\"finds\" is a SELECT: a row that it finds is what must be reached");
        return;
      }
      ExprCompiler exprs(state_, text, nullptr, -1);
      out.query = QueryCompiler(exprs).compile(*s.select, nullptr);
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
    }
  }

  // A place with or without the service before it, or a label; it may name several.
  void steps(const Text& text, MustReach& out) {
    for (std::size_t i = 0; i < p_.steps.size(); ++i) {
      const StepInfo& s = p_.steps[i];
      if (text.value == s.place || text.value == full_place(s) || (!s.label.empty() && text.value == s.label)) out.steps.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < p_.branches.size(); ++i) {
      const BranchInfo& b = p_.branches[i];
      if (text.value == b.place || text.value == full_place(b)) out.branches.push_back(static_cast<int>(i));
    }
    if (!out.steps.empty() || !out.branches.empty()) return;
    std::vector<std::string> known = places();
    for (const StepInfo& s : p_.steps) {
      if (!s.label.empty()) known.push_back(s.label);
    }
    state_.errors.add(text.at, "no step or branch of " + variant() + " is called \"" + text.value + "\"", nearest_name(text.value, known));
  }

  void faults(const Text& text, MustReach& out) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < p_.faults.size(); ++i) {
      known.emplace_back(fault_name(p_.faults[i].kind));
      if (text.value == known.back() || text.value == fault_words(p_, p_.faults[i])) out.faults.push_back(static_cast<int>(i));
    }
    if (out.faults.empty()) state_.errors.add(text.at, variant() + " has no fault \"" + text.value + "\"", nearest_name(text.value, known));
  }

  // A mark of the file must fit each variant.
  std::string variant() const { return state_.scenario.variant.empty() ? "this scenario" : "variant \"" + state_.scenario.variant + "\""; }

  std::vector<std::string> places() const {
    std::vector<std::string> out;
    for (const StepInfo& s : p_.steps) out.push_back(full_place(s));
    for (const BranchInfo& b : p_.branches) out.push_back(full_place(b));
    return out;
  }

  // It has to name something.
  void check(const Unreached& u) {
    std::vector<std::string> known = places();
    for (const StepInfo& s : p_.steps) known.push_back(s.place);
    for (const BranchInfo& b : p_.branches) known.push_back(b.place);
    for (const FaultBudget& f : p_.faults) known.push_back(kFaultPrefix + fault_words(p_, f));
    for (const Invariant& i : p_.invariants) known.push_back(i.spec.name);
    if (std::find(known.begin(), known.end(), u.what) != known.end()) return;
    state_.errors.add(u.at, "\"unreached\" names \"" + u.what + "\", which is no step, branch, fault or invariant of " + variant(), nearest_name(u.what, known));
  }

  CompileState& state_;
  Program& p_;
};

}  // namespace

void compile_reach(CompileState& state) { ReachCompiler(state).compile(); }

}  // namespace oncecheck

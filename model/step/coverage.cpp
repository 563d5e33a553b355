#include "model/step/coverage.hpp"

#include <algorithm>
#include <cstring>

#include "model/step/occurrence.hpp"
#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

using Reads = std::vector<std::pair<int, int>>;

bool same(const Reads& reads, const std::uint8_t* a, const std::uint8_t* b) {
  return std::all_of(reads.begin(), reads.end(), [&](const std::pair<int, int>& r) {
    return std::memcmp(a + r.first, b + r.first, static_cast<std::size_t>(r.second)) == 0;
  });
}

bool finds(const Program& program, QueryId query, const std::uint8_t* world, Workspace& workspace, Limit& limit) {
  Context ctx(program.plan, const_cast<std::uint8_t*>(world), workspace.scratch);  // a query changes nothing
  const std::size_t mark = workspace.scratch.mark();
  const bool found = run_query(ctx, query, 1).count > 0;
  workspace.scratch.release(mark);
  if (ctx.limit && !limit) limit = ctx.limit;
  return found && !ctx.limit;
}

void add_all(std::vector<bool>& to, const std::vector<bool>& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = to[i] || from[i];
}

std::vector<int> missing(const std::vector<bool>& seen) {
  std::vector<int> out;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace

Coverage::Coverage(const Program& program)
    : code_(program.code.size()), faults_(program.faults.size()), branches_(program.branches.size()), armed_(program.invariants.size()),
      marks_(program.must_reach.size()) {
  for (std::size_t i = 0; i < armed_.size(); ++i) armed_[i].resize(program.invariants[i].premises.size());
  for (const MustReach& mark : program.must_reach) waits_for_occurrences_ = waits_for_occurrences_ || mark.kind == MustReachKind::Happens;
}

void Coverage::take(const Workspace& workspace) {
  if (workspace.visited.empty()) return;
  const std::uint8_t* seen = workspace.visited.data();
  for (std::size_t i = 0; i < branches_.size(); ++i) branches_[i] = branches_[i] || seen[i] != 0;
  for (std::size_t pc = 0; pc < code_.size(); ++pc) code_[pc] = code_[pc] || seen[branches_.size() + pc] != 0;
}

void Coverage::note(const Program& program, const std::uint8_t* world, const Event& event, Workspace& workspace) {
  if (event.fault != kNoBudget) faults_[event.fault] = true;
  if (waits_for_occurrences_) {
    waits_for_occurrences_ = false;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const MustReach& mark = program.must_reach[i];
      if (marks_[i] || mark.kind != MustReachKind::Happens) continue;
      marks_[i] = occurs(program, mark.occurrence, world, event, workspace);
      waits_for_occurrences_ = waits_for_occurrences_ || !marks_[i];
    }
  }
  if (event.kind != EventKind::Step && event.kind != EventKind::Deadlock) return;
  const std::uint8_t* task = world + program.plan.layout.tasks[event.a].offset;
  code_[static_cast<std::size_t>(load_pc(task))] = true;
}

void Coverage::look_at(const Program& program, const std::uint8_t* world, const std::uint8_t* parent, Workspace& workspace, Limit& limit) {
  waits_for_states_ = false;
  for (std::size_t i = 0; i < armed_.size(); ++i) {
    const Invariant& promise = program.invariants[i];
    for (std::size_t k = 0; k < armed_[i].size(); ++k) {
      if (armed_[i][k]) continue;
      waits_for_states_ = true;
      if (parent != nullptr && same(promise.reads, world, parent)) continue;
      Limit ignored;  // where nobody can tell, nothing is armed
      armed_[i][k] = finds(program, promise.premises[k], world, workspace, ignored);
    }
  }
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const MustReach& mark = program.must_reach[i];
    if (marks_[i] || mark.kind != MustReachKind::Finds) continue;
    waits_for_states_ = true;
    if (parent == nullptr || !same(mark.reads, world, parent)) marks_[i] = finds(program, mark.query, world, workspace, limit);
  }
}

void Coverage::merge(const Coverage& other) {
  add_all(code_, other.code_);
  add_all(faults_, other.faults_);
  add_all(branches_, other.branches_);
  for (std::size_t i = 0; i < armed_.size(); ++i) add_all(armed_[i], other.armed_[i]);
  add_all(marks_, other.marks_);
}

// By step. A branch that was taken has been asked.
std::vector<bool> Coverage::executed_steps(const Program& program) const {
  std::vector<bool> out(program.steps.size(), true);
  for (const Instr& i : program.code) {
    if (i.step >= 0) out[static_cast<std::size_t>(i.step)] = false;
  }
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& i = program.code[pc];
    if (i.step < 0) continue;
    const auto branch = static_cast<std::size_t>(std::max(i.branch, 0));
    const bool done = i.kind == InstrKind::Branch ? branches_[branch] || branches_[branch + 1] : code_[pc];
    if (done) out[static_cast<std::size_t>(i.step)] = true;
  }
  return out;
}

Unseen Coverage::unseen(const Program& program) const {
  Unseen out;
  out.steps = missing(executed_steps(program));
  for (const Instr& i : program.code) {
    if (i.branch < 0) continue;
    const auto b = static_cast<std::size_t>(i.branch);
    if (i.kind == InstrKind::Mark && !branches_[b]) out.branches.push_back(i.branch);
    if (i.kind == InstrKind::Branch && branches_[b] != branches_[b + 1]) out.branches.push_back(i.branch + (branches_[b] ? 1 : 0));
    if (i.kind == InstrKind::Next && !branches_[b] && branches_[b + 1]) out.branches.push_back(i.branch);
  }
  out.faults = missing(faults_);
  for (std::size_t i = 0; i < armed_.size(); ++i) {
    if (!missing(armed_[i]).empty()) out.promises.push_back(static_cast<int>(i));
  }
  for (std::size_t m = 0; m < marks_.size(); ++m) {
    if (!reached(program, m)) out.must_reach.push_back(static_cast<int>(m));
  }
  return out;
}

bool Coverage::reached(const Program& program, std::size_t m) const {
  const MustReach& mark = program.must_reach[m];
  const auto any = [](const std::vector<int>& of, const std::vector<bool>& seen) {
    return std::any_of(of.begin(), of.end(), [&](int i) { return seen[static_cast<std::size_t>(i)]; });
  };
  switch (mark.kind) {
    case MustReachKind::Step: return any(mark.steps, executed_steps(program)) || any(mark.branches, branches_);
    case MustReachKind::Fault: return any(mark.faults, faults_);
    case MustReachKind::Happens:
    case MustReachKind::Finds: break;
  }
  return marks_[m];
}

bool Coverage::reached_all_marks(const Program& program) const {
  for (std::size_t m = 0; m < marks_.size(); ++m) {
    if (!reached(program, m)) return false;
  }
  return true;
}

}  // namespace oncecheck

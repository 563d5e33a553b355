#include "model/step/coverage.hpp"

#include <set>

#include "model/world/cells.hpp"

namespace oncecheck {

Coverage::Coverage(const Program& program) : code_(program.code.size()), faults_(program.faults.size()) {}

void Coverage::note(const Program& program, const std::uint8_t* world, const Event& event) {
  if (event.fault != kNoBudget) faults_[event.fault] = true;
  if (event.kind != EventKind::Step && event.kind != EventKind::Deadlock) return;
  const std::uint8_t* task = world + program.plan.layout.tasks[event.a].offset;
  code_[static_cast<std::size_t>(load_pc(task))] = true;
}

void Coverage::merge(const Coverage& other) {
  for (std::size_t i = 0; i < code_.size(); ++i) code_[i] = code_[i] || other.code_[i];
  for (std::size_t i = 0; i < faults_.size(); ++i) faults_[i] = faults_[i] || other.faults_[i];
}

std::vector<int> Coverage::unreached_steps(const Program& program) const {
  std::set<int> reached, all;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const Instr& i = program.code[pc];
    if (i.step < 0 || i.kind >= InstrKind::Branch || i.kind == InstrKind::Await) continue;
    all.insert(i.step);
    if (code_[pc]) reached.insert(i.step);
  }
  std::vector<int> out;
  for (int s : all) {
    if (reached.count(s) == 0) out.push_back(s);
  }
  return out;
}

std::vector<int> Coverage::unused_faults() const {
  std::vector<int> out;
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    if (!faults_[i]) out.push_back(static_cast<int>(i));
  }
  return out;
}

}  // namespace oncecheck

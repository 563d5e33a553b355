#include "model/check/expansion.hpp"

#include <algorithm>
#include <cstring>

#include "invariants/evaluate.hpp"
#include "model/step/fairness.hpp"

namespace oncecheck {

namespace {

template <class Wanted>
std::vector<std::size_t> those(const Program& p, Wanted wanted) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < p.invariants.size(); ++i) {
    if (wanted(p.invariants[i])) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> of_kind(const Program& p, InvariantKind kind) {
  return those(p, [&](const Invariant& i) { return i.spec.kind == kind; });
}

std::vector<std::size_t> live_ones(const Program& p) {
  std::vector<std::size_t> out = of_kind(p, InvariantKind::EventuallyEmpty), more = of_kind(p, InvariantKind::Answered);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

Expansion::Expansion(const Program& program, const CheckOptions& options, bool judge_live)
    : p_(program), options_(options), state_invariants_(of_kind(program, InvariantKind::AlwaysEmpty)),
      final_invariants_(of_kind(program, InvariantKind::FinallyEmpty)),
      step_invariants_(those(program, [](const Invariant& i) { return judges_steps(i); })), live_invariants_(live_ones(program)),
      has_live_(judge_live && !live_invariants_.empty() && (options.monitor == nullptr || options.monitor->forbids_only_paid())),
      // A monitor may tell alike things apart. So may fairness: of two alike who change places for ever, each must act.
      space_(program, options.monitor, options.symmetry && options.monitor == nullptr && !has_live_), bytes_(space_.bytes()),
      breaks_(program.invariants.size()) {}

std::uint64_t Expansion::first(Worker& w) const {
  const std::vector<std::uint8_t> first = space_.first();
  std::memcpy(w.child(0), first.data(), bytes_);
  std::memcpy(w.representative(0), first.data(), bytes_);
  space_.represent(w.representative(0), w.symmetry);
  const std::uint64_t f = space_.fingerprint(w.representative(0));
  w.coverage.note_state(p_, first.data(), nullptr, w.workspace, w.limit);
  for (std::size_t i : state_invariants_) {
    if (space_.judges(first.data()) && breaks(p_, p_.invariants[i], p_.initial.data(), w.workspace, w.limit)) w.breaks[i].offer({f, 0, false, 0});
  }
  return f;
}

bool Expansion::begin(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, int depth) const {
  enabled(p_, state, w.events);
  if (has_live_) begin_live(w, state, fingerprint, depth);
  return std::any_of(w.events.begin(), w.events.end(), [](const Event& e) { return e.fault == kNoBudget && e.kind != EventKind::StartJob; });
}

bool Expansion::take(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, const Event& e) const {
  std::uint8_t* const child = w.child(w.waiting);
  std::memcpy(child, state, bytes_);
  if (!space_.allows(state, e, child)) return false;
  w.coverage.note(p_, state, e, w.workspace);
  ++w.transitions;
  if (const Limit limit = apply(p_, child, e, w.workspace)) {
    w.note_limit(limit);
    if (has_live_) note_edge(w, state, e, child, 0);
    return false;
  }
  const std::uint8_t* known_by = child;
  if (space_.reduces()) {
    std::uint8_t* const stands_for_it = w.representative(w.waiting);
    std::memcpy(stands_for_it, child, bytes_);
    w.renamed += space_.represent(stands_for_it, w.symmetry) ? 1 : 0;
    known_by = stands_for_it;
  }
  const std::uint64_t to = space_.fingerprint(known_by);
  w.reached[w.waiting++] = {state, fingerprint, to, e};
  if (has_live_) note_edge(w, state, e, child, to);
  return true;
}

void Expansion::judge(Worker& w, std::size_t waiting, bool is_new) const {
  const Reached& r = w.reached[waiting];
  const std::uint8_t* const child = w.child(waiting);
  const bool judged = space_.judges(child);
  for (std::size_t i : step_invariants_) {
    if (decided(i) || !judged) continue;
    Limit limit;
    if (step_breaks(p_, p_.invariants[i], r.parent, r.event, w.workspace, limit)) {
      w.breaks[i].offer({r.fingerprint, r.parent_fingerprint, false, faults_in(child)});
    }
    w.note_limit(limit);
  }
  if (!is_new) return;
  // A state that is the first to be judged has no judged parent to compare with.
  const bool parent_judged = judged && space_.judges(r.parent);
  w.coverage.note_state(p_, child, r.parent, w.workspace, w.limit);
  for (std::size_t i : state_invariants_) {
    // A step is judged by what it really did, and a promise of states holds in all of an orbit or in none.
    if (decided(i) || !judged || (parent_judged && same_reads(p_.invariants[i], r.parent, child))) continue;
    Limit limit;
    if (breaks(p_, p_.invariants[i], child, w.workspace, limit)) w.breaks[i].offer({r.fingerprint, 0, false, faults_in(child)});
    w.note_limit(limit);
  }
}

void Expansion::judge_rest(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint) const {
  if (final_invariants_.empty() || !space_.judges(state) || !at_rest(p_, state, w.workspace)) return;
  ++w.rest_states;
  for (std::size_t i : final_invariants_) {
    if (decided(i)) continue;
    Limit limit;
    if (breaks(p_, p_.invariants[i], state, w.workspace, limit)) w.breaks[i].offer({fingerprint, 0, true, faults_in(state)});
    w.note_limit(limit);
  }
}

int Expansion::faults_in(const std::uint8_t* state) const {
  int spent = 0;
  for (std::size_t f = 0; f < p_.faults.size(); ++f) spent += p_.faults[f].max - state[p_.plan.layout.budgets + static_cast<int>(f)];
  return spent;
}

// ---- what promises of liveness need

void Expansion::begin_live(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint, int depth) const {
  const bool judged = space_.judges(state);
  w.live.begin(fingerprint, judged);
  w.depths.emplace_back(fingerprint, depth);
  if (!judged) return;
  for (std::size_t i : live_invariants_) {
    Limit limit;
    for (const Subject s : open_subjects(p_, p_.invariants[i], state, w.workspace, limit)) w.live.open(i, s);
    w.note_limit(limit);
  }
}

// The step from `state` by `e` has led to `child`; to 0: the model cannot follow it.
void Expansion::note_edge(Worker& w, const std::uint8_t* state, const Event& e, const std::uint8_t* child, std::uint64_t to) const {
  const bool paid = e.fault != kNoBudget;
  if (paid && !p_.faults[e.fault].endless) return;
  const EdgeKind kind = paid                                           ? EdgeKind::Endless
                        : e.kind == EventKind::Send                    ? EdgeKind::Send
                        : to != 0 && settles(p_, state, e, child) ? EdgeKind::Settles
                                                                       : EdgeKind::Plain;
  w.live.edge(to, edge_label(action_of(p_, state, e), kind, e.a));
}

// ---- what has been found

void Expansion::gather(const std::vector<std::unique_ptr<Worker>>& workers) {
  for (std::size_t i = 0; i < breaks_.size(); ++i) {
    Break best;
    for (const auto& w : workers) {
      if (w->breaks[i].found()) best.offer(w->breaks[i]);
      w->breaks[i] = {};
    }
    if (best.found() && !decided(i)) breaks_[i] = best;
  }
}

bool Expansion::all_decided() const {
  if (options_.explore_all || breaks_.empty()) return false;
  const auto broken = [](const Break& b) { return b.found(); };
  if (options_.stop_at_first) return std::any_of(breaks_.begin(), breaks_.end(), broken);
  return std::all_of(breaks_.begin(), breaks_.end(), broken);
}

bool Expansion::nothing_left_to_ask(const std::vector<std::unique_ptr<Worker>>& workers) const {
  return all_decided() && (options_.stop_at_first || options_.monitor != nullptr || covered(p_, workers).reached_all_marks(p_));
}

Coverage covered(const Program& program, const std::vector<std::unique_ptr<Worker>>& workers) {
  Coverage out(program);
  for (const auto& w : workers) {
    out.take(w->workspace);
    out.merge(w->coverage);
  }
  return out;
}

}  // namespace oncecheck

#include "reports/hygiene.hpp"

#include <algorithm>

#include "model/program/place_names.hpp"

namespace oncecheck {

namespace {

bool is_place(const Gap& gap) { return gap.kind == Gap::Kind::Step || gap.kind == Gap::Kind::Branch; }

// Of a step in a list: the list, and its place there.
struct Placed {
  std::string list;
  int number = -1;  // -1: it is no step of a list
};
Placed placed(const std::string& place) {
  const std::size_t slash = place.rfind('/');
  if (slash == std::string::npos || slash + 1 == place.size() || place.find_first_not_of("0123456789", slash + 1) != std::string::npos) return {place, -1};
  return {place.substr(0, slash), std::stoi(place.substr(slash + 1))};
}

bool never_executed(const std::vector<Gap>& all, const std::string& place) {
  return std::any_of(all.begin(), all.end(), [&](const Gap& g) { return g.kind == Gap::Kind::Step && g.what == place; });
}

// Whether the one gap of them says the other. When the side of an `if` that is taken ends the program, so that the step behind the
// `if` is never executed, only the other side leads to what follows.
bool implies(const Gap& gap, const Gap& other, const std::vector<Gap>& all) {
  if (gap.what == other.what || !is_place(gap) || !is_place(other)) return false;
  if (lies_in(other.what, gap.what)) return true;
  const std::size_t side = gap.what.rfind('/');
  if (gap.kind != Gap::Kind::Branch || (gap.what.compare(side, std::string::npos, "/else") != 0 && gap.what.compare(side, std::string::npos, "/then") != 0)) return false;
  const Placed asks = placed(gap.what.substr(0, side));
  if (asks.number < 0 || !never_executed(all, asks.list + "/" + std::to_string(asks.number + 1))) return false;
  if (!lies_in(other.what, asks.list)) return false;
  // The step of the same list in which the other one lies.
  const std::size_t end = other.what.find('/', asks.list.size() + 1);
  const Placed at = placed(other.what.substr(0, end));
  return at.number > asks.number;
}

std::vector<Gap> gaps_of(const Program& p, const Unseen& unseen) {
  std::vector<Gap> out;
  for (int i : unseen.branches) {
    const BranchInfo& b = p.branches[static_cast<std::size_t>(i)];
    out.push_back({Gap::Kind::Branch, full_place(b), b.text, "", false});
  }
  for (int i : unseen.steps) {
    const StepInfo& s = p.steps[static_cast<std::size_t>(i)];
    out.push_back({Gap::Kind::Step, full_place(s), s.text, "", false});
  }
  std::stable_sort(out.begin(), out.end(), [](const Gap& a, const Gap& b) { return a.what < b.what; });
  for (Gap& g : out) {
    g.implied = std::any_of(out.begin(), out.end(), [&](const Gap& o) { return implies(o, g, out); });
  }
  for (int i : unseen.faults) out.push_back({Gap::Kind::Fault, "fault " + fault_words(p, p.faults[static_cast<std::size_t>(i)]), "", "", false});
  for (int i : unseen.promises) out.push_back({Gap::Kind::Promise, p.invariants[static_cast<std::size_t>(i)].spec.name, "", "", false});
  return out;
}

// With or without the service.
bool same_place(const std::string& place, const std::string& written) {
  return place == written || place.compare(std::min(place.find(' ') + 1, place.size()), std::string::npos, written) == 0;
}

bool names(const Unreached& mark, const Gap& gap) { return is_place(gap) ? same_place(gap.what, mark.what) : gap.what == mark.what; }

std::string mark_words(const MustReachSpec& mark) {
  switch (mark.kind) {
    case MustReachKind::Happens: return occurrence_words(mark.occurrence);
    case MustReachKind::Finds: return mark.what.value;
    case MustReachKind::Step: return "the step " + mark.what.value;
    case MustReachKind::Fault: return "the fault " + mark.what.value;
  }
  return "";
}

}  // namespace

std::string gap_words(const Gap& g, bool whole) {
  const std::string never = whole ? "never " : "not ", so_far = whole ? ": " : " so far: ";
  switch (g.kind) {
    case Gap::Kind::Step: return never + "executed" + so_far + g.what + ": " + g.text;
    case Gap::Kind::Branch: return never + "taken" + so_far + g.what + ": " + g.text;
    case Gap::Kind::Fault: return never + "used" + so_far + g.what;
    case Gap::Kind::Promise: return never + "armed" + so_far + g.what + (whole ? ": its premise never held, so that it holds says nothing" : "");
  }
  return "";
}

Hygiene hygiene_of(const Program& p, const Unseen& unseen, bool whole) {
  Hygiene out;
  out.whole = whole;
  const std::vector<Gap> all = gaps_of(p, unseen);
  for (Gap g : all) {
    for (const Unreached& mark : p.scenario.unreached) {
      const bool covered = names(mark, g) || std::any_of(all.begin(), all.end(), [&](const Gap& o) { return names(mark, o) && implies(o, g, all); });
      if (covered) g.reason = mark.reason;
    }
    (g.reason.empty() ? out.gaps : out.intended).push_back(std::move(g));
  }
  for (const Unreached& mark : p.scenario.unreached) {
    const bool open = std::any_of(all.begin(), all.end(), [&](const Gap& g) {
      return names(mark, g) || (is_place(g) && (lies_in(mark.what, g.what) || lies_in(g.what.substr(0, g.what.find(' ') + 1) + mark.what, g.what)));
    });
    if (!open) out.stale.push_back(mark.what);
  }
  for (std::size_t m = 0; m < p.must_reach.size(); ++m) {
    const bool missed = std::find(unseen.must_reach.begin(), unseen.must_reach.end(), static_cast<int>(m)) != unseen.must_reach.end();
    out.marks.push_back({p.must_reach[m].name, mark_words(p.scenario.must_reach[m]), !missed});
  }
  return out;
}

}  // namespace oncecheck

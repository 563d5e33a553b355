#include "reports/hygiene.hpp"

#include <algorithm>

#include "model/program/place_names.hpp"

namespace oncecheck {

namespace {

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
    g.implied = std::any_of(out.begin(), out.end(), [&](const Gap& o) { return o.what != g.what && lies_in(g.what, o.what); });
  }
  for (int i : unseen.faults) out.push_back({Gap::Kind::Fault, "fault " + fault_words(p, p.faults[static_cast<std::size_t>(i)]), "", "", false});
  for (int i : unseen.promises) out.push_back({Gap::Kind::Promise, p.invariants[static_cast<std::size_t>(i)].spec.name, "", "", false});
  return out;
}

bool covers(const Unreached& mark, const Gap& gap) {
  const bool place = gap.kind == Gap::Kind::Step || gap.kind == Gap::Kind::Branch;
  return place ? lies_in(gap.what, mark.what) : gap.what == mark.what;
}

}  // namespace

std::string gap_words(const Gap& g) {
  switch (g.kind) {
    case Gap::Kind::Step: return "never executed: " + g.what + ": " + g.text;
    case Gap::Kind::Branch: return "never taken: " + g.what + ": " + g.text;
    case Gap::Kind::Fault: return "never used: " + g.what;
    case Gap::Kind::Promise: return "never armed: " + g.what + ": its premise never held, so that it holds says nothing";
  }
  return "";
}

Hygiene hygiene_of(const Program& p, const Unseen& unseen, bool whole) {
  Hygiene out;
  out.whole = whole;
  const std::vector<Gap> all = gaps_of(p, unseen);
  for (Gap g : all) {
    for (const Unreached& mark : p.scenario.unreached) {
      if (covers(mark, g)) g.reason = mark.reason;
    }
    (g.reason.empty() ? out.gaps : out.intended).push_back(std::move(g));
  }
  for (const Unreached& mark : p.scenario.unreached) {
    const bool open = std::any_of(all.begin(), all.end(), [&](const Gap& g) { return g.what == mark.what || lies_in(mark.what, g.what); });
    if (!open) out.stale.push_back(mark.what);
  }
  for (std::size_t m = 0; m < p.must_reach.size(); ++m) {
    const bool missed = std::find(unseen.must_reach.begin(), unseen.must_reach.end(), static_cast<int>(m)) != unseen.must_reach.end();
    out.marks.push_back({p.must_reach[m].name, !missed});
  }
  return out;
}

}  // namespace oncecheck

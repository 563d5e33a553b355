#include "tests/support/window_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "reports/windows_report.hpp"
#include "sim/replay.hpp"

namespace oncecheck::testing {

namespace {

std::string cell_text(const WindowCell& cell) {
  switch (cell.safety) {
    case Safety::Safe: return "ok";
    case Safety::CannotHappen: return "-";
    case Safety::Inconclusive: return "?";
    case Safety::Unsafe: break;
  }
  std::size_t soonest = SIZE_MAX;
  for (const InvariantResult& r : cell.broken) soonest = std::min(soonest, r.cycle_from.value_or(r.trace.size()));
  return std::to_string(soonest);
}

}  // namespace

Lines lines(const WindowTable& t) {
  Lines out;
  for (std::size_t w = 0; w < t.windows.size(); ++w) {
    std::string line = t.windows[w].place + " | before: " + t.windows[w].before + " |";
    for (const WindowColumn& c : t.columns) line += std::string(" ") + fault_name(c.disturbance) + " " + cell_text(c.cells[w]);
    out.push_back(line);
  }
  return out;
}

void check_lines(const WindowTable& t, const Lines& expected) {
  const Lines got = lines(t);
  CHECK(got.size() == expected.size());
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) CHECK(got[i] == expected[i]);
}

int replayed(const Scenario& scenario, const WindowTable& table) {
  int count = 0;
  for (const WindowColumn& c : table.columns) {
    for (const WindowCell& cell : c.cells) {
      for (const Trace& t : traces_of(table, c, cell, {})) {
        ++count;
        CAPTURE(t.invariant);
        const auto program = disturbed_program(scenario, table.keep_faults ? t.one_more : t.only_fault, table.keep_faults);
        const Replay run = replay(*program, t.choices);
        REQUIRE(!run.divergence);
        CHECK(breaks_at_end(*program, run.events, t.invariant, t.cycle_from));
      }
    }
  }
  return count;
}

}  // namespace oncecheck::testing

// Windows and promises of liveness: exact tables of the small designs in tests/mutants/windows.jsonc, which rules.py breaks one by
// one, and the plain way that each cell is held against.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "invariants/load.hpp"
#include "model/check/window_monitor.hpp"
#include "model/check/windows.hpp"
#include "reports/windows_report.hpp"
#include "tests/support/live_reference.hpp"
#include "tests/support/scenarios.hpp"
#include "tests/support/window_tables.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

Scenario design(const std::string& file, const std::string& variant) { return load_scenarios(file, {{}, variant, true}).front(); }

Scenario design(const std::string& variant) { return design(std::string(ONCECHECK_SOURCE_DIR) + "/tests/mutants/windows.jsonc", variant); }

WindowTable table_of(const Scenario& scenario, bool keep_faults = false, int threads = 1) {
  WindowOptions options;
  options.check.threads = threads;
  options.keep_faults = keep_faults;
  return check_windows(scenario, options);
}

// Unsafe cells as "5 crash".
Lines unsafe(const WindowTable& t) {
  Lines out;
  for (std::size_t w = 0; w < t.windows.size(); ++w) {
    for (const WindowColumn& c : t.columns) {
      if (c.cells[w].safety == Safety::Unsafe) out.push_back(std::to_string(w + 1) + " " + fault_name(c.disturbance));
    }
  }
  return out;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a record that a crash leaves open for ever: only in the window between the two statements") {
  const Scenario scenario = design("left-open");
  const WindowTable t = table_of(scenario);
  // A job that looks is in the same process: the crash in its window may come at any time.
  check_lines(t, {
    "s on_request/0 | before: INSERT INTO t VALUES (:key, 'OPEN') ON CONFLICT DO NOTHING | crash ok deploy ok timeout ok lose_response - duplicate_request ok",
    "s on_request/1 | before: UPDATE t SET state = 'DONE' WHERE id = :key | crash 5 deploy 5 timeout ok lose_response - duplicate_request ok",
    "s on_request/2 | before: reply 200 | crash ok deploy ok timeout ok lose_response - duplicate_request ok",
    "s on_request | before: the client hears it | crash ok deploy ok timeout ok lose_response ok duplicate_request ok",
    "s jobs/look/0 | before: SELECT id FROM t WHERE state = 'OPEN' | crash 6 deploy 6 timeout - lose_response - duplicate_request -",
  });
  const InvariantResult& broken = t.columns[0].cells[1].broken[0];
  CHECK(broken.name == "no-stuck-intent");
  CHECK(broken.cycle_from == 5);
  CHECK(broken.trace.size() == 7);
  CHECK(replayed(scenario, t) == 4);
  CHECK(has(to_text(t, {}), "no-stuck-intent after 5 steps and then for ever (a cycle of 2)\n"));
  std::vector<WindowTable> tables;
  tables.push_back(table_of(scenario));
  CHECK(has(to_json(tables), "\"cycle_from\": 5"));
}

TEST_CASE("what goes on for ever without the disturbance in this window does not count") {
  // The copy that comes elsewhere leaves the record open in the same search: such a run says nothing about the last two windows.
  const Scenario reopens = design("copy-reopens");
  const WindowTable t = table_of(reopens);
  check_lines(t, {
    "s on_request/0 | before: SELECT state FROM t WHERE id = :key | crash ok deploy ok timeout ok lose_response - duplicate_request 14",
    "s on_request/1/then/0 | before: UPDATE t SET state = 'OPEN' WHERE id = :key | crash - deploy - timeout - lose_response - duplicate_request -",
    "s on_request/2 | before: INSERT INTO t VALUES (:key, 'BUSY') ON CONFLICT DO NOTHING | crash ok deploy ok timeout ok lose_response - duplicate_request 14",
    "s on_request/3 | before: UPDATE t SET state = 'DONE' WHERE id = :key AND state = 'BUSY' | crash ok deploy ok timeout ok lose_response - duplicate_request 14",
    "s on_request/4 | before: reply 200 | crash ok deploy ok timeout ok lose_response - duplicate_request ok",
    "s on_request | before: the client hears it | crash - deploy - timeout ok lose_response ok duplicate_request ok",
  });
  CHECK(replayed(reopens, t) == 3);
  // The same for a client that gives up, where no world tells who has asked since the fault.
  const Scenario spoils = design("copy-spoils-answers");
  const WindowTable answers = table_of(spoils);
  const Lines got = lines(answers);
  REQUIRE(got.size() == 7);
  CHECK(got[3] == "s on_request/3 | before: UPDATE t SET state = 'DONE' WHERE id = :key AND state <> 'BROKEN' | crash 14 deploy 14 timeout 15 lose_response - duplicate_request 21");
  CHECK(got[6] == "s on_request | before: the client hears it | crash - deploy - timeout ok lose_response ok duplicate_request ok");
  CHECK(replayed(spoils, answers) == 10);
}

TEST_CASE("a lease that may run for ever: no verdict for the one window, until time may pass at any moment") {
  const Scenario scenario = design("lease-and-no-end");
  const WindowTable t = table_of(scenario);
  const Lines got = lines(t);
  REQUIRE(got.size() == 7);
  // The search for all windows at once has no verdict either. That says nothing about the others.
  CHECK(got[0].ends_with("| crash ok deploy ok timeout ok lose_response - duplicate_request ok expire -"));
  CHECK(got[4] == "s on_request/2 | before: UPDATE t SET state = 'DONE', until = NULL WHERE id = :key | crash ? deploy ? timeout ok lose_response - duplicate_request ok expire ok");
  CHECK(got[5] == "s on_request/3 | before: reply 200 | crash ok deploy ok timeout ok lose_response - duplicate_request ok expire -");
  CHECK(exit_status(t) == 3);
  CHECK(t.columns[0].cells[4].why.ends_with("it may end meanwhile (--keep-faults keeps the faults of the scenario)"));
  // The fault without end goes on beside the crash that is asked for.
  const WindowTable kept = table_of(scenario, true);
  CHECK(exit_status(kept) == 0);
  CHECK(lines(kept)[4] == "s on_request/2 | before: UPDATE t SET state = 'DONE', until = NULL WHERE id = :key | crash ok deploy ok timeout ok lose_response - duplicate_request ok expire ok");
}

TEST_CASE("a promise of liveness that breaks without any disturbance is left out") {
  const WindowTable t = table_of(design("open-anyway"));
  CHECK(unsafe(t).empty());
  CHECK(exit_status(t) == 0);
  CHECK(has(to_text(t, {}), "    left out: no-stuck-intent breaks without any disturbance, after 6 steps and then for ever (nothing more happens)\n"));
}

TEST_CASE("the same table for any number of threads") {
  for (const char* variant : {"left-open", "copy-spoils-answers", "lease-and-no-end"}) {
    std::vector<std::vector<WindowTable>> tables(3);
    for (int threads = 1; threads <= 3; ++threads) tables[static_cast<std::size_t>(threads - 1)].push_back(table_of(design(variant), false, threads));
    CHECK(to_json(tables[0]) == to_json(tables[1]));
    CHECK(to_json(tables[0]) == to_json(tables[2]));
  }
}

TEST_CASE("the plain way finds the same cells") {
  int unsafe_cells = 0, open = 0;
  for (const char* variant : {"left-open", "copy-reopens", "copy-spoils-answers", "lease-and-no-end"}) {
    for (const bool keep_faults : {false, true}) {
      const WindowTable t = table_of(design(variant), keep_faults);
      for (const WindowColumn& c : t.columns) {
        for (std::size_t w = 0; w < t.windows.size(); ++w) {
          CAPTURE(variant);
          CAPTURE(fault_name(c.disturbance));
          CAPTURE(w);
          if (c.cells[w].safety == Safety::CannotHappen) continue;
          const WindowMonitor monitor(t.windows, c.disturbance, static_cast<int>(w), keep_faults);
          std::vector<Verdict> all;
          for (std::size_t i = 0; i < c.program->invariants.size(); ++i) all.push_back(live_reference(*c.program, i, 20'000, &monitor).value());
          const bool broken = std::count(all.begin(), all.end(), Verdict::Violated) > 0, unknown = std::count(all.begin(), all.end(), Verdict::Inconclusive) > 0;
          CHECK(c.cells[w].safety == (broken ? Safety::Unsafe : unknown ? Safety::Inconclusive : Safety::Safe));
          unsafe_cells += broken ? 1 : 0;
          open += !broken && unknown ? 1 : 0;
        }
      }
    }
  }
  CHECK(unsafe_cells == 2 * (4 + 3 + 10));
  CHECK(open == 2);
}

TEST_CASE("lease.jsonc: without a lease a crash leaves PROCESSING for ever; a sweep closes every window") {
  const std::string file = shipped("lease.jsonc");
  CHECK(unsafe(table_of(design(file, "no-lease"))) ==
        Lines{"1 crash", "1 deploy", "2 crash", "2 deploy", "4 crash", "4 deploy", "5 crash", "5 deploy", "6 crash", "6 deploy", "7 crash", "7 deploy",
              "8 crash", "8 deploy", "10 crash", "10 deploy"});
  const WindowTable right = table_of(design(file, "owner-and-version"));
  CHECK(unsafe(right).empty());
  CHECK(exit_status(right) == 0);
}

// Windows: exact tables of small endpoints in which one disturbance matters in some windows and not in others, and a plain
// explorer that the cells are held against.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "invariants/evaluate.hpp"
#include "invariants/load.hpp"
#include "model/check/window_monitor.hpp"
#include "model/check/windows.hpp"
#include "model/step/relation.hpp"
#include "reports/windows_report.hpp"
#include "tests/support/scenarios.hpp"
#include "tests/support/window_tables.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

Scenario scenario_of(const std::string& text) { return load_scenarios_text(text, "test.jsonc").front(); }

WindowTable windows_text(const std::string& text, bool keep_faults = false, int threads = 1) {
  WindowOptions options;
  options.check.threads = threads;
  options.keep_faults = keep_faults;
  return check_windows(scenario_of(text), options);
}

const char* const kClaim = R"j({
  "title": "The claim is committed before the order",
  "databases": { "shop": { "engine": "postgres", "schema": [ "CREATE TABLE seen (id text PRIMARY KEY)", "CREATE TABLE orders (id text NOT NULL)" ],
    "effects": [ "orders" ] } },
  "services": { "web": { "on_request": [
    { "sql": "INSERT INTO seen VALUES (:key) ON CONFLICT DO NOTHING", "into": "claim" },
    { "if": ":claim.count = 1", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "web", "key": "K1" } ], "retries": 1, "timeout": "5s" } },
  "invariants": [ "no-duplicate-effect", "no-phantom-success" ]
}
)j";

const char* const kCheck = R"j({
  "title": "Look, then act",
  "databases": { "shop": { "engine": "postgres", "schema": [ "CREATE TABLE orders (id text NOT NULL)" ], "effects": [ "orders" ] } },
  "services": { "web": { "on_request": [
    { "sql": "SELECT id FROM orders WHERE id = :key", "into": "old" },
    { "if": ":old.count = 0", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "web", "key": "K1" } ] } },
  "invariants": [ "no-duplicate-effect" ]
}
)j";

const char* const kLock = R"j({
  "title": "A Redis lock with a time to live, and a replica",
  "databases": { "shop": { "engine": "postgres", "schema": [ "CREATE TABLE orders (id text NOT NULL)" ], "effects": [ "orders" ] } },
  "redis": { "cache": { "replicas": 1 } },
  "services": { "web": { "on_request": [
    { "redis": "SET lock:{:key} 1 NX EX 5", "into": "lock" },
    { "if": ":lock IS NULL", "then": [ { "reply": 409 } ] },
    { "sql": "SELECT id FROM orders WHERE id = :key", "into": "old" },
    { "if": ":old.count = 0", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] },
    { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "web", "key": "K1" } ], "clicks": 2 } },
  "invariants": [ "no-duplicate-effect" ]
}
)j";

const char* const kKeyless = R"j({
  "title": "A charge without a key",
  "providers": { "bank": { "operations": { "charge": {} } } },
  "services": { "pay": { "on_request": [ { "call": "bank.charge", "amount": "1", "timeout": "5s", "on_timeout": [ { "reply": 202 } ] }, { "reply": 200 } ] } },
  "clients": { "buyer": { "requests": [ { "to": "pay", "key": "K1" } ] } },
  "invariants": [ "no-double-charge" ]
}
)j";

}  // namespace

TEST_CASE("a claim that is committed before the work: only a disturbance in between matters") {
  check_lines(windows_text(kClaim), {
    "web on_request/0 | before: INSERT INTO seen VALUES (:key) ON CONFLICT DO NOTHING | crash ok deploy ok timeout 9 lose_response - duplicate_request 8",
    "web on_request/1/then/0 | before: INSERT INTO orders VALUES (:key) | crash 10 deploy 10 timeout 9 lose_response - duplicate_request 8",
    "web on_request/2 | before: reply 200 | crash ok deploy ok timeout ok lose_response - duplicate_request ok",
    "web on_request | before: the client hears it | crash - deploy - timeout ok lose_response ok duplicate_request ok",
  });
}

TEST_CASE("look, then act: a duplicate that arrives before the act") {
  check_lines(windows_text(kCheck), {
    "web on_request/0 | before: SELECT id FROM orders WHERE id = :key | crash ok deploy ok lose_response - duplicate_request 8",
    "web on_request/1/then/0 | before: INSERT INTO orders VALUES (:key) | crash ok deploy ok lose_response - duplicate_request 8",
    "web on_request/2 | before: reply 200 | crash ok deploy ok lose_response - duplicate_request ok",
    "web on_request | before: the client hears it | crash - deploy - lose_response ok duplicate_request ok",
  });
}

TEST_CASE("a lock with a time to live and a replica: expiry and failover while somebody works") {
  check_lines(windows_text(kLock), {
    "web on_request/0 | before: SET lock:{:key} 1 NX EX 5 | crash ok deploy ok lose_response - duplicate_request ok expire 11 failover 11",
    "web on_request/1/then/0 | before: reply 409 | crash ok deploy ok lose_response - duplicate_request ok expire ok failover ok",
    "web on_request/2 | before: SELECT id FROM orders WHERE id = :key | crash ok deploy ok lose_response - duplicate_request ok expire 11 failover 11",
    "web on_request/3/then/0 | before: INSERT INTO orders VALUES (:key) | crash ok deploy ok lose_response - duplicate_request ok expire 11 failover 11",
    "web on_request/4 | before: reply 200 | crash ok deploy ok lose_response - duplicate_request ok expire ok failover ok",
    "web on_request | before: the client hears it | crash ok deploy ok lose_response ok duplicate_request ok expire ok failover ok",
  });
}

TEST_CASE("a failover that has nothing to lose counts as none, and the legend says so") {
  std::string text = kLock;
  const std::string words = "cannot happen there, or changes nothing: a failover of a Redis with nothing to lose\n";
  CHECK(to_text(windows_text(text), {}).find(words) == std::string::npos);  // no dot in that column
  text.replace(text.find(", \"clicks\": 2"), 13, "");
  const WindowTable t = windows_text(text);
  CHECK(lines(t)[0] == "web on_request/0 | before: SET lock:{:key} 1 NX EX 5 | crash ok deploy ok lose_response - duplicate_request ok expire - failover -");
  CHECK(lines(t)[2] == "web on_request/2 | before: SELECT id FROM orders WHERE id = :key | crash ok deploy ok lose_response - duplicate_request ok expire ok failover ok");
  CHECK(to_text(t, {}).find(words) != std::string::npos);
  CHECK(to_text(windows_text(kClaim), {}).find("cannot happen there\n") != std::string::npos);
}

TEST_CASE("a call: sent, carried out, answered; without a key a duplicate is a second charge") {
  check_lines(windows_text(kKeyless), {
    "pay on_request/0 | before: call bank.charge | crash ok deploy ok timeout - lose_response - duplicate_request 8",
    "pay on_request/0 | before: it is carried out | crash ok deploy ok timeout ok lose_response - duplicate_request 6",
    "pay on_request/0 | before: the answer arrives | crash ok deploy ok timeout ok lose_response ok duplicate_request 8",
    "pay on_request/0/on_timeout/0 | before: reply 202 | crash - deploy - timeout - lose_response - duplicate_request -",
    "pay on_request/1 | before: reply 200 | crash ok deploy ok timeout - lose_response - duplicate_request 9",
    "pay on_request | before: the client hears it | crash - deploy - timeout - lose_response ok duplicate_request 10",
  });
}

TEST_CASE("rpc-in-transaction: the windows of the remote call within the transaction are open, those of processing-first are not") {
  WindowOptions options;
  for (const Scenario& s : load_scenarios(shipped("rpc-in-transaction.jsonc"))) {
    const WindowTable t = check_windows(s, options);
    Lines unsafe;
    for (std::size_t w = 0; w < t.windows.size(); ++w) {
      for (const WindowColumn& c : t.columns) {
        CHECK(c.cells[w].safety != Safety::Inconclusive);
        for (const InvariantResult& r : c.cells[w].broken) {
          unsafe.push_back(t.windows[w].place + ", " + t.windows[w].before + ", " + fault_name(c.disturbance) + ": " + r.name);
        }
      }
    }
    if (s.variant == "processing-first") {
      CHECK(unsafe.empty());
      continue;
    }
    const std::string update = "checkout on_request/4, UPDATE payment SET state = 'SUCCESS' WHERE id = :payment.id, ";
    CHECK(unsafe == Lines{"checkout on_request/3, it is carried out, crash: no-double-charge",
                          "checkout on_request/3, it is carried out, deploy: no-double-charge",
                          "checkout on_request/3, it is carried out, timeout: no-double-charge",
                          "checkout on_request/3, the answer arrives, crash: no-double-charge",
                          "checkout on_request/3, the answer arrives, deploy: no-double-charge",
                          "checkout on_request/3, the answer arrives, timeout: no-double-charge",
                          "checkout on_request/3, the answer arrives, lose_response: no-double-charge",
                          update + "crash: no-double-charge",
                          update + "deploy: no-double-charge",
                          "checkout on_request/5, COMMIT, crash: no-double-charge",
                          "checkout on_request/5, COMMIT, deploy: no-double-charge"});
  }
}

TEST_CASE("a promise that breaks without any disturbance is left out") {
  std::string text = kCheck;
  text.replace(text.find("\"K1\" } ]"), 8, "\"K1\" } ], \"clicks\": 2");
  const WindowTable t = windows_text(text);
  CHECK(t.undisturbed.invariants[0].verdict == Verdict::Violated);
  for (const WindowColumn& c : t.columns) {
    for (const WindowCell& cell : c.cells) CHECK(cell.safety != Safety::Unsafe);
  }
  CHECK(to_text(t, {}).find("left out: no-duplicate-effect breaks without any disturbance, in 8 steps") != std::string::npos);
}

TEST_CASE("a request of another operation is no duplicate") {
  std::string text = kCheck;
  const std::string client = "\"buyer\": { \"requests\": [ { \"to\": \"web\", \"key\": \"K1\" } ] }";
  text.replace(text.find(client), client.size(), client + ", \"other\": { \"requests\": [ { \"to\": \"web\", \"key\": \"K2\" } ] }");
  // The reply still needs the key, so that each task can be told from those of the other client.
  text.replace(text.find("\"reply\": 200"), 12, "\"reply\": 200, \"body\": \":key\"");
  // After its own order is placed, a copy finds it. The request of the other client may come whenever it likes.
  CHECK(lines(windows_text(text))[2] == "web on_request/2 | before: reply 200 | crash ok deploy ok lose_response - duplicate_request ok");
  CHECK(lines(windows_text(text))[1] ==
        "web on_request/1/then/0 | before: INSERT INTO orders VALUES (:key) | crash ok deploy ok lose_response - duplicate_request 8");
}

TEST_CASE("faults of the scenario take part only when they are kept") {
  std::string text = kClaim;
  text.replace(text.find("  \"invariants\""), 0, "  \"faults\": { \"crash\": 1 },\n");
  const WindowTable alone = windows_text(text), kept = windows_text(text, true);
  check_lines(alone, lines(windows_text(kClaim)));
  // The crash of the scenario breaks the promise already, so it is left out: nothing is unsafe any more.
  CHECK(kept.undisturbed.invariants[1].verdict == Verdict::Violated);
  for (const WindowColumn& c : kept.columns) {
    for (const WindowCell& cell : c.cells) CHECK(cell.safety != Safety::Unsafe);
  }
  // A branch that only a time-out reaches has a window that can be disturbed once that time-out is kept.
  text = kKeyless;
  text.replace(text.find("  \"invariants\""), 0, "  \"faults\": { \"timeout\": 1 },\n");
  CHECK(lines(windows_text(text))[3] == "pay on_request/0/on_timeout/0 | before: reply 202 | crash - deploy - timeout - lose_response - duplicate_request -");
  CHECK(lines(windows_text(text, true))[3] ==
        "pay on_request/0/on_timeout/0 | before: reply 202 | crash ok deploy ok timeout - lose_response - duplicate_request 9");
}

TEST_CASE("limits leave cells open; the same bytes for any number of threads; counterexamples replay") {
  WindowOptions options;
  options.check.max_states = 5;
  const WindowTable open = check_windows(scenario_of(kClaim), options);
  CHECK(exit_status(open) == 3);
  // What a search did not come to may still happen.
  for (const WindowColumn& c : open.columns) {
    for (const WindowCell& cell : c.cells) CHECK(cell.safety == Safety::Inconclusive);
  }
  std::vector<WindowTable> one, three;
  one.push_back(windows_text(kClaim, false, 1));
  three.push_back(windows_text(kClaim, false, 3));
  CHECK(exit_status(one[0]) == 0);
  CHECK(to_json(one) == to_json(three));
  CHECK(replayed(scenario_of(kClaim), one[0]) == 6);
  CHECK_THROWS_AS(disturbed_program(scenario_of(kClaim), "rain", false), ScenarioError);
}

// Whether a promise breaks after a crash in this window, by a plain search over whole worlds that knows no monitor.
bool crash_breaks(const Program& p, const Window& window) {
  using State = std::pair<std::vector<std::uint8_t>, bool>;  // disturbed
  std::set<State> seen{{p.initial, false}};
  std::vector<State> stack(seen.begin(), seen.end());
  Workspace workspace;
  while (!stack.empty()) {
    const State here = std::move(stack.back());
    stack.pop_back();
    for (const Invariant& i : p.invariants) {
      Limit limit;
      if (here.second && breaks(p, i, here.first.data(), workspace, limit)) return true;
    }
    std::vector<Event> events;
    enabled(p, here.first.data(), events);
    for (const Event& e : events) {
      bool disturbed = here.second;
      if (e.kind == EventKind::Crash) {
        bool inside = false;
        for (int t = 0; t < static_cast<int>(p.plan.layout.tasks.size()); ++t) inside = inside || stands_in(p, here.first.data(), t, window);
        if (!inside) continue;
        disturbed = true;
      }
      State next{here.first, disturbed};
      if (apply(p, next.first.data(), e, workspace)) continue;
      if (seen.insert(next).second) stack.push_back(next);
    }
  }
  return false;
}

TEST_CASE("a plain explorer finds the same windows open to a crash") {
  for (const char* text : {kClaim, kKeyless, kLock}) {
    const WindowTable t = windows_text(text);
    const auto program = disturbed_program(scenario_of(text), "crash", false);
    for (std::size_t w = 0; w < t.windows.size(); ++w) {
      if (t.windows[w].kind == WindowKind::Replied) continue;
      CAPTURE(t.windows[w].place);
      CHECK((t.columns[0].cells[w].safety == Safety::Unsafe) == crash_breaks(*program, t.windows[w]));
    }
  }
}

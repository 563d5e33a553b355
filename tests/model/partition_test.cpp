// Partitions between named groups: small scenarios in which the cut alone makes the difference.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/check/checker.hpp"
#include "model/step/partition.hpp"
#include "model/step/relation.hpp"
#include "model/world/cells.hpp"
#include "sim/replay.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const std::string kOnce = R"j("no-duplicate-effect")j";
const std::string kNeverFailed = R"j({"name": "never", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'failed'"})j";
const std::string kEffectAtRest =
    R"j({"name": "done", "finally_empty": "SELECT o.identity FROM facts.operations o )j"
    R"j(WHERE NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = o.identity)"})j";
const std::string kRetries = R"j(, "timeout": "5s", "retries": 1)j";

struct Parts {
  std::string steps = {};   // of s
  std::string client = {};  // keys besides its request
  std::string groups = {};
  std::string promise = kOnce;
  std::string more = "";  // endpoints and jobs of s
  std::string redis = "";
  std::string operation = "";  // keys of p.charge
  std::string engine = "postgres";
};

std::string scenario(const Parts& parts, const std::string& faults) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "{}", "schema": [
      "CREATE TABLE work (id text NOT NULL)", "CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL)", "INSERT INTO item VALUES (1, 0)"],
      "effects": ["work"]}}}},
    "redis": {{"r": {{{}}}}},
    "providers": {{"p": {{"operations": {{"charge": {{{}}}}}}}}},
    "queues": {{"q": {{"to": "t"}}}},
    "services": {{"s": {{"instances": 2, "on_request": [{}]{}}}, "t": {{"on_request": [{{"sql": "INSERT INTO work VALUES (:key)"}}, {{"reply": 200}}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}]{}}}}},
    "faults": {{{}}},
    "invariants": [{}]
  }})j",
                     parts.engine, parts.redis, parts.operation, parts.steps, parts.more, parts.client, faults, parts.promise);
}

std::string cut(const std::string& groups, int max = 1) { return fmt::format(R"j("partition": {{"groups": {}, "max": {}}})j", groups, max); }

Verdict verdict(const Parts& parts, const std::string& faults) {
  const CheckResult result = check(*program_from(scenario(parts, faults)));
  REQUIRE(result.invariants.size() == 1);
  return result.invariants[0].verdict;
}

// Holds without the cut, also with a budget of 0; breaks with it; and the counterexample replays by its names, with one cut.
bool only_the_cut(const Parts& parts) {
  if (verdict(parts, "") != Verdict::Holds || verdict(parts, cut(parts.groups, 0)) != Verdict::Holds) return false;
  const auto program = program_from(scenario(parts, cut(parts.groups)));
  const InvariantResult result = check(*program).invariants[0];
  if (result.verdict != Verdict::Violated) return false;
  const Replay again = replay(*program, choices_of(*program, result.trace));
  CHECK(!again.divergence);
  CHECK(again.events == result.trace);
  CHECK(breaks_at_end(*program, again.events, result.name));
  return std::ranges::count(result.trace, EventKind::CutNetwork, &Event::kind) == 1;
}

const std::string kWork = R"j({"sql": "INSERT INTO work VALUES (:key)"})j";
const std::string kAnswered = kWork + R"j(, {"reply": 200})j";
const std::string kLock = R"j({"redis": "SET lock 1 NX EX 30", "into": "lock"}, {"if": ":lock IS NULL", "then": [{"reply": 409}]}, )j";

}  // namespace

TEST_CASE("an instance that is cut off from the database keeps its lease until it expires, and goes on after the healing") {
  const Parts lease{.steps = kLock + R"j({"sql": "SELECT id FROM work WHERE id = :key", "into": "w"}, {"if": ":w.count > 0", "then": [{"reply": 200}]},
    {"sql": "UPDATE item SET n = n + 1"}, )j" + kAnswered,
                    .client = kRetries, .groups = R"j([["s/1"], ["db"]])j"};
  CHECK(only_the_cut(lease));
  const std::string charge = kLock + R"j({"sql": "SELECT n FROM item WHERE n > 0", "into": "w"}, {"if": ":w.count > 0", "then": [{"reply": 200}]},
    {"sql": "UPDATE item SET n = n"}, {"call": "p.charge"}, {"sql": "UPDATE item SET n = 1"}, {"reply": 200})j";
  const Parts goes_on{.steps = charge, .client = kRetries, .groups = lease.groups};
  CHECK(only_the_cut(goes_on));
  const auto trace = check(*program_from(scenario(goes_on, cut(goes_on.groups)))).invariants[0].trace;
  CHECK(std::ranges::count(trace, EventKind::HealNetwork, &Event::kind) == 1);
  // A cut between others changes nothing.
  CHECK(verdict(lease, cut(R"j([["t"], ["db"]])j")) == Verdict::Holds);
}

TEST_CASE("a call that is held up arrives after the healing, also when its caller has given up and sent another") {
  const std::string call = R"j({"call": "p.charge", "key": ":key", "timeout": "9s", "on_timeout": [{"reply": 503}]}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = call, .client = R"j(, "retries": 1)j", .groups = R"j([["s"], ["p"]])j"}));
  CHECK(verdict({.steps = call, .client = R"j(, "retries": 1)j", .operation = R"j("idempotency_key": "honoured")j"}, cut(R"j([["s"], ["p"]])j")) == Verdict::Holds);
  // Without the time-out nobody asks twice: the answer comes after the healing.
  CHECK(verdict({.steps = R"j({"call": "p.charge", "key": ":key"}, {"reply": 200})j"}, cut(R"j([["s"], ["p"]])j")) == Verdict::Holds);
  CHECK(verdict({.steps = R"j({"call": "p.charge", "key": ":key"}, {"reply": 200})j", .promise = kEffectAtRest}, cut(R"j([["s"], ["p"]])j")) == Verdict::Holds);
}

TEST_CASE("two groups of services: the call of the other side is done twice") {
  const std::string call = R"j({"call": "t", "key": ":key", "timeout": "9s", "on_timeout": [{"reply": 503}]}, {"reply": 200})j";
  const Parts parts{.steps = call, .client = R"j(, "retries": 1)j", .groups = R"j([["c", "s", "r"], ["t", "db", "q"]])j"};
  CHECK(only_the_cut(parts));
  // Its own side is not cut.
  CHECK(verdict(parts, cut(R"j([["s", "t", "db"], ["p", "q"]])j")) == Verdict::Holds);
  // Only the calls of the instance that is cut off are held up; the other one's pass.
  Parts one = parts;
  one.groups = R"j([["s/2"], ["t"]])j";
  CHECK(only_the_cut(one));
}

TEST_CASE("a client that is cut off is not answered, gives up and sends again") {
  CHECK(only_the_cut({.steps = kAnswered, .client = kRetries, .groups = R"j([["c"], ["s"]])j"}));
  CHECK(verdict({.steps = kAnswered, .client = kRetries}, cut(R"j([["c"], ["db"]])j")) == Verdict::Holds);
}

TEST_CASE("a statement that was sent before the cut may have run, its answer lost") {
  const std::string again = R"j({"sql": "INSERT INTO work VALUES (:key)", "on_error": {"connection_lost": [)j" + kWork + R"j(]}}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = again, .groups = R"j([["s"], ["db"]])j"}));
  const std::string commit = R"j({"sql": "BEGIN"}, )j" + kWork + R"j(, {"sql": "COMMIT", "on_error": {"connection_lost": [)j" + kWork + R"j(]}}, {"reply": 200})j";
  for (const char* engine : {"postgres", "mysql"}) {
    CHECK(only_the_cut({.steps = commit, .groups = R"j([["s"], ["db"]])j", .engine = engine}));
  }
  // One that comes to its turn behind the cut cannot have run: the second statement here, unless the network is cut twice.
  const std::string second = R"j({"sql": "UPDATE item SET n = n + 1", "on_error": {"connection_lost": [
    {"sql": "INSERT INTO work VALUES (:key)", "on_error": {"connection_lost": [
      {"sql": "SELECT id FROM work", "into": "w", "on_error": [{"reply": 500}]}, {"if": ":w.count > 0", "then": [{"reply": 404}]}]}}]}}, {"reply": 200})j";
  const Parts looks{.steps = second, .promise = kNeverFailed};
  CHECK(verdict(looks, cut(R"j([["s"], ["db"]])j")) == Verdict::Holds);
  CHECK(verdict(looks, cut(R"j([["s"], ["db"]])j", 2)) == Verdict::Violated);
}

TEST_CASE("the server keeps the transaction of a session that is cut off, with its locks, after the program is over") {
  const std::string busy = R"j({"sql": "BEGIN"}, {"sql": "SELECT n FROM item WHERE id = 1 FOR UPDATE NOWAIT",
    "on_error": {"lock_not_available": [{"sql": "ROLLBACK"}, {"reply": 404}]}}, {"sql": "UPDATE item SET n = n + 1"}, {"sql": "COMMIT"}, {"reply": 200})j";
  const Parts parts{.steps = busy, .client = kRetries, .groups = R"j([["s/1"], ["db"]])j", .promise = kNeverFailed};
  CHECK(only_the_cut(parts));
  CHECK(verdict(parts, R"j("crash": 1)j") == Verdict::Holds);            // the server hears of it at once
  CHECK(verdict(parts, R"j("lose_connection": 1)j") == Verdict::Holds);
  const std::string advisory = R"j({"sql": "SELECT pg_try_advisory_lock(1) AS got", "into": "l"}, {"if": "NOT :l.got", "then": [{"reply": 404}]},
    {"sql": "UPDATE item SET n = n + 1"}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = advisory, .client = kRetries, .groups = R"j([["s/1"], ["db"]])j", .promise = kNeverFailed}));
}

TEST_CASE("a session that the server has ended is noticed at the next statement") {
  const std::string lost = R"j({"sql": "BEGIN"}, {"sql": "UPDATE item SET n = n + 1"}, {"call": "p.charge"},
    {"sql": "COMMIT", "on_error": {"connection_lost": [{"sql": "SELECT n FROM item WHERE id = 1", "into": "i", "on_error": [{"reply": 500}]},
      {"if": ":i.n = 0", "then": [{"reply": 404}]}]}}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = lost, .groups = R"j([["s"], ["db"]])j", .promise = kNeverFailed}));
}

TEST_CASE("a Redis command behind a cut fails, or had run; a library that sends again runs it twice") {
  const std::string twice = R"j({"redis": "INCR n", "into": "n", "on_error": {"connection_lost": [{"redis": "INCR n", "into": "n"}]}},
    {"if": ":n = 2", "then": [{"reply": 404}]}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = twice, .groups = R"j([["s"], ["r"]])j", .promise = kNeverFailed}));
  const std::string once = R"j({"redis": "INCR n", "into": "n"}, {"if": ":n = 2", "then": [{"reply": 404}]}, {"reply": 200})j";
  CHECK(only_the_cut({.steps = once, .groups = R"j([["s"], ["r"]])j", .promise = kNeverFailed, .redis = R"j("resend": true)j"}));
  CHECK(verdict({.steps = once, .promise = kNeverFailed}, cut(R"j([["s"], ["r"]])j")) == Verdict::Holds);
}

TEST_CASE("a queue: a message may have been taken though the publisher heard of no answer, and an acknowledgement does not get through") {
  const std::string publish = R"j({"publish": "q", "key": ":key", "on_error": [{"publish": "q", "key": ":key"}]}, {"reply": 202})j";
  CHECK(only_the_cut({.steps = publish, .groups = R"j([["s"], ["q"]])j"}));
  const std::string plain = R"j({"publish": "q", "key": ":key"}, {"reply": 202})j";
  CHECK(only_the_cut({.steps = plain, .groups = R"j([["t"], ["q"]])j"}));
  CHECK(verdict({.steps = plain}, cut(R"j([["c"], ["q"]])j")) == Verdict::Holds);
}

TEST_CASE("a webhook is held up, and comes again when its sender hears nothing") {
  const std::string hook = R"j(, "endpoints": {"hook": [{"sql": "INSERT INTO work VALUES (:key)"}, {"reply": 200}]})j";
  const std::string call = R"j({"call": "p.charge", "key": ":key"}, {"reply": 200})j";
  const std::string rows = R"j({"name": "once", "always_empty": "SELECT id FROM db.work GROUP BY id HAVING count(*) > 1"})j";
  const std::string told = R"j("webhook": {"to": "s.hook", "retries": 2})j", once = R"j("webhook": {"to": "s.hook"})j";
  CHECK(only_the_cut({.steps = call, .groups = R"j([["s"], ["p"]])j", .promise = rows, .more = hook, .operation = told}));
  CHECK(verdict({.steps = call, .promise = rows, .more = hook, .operation = once}, cut(R"j([["s"], ["p"]])j")) == Verdict::Holds);
  CHECK(verdict({.steps = call, .promise = kEffectAtRest, .more = hook, .operation = once}, cut(R"j([["s"], ["p"]])j")) == Verdict::Holds);
}

TEST_CASE("while everybody is cut off from everybody nothing passes, and the cut can always heal") {
  const Parts all{.steps = kLock + R"j({"sql": "BEGIN"}, {"sql": "UPDATE item SET n = n + 1"}, {"sql": "COMMIT"}, {"publish": "q", "key": ":key"},
    {"call": "p.charge", "timeout": "1s", "on_timeout": []}, {"call": "t", "key": ":key", "timeout": "1s", "on_timeout": []}, {"reply": 200})j",
                  .client = R"j(, "timeout": "5s")j"};
  const auto program = program_from(scenario(all, cut(R"j([["c"], ["s"], ["t"], ["db"], ["r"], ["p"], ["q"]])j")));
  using World = std::vector<std::uint8_t>;
  Workspace workspace;
  std::vector<Event> events;
  std::set<World> seen{program->initial};
  std::vector<World> todo{program->initial};
  std::set<EventKind> behind_cut;
  int rests = 0;
  while (!todo.empty()) {
    const World world = todo.back();
    todo.pop_back();
    enabled(*program, world.data(), events);
    const bool stands = world[static_cast<std::size_t>(program->plan.layout.cuts)] != 0;
    if (stands) CHECK(std::ranges::count(events, EventKind::HealNetwork, &Event::kind) == 1);
    const bool rest = at_rest(*program, world.data(), workspace);
    rests += rest ? 1 : 0;
    CHECK(!(stands && rest));
    for (std::size_t s = 0; rest && s < program->plan.layout.sessions.size(); ++s) {
      CHECK(!session_open(program->plan, world.data(), static_cast<int>(s)));  // the server has noticed in the end
    }
    for (const Event& e : std::vector<Event>(events)) {
      if (stands) behind_cut.insert(e.kind);
      World next = world;
      if (stands && e.kind == EventKind::Step) {
        const InstrKind kind = program->code[static_cast<std::size_t>(load_pc(world.data() + program->plan.layout.tasks[e.a].offset))].kind;
        CHECK((kind == InstrKind::Reply || kind == InstrKind::Call));
      }
      REQUIRE(!apply(*program, next.data(), e, workspace));
      if (seen.insert(next).second) todo.push_back(std::move(next));
    }
  }
  CHECK(rests > 0);
  for (EventKind never : {EventKind::Deliver, EventKind::Process, EventKind::Answer, EventKind::Receive}) CHECK(behind_cut.count(never) == 0);
  for (EventKind some : {EventKind::Send, EventKind::CallTimeout, EventKind::ClientTimeout, EventKind::LoseConnection, EventKind::EndSession,
                         EventKind::ExpireKey}) {
    CHECK(behind_cut.count(some) == 1);
  }
}

TEST_CASE("a budget of 0 leaves the search as it is; who is in no group sees everybody") {
  const Parts parts{.steps = kAnswered, .client = R"j(, "clicks": 2)j"};
  CheckOptions options;
  options.explore_all = true;
  const CheckResult absent = check(*program_from(scenario(parts, "")), options);
  const CheckResult zero = check(*program_from(scenario(parts, cut(R"j([["s"], ["db"]])j", 0))), options);
  CHECK(absent.states == zero.states);
  CHECK(absent.transitions == zero.transitions);
  const Parts done{.steps = kAnswered, .promise = kEffectAtRest};
  CHECK(verdict(done, cut(R"j([["s"], ["db"]])j")) == Verdict::Violated);  // 500 after connection_lost, and no retry
  CHECK(verdict(done, cut(R"j([["s"], ["r", "p", "q", "t"]])j")) == Verdict::Holds);
}

TEST_CASE("two cuts may stand together, each between its own groups") {
  const std::string call = R"j({"call": "p.charge", "timeout": "1s", "on_timeout": [{"call": "t", "key": ":key", "timeout": "1s", "on_timeout": [{"reply": 404}]}]}, {"reply": 200})j";
  const Parts parts{.steps = call, .promise = kNeverFailed};
  const std::string first = R"j({"groups": [["s"], ["p"]], "max": 1})j", second = R"j({"groups": [["s"], ["t"]], "max": 1})j";
  CHECK(verdict(parts, R"j("partition": [)j" + first + "]") == Verdict::Holds);
  CHECK(verdict(parts, R"j("partition": [)j" + second + "]") == Verdict::Holds);
  CHECK(verdict(parts, R"j("partition": [)j" + first + ", " + second + "]") == Verdict::Violated);
}

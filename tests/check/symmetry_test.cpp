// Symmetry: the search over representatives finds one state for each orbit of the whole space, and the same verdicts and depths;
// every planted bug, a kind of reference that is not renamed, is noticed.
#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/check/checker.hpp"
#include "model/step/relation.hpp"
#include "model/step/symmetry.hpp"
#include "sim/replay.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

using Bytes = std::vector<std::uint8_t>;

// All worlds that the model can reach, each with its depth, nearest first; empty when there are more than `most`.
using Worlds = std::vector<std::pair<Bytes, int>>;
Worlds worlds_of(const Program& p, std::size_t most) {
  std::set<Bytes> seen{p.initial};
  Worlds all{{p.initial, 0}};
  std::vector<Event> events;
  Workspace workspace;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.size() > most) return {};
    enabled(p, all[i].first.data(), events);
    for (const Event& e : std::vector<Event>(events)) {
      Bytes next = all[i].first;
      if (!apply(p, next.data(), e, workspace) && seen.insert(next).second) all.emplace_back(next, all[i].second + 1);
    }
  }
  return all;
}

class Representatives {
 public:
  explicit Representatives(const Program& p, std::uint32_t forgotten = 0) : p_(p), symmetry_(p), scratch_(p) {
    scratch_.renaming.forgotten = forgotten;
  }
  bool any() const { return symmetry_.any(); }
  Bytes of(Bytes world) {
    symmetry_.represent(world.data(), scratch_);
    return world;
  }
  // Where one step from the world leads, by representatives.
  std::set<Bytes> after(const Bytes& world) {
    std::set<Bytes> out;
    enabled(p_, world.data(), events_);
    for (const Event& e : std::vector<Event>(events_)) {
      Bytes next = world;
      if (!apply(p_, next.data(), e, workspace_)) out.insert(of(std::move(next)));
    }
    return out;
  }
  // The world and what stands for it can do the same.
  bool stands_for(const Bytes& world) {
    const Bytes other = of(world);
    return of(other) == other && (other == world || after(world) == after(other));
  }

 private:
  const Program& p_;
  Symmetry symmetry_;
  Symmetry::Scratch scratch_;
  std::vector<Event> events_;
  Workspace workspace_;
};

CheckResult checked(const Program& p, bool symmetry, int threads = 2) {
  CheckOptions options;
  options.threads = threads;
  options.explore_all = true;
  options.symmetry = symmetry;
  return check(p, options);
}

struct Tally {
  int compared = 0, smaller = 0;
};

void compare(const Program& p, std::size_t most, Tally& tally) {
  Representatives r(p);
  if (!r.any()) return;
  const Worlds all = worlds_of(p, most);
  if (all.empty()) return;
  std::set<Bytes> orbits;
  int differ = 0, depth = 0;
  for (const auto& [world, at] : all) {
    // A world may lie deeper than others of its orbit: handlers take the first free slot.
    if (orbits.insert(r.of(world)).second) depth = at;
    differ += r.stands_for(world) ? 0 : 1;
  }
  CHECK(differ == 0);
  const CheckResult plain = checked(p, false), reduced = checked(p, true);
  ++tally.compared;
  tally.smaller += reduced.states < plain.states ? 1 : 0;
  CHECK(plain.states == all.size());
  CHECK(reduced.states == orbits.size());
  CHECK(reduced.complete == plain.complete);
  CHECK(reduced.depth == depth);
  for (std::size_t i = 0; i < plain.invariants.size(); ++i) {
    const InvariantResult &a = plain.invariants[i], &b = reduced.invariants[i];
    CAPTURE(a.name);
    CHECK(b.verdict == a.verdict);
    CHECK(b.trace.size() == a.trace.size());
    if (b.verdict == Verdict::Violated) CHECK(breaks_at_end(p, b.trace, b.name));
  }
}

}  // namespace

TEST_CASE("shipped variants: one state for each orbit, the same verdicts and depths") {
  Tally tally;
  for (const std::string& file : shipped_files()) {
    for (const auto& p : programs_of(file)) {
      CAPTURE(file);
      CAPTURE(p->scenario.variant);
      compare(*p, 6'000, tally);
    }
  }
  MESSAGE(tally.compared << " variants compared, " << tally.smaller << " of them with fewer states");
  CHECK(tally.smaller > 10);
}

TEST_CASE("generated scenarios: one state for each orbit, the same verdicts and depths") {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    compare(*program_from(generated_scenario(seed)), 2'500, tally);
  }
  MESSAGE(tally.compared << " scenarios compared, " << tally.smaller << " of them with fewer states");
  CHECK(tally.smaller > 30);
}

namespace {

std::string scenario(const std::string& parts, const std::string& client, const std::string& more = "") {
  return R"j({"title": "test", )j" + parts + R"j(, "clients": {"c": {"requests": [{"to": "s", "key": "K"}], )j" + client + "}}" +
         (more.empty() ? "" : ", " + more) + R"j(, "invariants": [{"name": "p", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'accepted'"}]})j";
}

std::string handler(const std::string& steps, const std::string& keys = "") {
  return R"j("services": {"s": {)j" + keys + R"j("on_request": [)j" + steps + R"j(, {"reply": 200}]}})j";
}

std::string database(const std::string& engine, const std::string& isolation, const std::string& schema) {
  return R"j("databases": {"db": {"engine": ")j" + engine + R"j(", "isolation": ")j" + isolation + R"j(", "schema": [)j" + schema + "]}}, ";
}

const std::string kTable = R"j("CREATE TABLE t (id varchar(9) PRIMARY KEY, n int NOT NULL)", "INSERT INTO t VALUES ('K', 0)")j";
const std::string kUpdate = R"j({"sql": "UPDATE t SET n = n + 1 WHERE id = :key"})j";
const std::string kCommit = R"j({"sql": "COMMIT"})j";

// What each kind of reference needs to be missed.
std::map<Reference, std::string> scenarios() {
  const std::string postgres = database("postgres", "read committed", kTable);
  const std::string in_transaction = R"j({"sql": "BEGIN"}, )j" + kUpdate + R"j(, {"pause": true}, )j" + kCommit;
  const std::string numbered = database("mysql", "repeatable read",
                                        R"j("CREATE TABLE t (n int AUTO_INCREMENT PRIMARY KEY, id varchar(9) UNIQUE)")j");
  const std::string serializable = scenario(database("postgres", "serializable", kTable) + handler(R"j({"sql": "BEGIN"},
      {"sql": "SELECT n FROM t WHERE id = :key", "into": "x"}, )j" + kUpdate + ", " + kCommit), R"j("clicks": 2)j");
  const std::string redis_owners = scenario(R"j("redis": {"r": {"replicas": 1}}, )j" + handler(R"j(
      {"redis": "SET k 1 PX 100"}, {"redis": "DEL k"})j"), R"j("clicks": 2)j", R"j("faults": {"failover": 1, "expire": 1})j");
  const std::string owned = redis_owners.substr(0, redis_owners.rfind("\"invariants\"")) + R"j("invariants": ["only-owner-releases"]})j";
  const std::string lock_wait = scenario(database("mysql", "repeatable read", kTable) + handler(R"j({"sql": "BEGIN"},
      {"sql": "SELECT n FROM t WHERE id = :key FOR UPDATE"}, )j" + kUpdate + ", " + kCommit), R"j("clicks": 2)j");
  const std::string deadline = R"j("CREATE TABLE t (id text PRIMARY KEY, until timestamptz)", "INSERT INTO t VALUES ('K', NULL)")j";
  const std::string by_clock = R"j({"sql": "UPDATE t SET until = NOW() + interval '5s' WHERE id = :key AND until IS NULL"},
      {"sql": "SELECT until FROM t WHERE id = :key", "into": "x"}, {"pause": true}, {"if": ":x.until < NOW()", "then": [{"reply": 409}]})j";
  const std::string clocks = scenario(database("postgres", "read committed", deadline) + handler(by_clock, R"j("instances": 2, )j"), R"j("clicks": 2)j",
                                      R"j("faults": {"clock_jump": 1, "expire": 1})j");
  const std::string called = R"j("services": {"s": {"on_request": [{"call": "b.work", "key": ":key", "timeout": "3s", "on_timeout": [], "on_error": []}, {"reply": 200}]},
      "b": {"endpoints": {"work": [{"pause": true}, {"reply": 200}]}}})j";
  return {
      {Reference::Connection, scenario(R"j("redis": {"r": {}}, )j" + handler(R"j({"redis": "WATCH k"}, {"redis": "MULTI"}, {"redis": "SET k 1"}, {"redis": "EXEC", "into": "x"},
          {"if": ":x IS NULL", "then": [{"reply": 409}]})j"), R"j("clicks": 2)j")},
      {Reference::Savepoints, scenario(postgres + handler(R"j({"sql": "BEGIN"}, {"sql": "SAVEPOINT a"}, )j" + kUpdate + R"j(, {"sql": "ROLLBACK TO SAVEPOINT a"}, )j" + kCommit), R"j("clicks": 2)j")},
      {Reference::NumberTaken, scenario(numbered + handler(R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO t (id) VALUES (:key)", "on_error": {"unique_violation": [{"sql": "ROLLBACK"}, {"reply": 409}]}}, )j" + kCommit), R"j("clicks": 3)j")},
      {Reference::RowLocks, scenario(postgres + handler(R"j({"sql": "BEGIN"}, {"sql": "SELECT n FROM t WHERE id = :key FOR UPDATE"}, )j" + kUpdate + ", " + kCommit), R"j("clicks": 2)j")},
      {Reference::SsiRecords, serializable},
      {Reference::SsiNumbers, serializable},
      {Reference::SsiMasks, serializable},
      {Reference::LockTableBytes, lock_wait},
      {Reference::LockEntry, lock_wait},
      {Reference::Senders, scenario(postgres + handler(kUpdate), R"j("clicks": 2, "retries": 1, "timeout": "3s")j")},
      {Reference::Flags, scenario(postgres + handler(kUpdate + R"j(, {"pause": true})j", R"j("instances": 2, "next": {"on_request": [{"reply": 409}]}, )j"), R"j("clicks": 2)j", R"j("faults": {"rolling_deploy": 1})j")},
      {Reference::RowMarks, scenario(postgres + handler(in_transaction), R"j("clicks": 2)j")},
      {Reference::Waits, scenario(postgres + handler(in_transaction), R"j("clicks": 3)j")},
      {Reference::AdvisoryOwner, scenario(postgres + handler(R"j({"sql": "SELECT pg_advisory_lock(1)"}, {"pause": true}, {"sql": "SELECT pg_advisory_unlock(1)"})j"), R"j("clicks": 2)j")},
      {Reference::SessionDeadline, scenario(database("postgres", "read committed", deadline) + handler(R"j({"sql": "BEGIN"},
          {"sql": "UPDATE t SET until = NOW() + interval '5s' WHERE id = :key AND until IS NULL"}, {"sql": "SELECT id FROM t WHERE id = :key AND until < NOW()", "into": "x"}, )j" + kCommit),
          R"j("clicks": 3)j", R"j("faults": {"expire": 1})j")},
      {Reference::CallingTask, scenario(called, R"j("clicks": 2)j")},
      {Reference::ProviderCaller, scenario(R"j("providers": {"p": {"operations": {"pay": {}}}}, )j" + handler(R"j({"call": "p.pay", "timeout": "3s", "on_timeout": [], "on_error": []}, {"pause": true})j"), R"j("clicks": 2)j")},
      {Reference::HeldBy, R"j({"title": "test", "queues": {"q": {"to": "s.work"}}, "services": {"s": {"on_request": [{"publish": "q", "key": ":key"}, {"reply": 200}],
          "endpoints": {"work": [{"pause": true}, {"pause": true}]}}}, "clients": {"c": {"requests": [{"to": "s", "key": "K"}], "clicks": 2}},
          "faults": {"redeliver": 1}, "invariants": ["no-false-failure"]})j"},
      {Reference::KeyOwner, owned},
      {Reference::WriteOwner, owned},
      {Reference::CallingSender, scenario(postgres + handler(kUpdate + R"j(, {"pause": true})j"), R"j("clicks": 2, "retries": 1)j")},
      {Reference::TaskInstance, scenario(postgres + handler(kUpdate + R"j(, {"pause": true})j", R"j("instances": 2, )j"), R"j("clicks": 3)j", R"j("faults": {"crash": 1})j")},
      {Reference::ClockDeadline, clocks},
  };
}

// Whether the tests above would notice: in a process of its own, since a world with a wrong name in it may fail a check.
bool noticed(const Program& p, Reference forgotten) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
    Representatives r(p, forgotten == static_cast<Reference>(kReferences) ? 0 : 1u << static_cast<int>(forgotten));
    const Worlds all = worlds_of(p, 30'000);
    _exit(std::all_of(all.begin(), all.end(), [&](const auto& w) { return r.stands_for(w.first); }) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

TEST_CASE("each kind of reference that is not renamed is noticed") {
  for (const auto& [reference, text] : scenarios()) {
    CAPTURE(static_cast<int>(reference));
    const auto p = program_from(text);
    CHECK(!worlds_of(*p, 30'000).empty());
    CHECK(!noticed(*p, static_cast<Reference>(kReferences)));
    CHECK(noticed(*p, reference));
  }
}

TEST_CASE("a counterexample with symmetry is as short, and does not depend on the number of threads") {
  for (const std::string& file : {shipped("field/B03-rejected-duplicate-deletes-claim.jsonc"), shipped("dedup-race.jsonc")}) {
    for (const auto& p : programs_of(file)) {
      const CheckResult one = checked(*p, true, 1), four = checked(*p, true, 4);
      CHECK(one.states == four.states);
      CHECK(one.renamed == four.renamed);
      for (std::size_t i = 0; i < one.invariants.size(); ++i) CHECK(one.invariants[i].trace == four.invariants[i].trace);
    }
  }
}

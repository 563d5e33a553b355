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

#include <nlohmann/json.hpp>

#include "model/check/checker.hpp"
#include "model/step/canonical.hpp"
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
  explicit Representatives(const Program& p, std::uint32_t forgotten = 0) : p_(p), symmetry_(p, forgotten), scratch_(p) {}
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
  // What stands for the world can do the same, and rests when it does.
  bool stands_for(const Bytes& world) {
    const Bytes other = of(world);
    Bytes settled = other;
    make_canonical(p_, settled.data());
    if (of(other) != other || settled != other) return false;
    if (other == world) return true;
    return after(world) == after(other) && at_rest(p_, world.data(), workspace_) == at_rest(p_, other.data(), workspace_);
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
      // Symmetry is off for these.
      std::erase_if(p->invariants, [](const Invariant& i) { return is_liveness(i.spec.kind); });
      compare(*p, 6'000, tally);
    }
  }
  MESSAGE(tally.compared << " variants compared, " << tally.smaller << " of them with fewer states");
  CHECK(tally.smaller > 10);
}

namespace {

// With a second client, whose key is another one.
std::string with_two_clients(std::uint64_t seed) {
  auto scenario = nlohmann::json::parse(generated_scenario(seed));
  auto& clients = scenario["clients"];
  clients["c"]["clicks"] = 1;
  clients["c"]["retries"] = 0;
  clients["d"] = clients["c"];
  if (clients["d"]["requests"][0]["key"].is_string()) clients["d"]["requests"][0]["key"] = "L";
  return scenario.dump();
}

}  // namespace

TEST_CASE("generated scenarios: one state for each orbit, the same verdicts and depths") {
  Tally tally, of_two;
  for (std::uint64_t seed = 0; seed < generated_count(200); ++seed) {
    CAPTURE(seed);
    compare(*program_from(generated_scenario(seed)), 2'500, tally);
    compare(*program_from(with_two_clients(seed)), 2'500, of_two);
  }
  MESSAGE(tally.compared << " scenarios compared, " << tally.smaller << " of them with fewer states");
  MESSAGE(of_two.compared << " with two clients, " << of_two.smaller << " of them with fewer states");
  CHECK(tally.smaller > 30);
  CHECK(of_two.smaller > 30);
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

// Clients a, b, ... send one request each, with a key of their own.
std::string of_clients(int count, const std::string& parts, const std::string& more = "") {
  std::string clients;
  for (int c = 0; c < count; ++c) {
    const std::string name(1, static_cast<char>('a' + c));
    clients += (clients.empty() ? "\"" : ", \"") + name + R"j(": {"requests": [{"to": "s", "key": "key-)j" + name + R"j("}], "timeout": "3s"})j";
  }
  return R"j({"title": "test", )j" + parts + R"j(, "clients": {)j" + clients + "}" + (more.empty() ? "" : ", " + more) +
         R"j(, "invariants": [{"name": "p", "always_empty": "SELECT identity FROM facts.told WHERE outcome = 'accepted'"}]})j";
}

const std::string kEmptyTable = R"j("CREATE TABLE t (id varchar(9) PRIMARY KEY, n int NOT NULL)")j";
const std::string kHeap = R"j("CREATE TABLE t (id text, n int NOT NULL)")j";
const std::string kSmallest = R"j(, {"sql": "SELECT id FROM t ORDER BY id LIMIT 1", "into": "x"}, {"if": ":x.id = :key", "then": [{"reply": 409}]})j";
const std::string kInsert = R"j({"sql": "INSERT INTO t VALUES (:key, 0)"}, {"pause": true})j";

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
  const std::string clients = of_clients(2, database("postgres", "read committed", kEmptyTable) + handler(kInsert + ", " + kUpdate), R"j("faults": {"crash": 1})j");
  const std::string deploys = scenario(postgres + handler(kUpdate + R"j(, {"pause": true})j", R"j("instances": 2, "next": {"on_request": [{"reply": 409}]}, )j"),
                                       R"j("clicks": 2)j", R"j("faults": {"rolling_deploy": 1})j");
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
      {Reference::Flags, deploys},
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
      {Reference::TaskInstance, deploys},
      {Reference::ClockDeadline, clocks},
      {Reference::Told, clients},
      {Reference::Routes, clients},
      {Reference::Values, clients},
      // Reasons to keep things apart.
      {Reference::SharedRowLocks, scenario(postgres + handler(R"j({"sql": "BEGIN"}, {"sql": "SELECT n FROM t WHERE id = :key FOR SHARE"}, {"pause": true}, )j" + kUpdate + ", " + kCommit), R"j("clicks": 3)j")},
      {Reference::RowOrder, scenario(database("postgres", "read committed", kHeap) + handler(R"j({"set": {"me": "gen_random_uuid()"}}, {"sql": "INSERT INTO t VALUES (:me, 0)"}, {"pause": true},
          {"sql": "SELECT id FROM t", "into": "x"}, {"if": ":x.id = :me", "then": [{"reply": 409}]})j"), R"j("clicks": 2)j")},
      {Reference::ValueUse, of_clients(2, database("postgres", "read committed", kEmptyTable) + handler(kInsert + kSmallest))},
      {Reference::Words, of_clients(2, database("postgres", "read committed", kEmptyTable) + handler(R"j({"if": ":key = 'key-a'", "then": [{"reply": 409}]}, )j" + kInsert))},
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

namespace {

std::vector<std::string> found_in(const std::string& text) {
  const auto p = program_from(text);
  return Symmetry(*p).found();
}

bool finds_clients(const std::string& text) {
  const std::vector<std::string> all = found_in(text);
  return std::any_of(all.begin(), all.end(), [](const std::string& s) { return s.find("clients ") == 0; });
}
bool finds_handlers(const std::string& text) {
  const std::vector<std::string> all = found_in(text);
  return std::any_of(all.begin(), all.end(), [](const std::string& s) { return s.find(" handlers of ") != std::string::npos; });
}

}  // namespace

TEST_CASE("clients that differ in their own values change places, their values and what is made of them too") {
  const std::string postgres = database("postgres", "read committed", kEmptyTable);
  const std::string lock = R"j("redis": {"r": {}}, )j" + handler(R"j({"redis": "SET lock:{:key} :key NX PX 100", "into": "l"},
      {"if": ":l IS NULL", "then": [{"reply": 409}]}, {"redis": "DEL lock:{:key}"})j");
  const std::string pays = R"j("providers": {"p": {"operations": {"pay": {"idempotency_key": "honoured", "webhook": {"to": "s.hook"}}}}},
      "services": {"s": {"on_request": [{"call": "p.pay", "key": "'pay-' || :key", "identity": ":key", "timeout": "3s", "on_timeout": [], "on_error": []},
      {"reply": 200}], "endpoints": {"hook": [{"pause": true}, {"reply": 200}]}}})j";
  Tally tally;
  for (const std::string& text : {of_clients(3, postgres + handler(kInsert)), of_clients(2, postgres + handler(kInsert), R"j("faults": {"duplicate_request": 1})j"),
                                  of_clients(3, lock), of_clients(2, lock, R"j("faults": {"expire": 1})j"), of_clients(2, pays, R"j("faults": {"timeout": 1})j"),
                                  of_clients(2, postgres + handler(R"j({"sql": "SELECT pg_advisory_lock(7)"}, )j" + kInsert))}) {
    CAPTURE(text);
    CHECK(finds_clients(text));
    compare(*program_from(text), 20'000, tally);
  }
  // A key that all share, a field that nobody reads.
  std::string shared = of_clients(2, postgres + handler(kUpdate)), unread = shared;
  shared.replace(shared.find("key-b"), 5, "key-a");
  unread.replace(unread.find("key-b\""), 6, R"j(key-b", "more": 1)j");
  for (const std::string& text : {shared, unread}) {
    CHECK(finds_clients(text));
    compare(*program_from(text), 20'000, tally);
  }
  CHECK(tally.smaller == 8);
}

TEST_CASE("clients stay apart when the program can tell their values apart") {
  const std::string postgres = database("postgres", "read committed", kEmptyTable);
  const std::string alike = of_clients(2, postgres + handler(kInsert));
  REQUIRE(finds_clients(alike));
  auto with = [&](const std::string& old, const std::string& now) {
    std::string text = alike;
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size())) text.replace(at, old.size(), now);
    return text;
  };
  std::string sized = with("\"on_request\": [", R"j("on_request": [{"if": ":size > 1", "then": [{"reply": 409}]}, )j");
  sized.replace(sized.find("key-a\""), 6, R"j(key-a", "size": 2)j");
  Tally tally;
  for (const std::string& text : {
           with("key-a", "7"), with("\"on_request\": [", R"j("on_request": [{"if": ":key = 'key-a'", "then": [{"reply": 409}]}, )j"),
           with("\"on_request\": [", R"j("on_request": [{"if": ":key < 'key-b'", "then": [{"reply": 409}]}, )j"),
           of_clients(2, postgres + handler(kInsert + kSmallest)),
           with("PRIMARY KEY, n int NOT NULL)\"", "PRIMARY KEY, n int NOT NULL)\", \"INSERT INTO t VALUES ('key-a', 0)\""),
           with("\"on_request\": [", R"j("on_request": [{"sql": "SELECT id FROM t", "into": "x"}, {"if": ":x.id = :key", "then": [{"reply": 409}]}, )j"),
           with("varchar(9)", "varchar(5)").replace(alike.find("key-b") + 0, 5, "other-b"), with("'accepted'", "'accepted' AND client <> 'a'"),
           with("\"engine\": \"postgres\"", "\"engine\": \"mysql\""), with("\"invariants\"", R"j("faults": {"timeout": {"max": 1, "client": "a"}}, "invariants")j"),
           sized}) {
    CAPTURE(text);
    CHECK(!finds_clients(text));
    compare(*program_from(text), 20'000, tally);
  }
}

TEST_CASE("handlers stay apart where a rule goes by the numbers of sessions or fresh values") {
  const std::string two = R"j("clicks": 3)j";
  auto of = [&](const std::string& schema, const std::string& steps) {
    return scenario(database("postgres", "read committed", schema) + handler(steps), two);
  };
  CHECK(finds_handlers(of(kTable, kUpdate)));
  CHECK(!finds_handlers(of(kTable, R"j({"sql": "BEGIN"}, {"sql": "SELECT n FROM t WHERE id = :key FOR SHARE"}, {"sql": "COMMIT"})j")));
  const std::string heap = R"j("CREATE TABLE t (id text, n int NOT NULL)", "INSERT INTO t VALUES ('K', 0), ('K', 0)")j";
  CHECK(!finds_handlers(of(heap, kUpdate)));
  // A key puts rows in order, unless it is a fresh value.
  const std::string keyed = R"j("CREATE TABLE t (id text PRIMARY KEY, n int NOT NULL)", "INSERT INTO t VALUES ('K', 0), ('L', 0)")j";
  CHECK(finds_handlers(of(keyed, R"j({"sql": "UPDATE t SET n = n + 1"})j")));
  CHECK(!finds_handlers(of(keyed, R"j({"sql": "INSERT INTO t VALUES (gen_random_uuid(), 0)"}, {"sql": "UPDATE t SET n = n + 1"})j")));
  CHECK(!finds_handlers(of(keyed, R"j({"set": {"me": "gen_random_uuid()", "other": "gen_random_uuid()"}}, {"if": ":me < :other", "then": [{"reply": 409}]}, )j" + kUpdate)));
  // A promise of steps that compares fresh values.
  const std::string token = R"j("CREATE TABLE t (id text PRIMARY KEY, n text)", "INSERT INTO t VALUES ('K', NULL)")j";
  std::string steps = of(token, R"j({"sql": "UPDATE t SET n = gen_random_uuid() WHERE id = :key"})j");
  CHECK(finds_handlers(steps));
  steps.replace(steps.find(R"j("always_empty")j"), std::string::npos, R"j("never_step": "OLD.n = NEW.n", "table": "t"}]})j");
  CHECK(!finds_handlers(steps));
  Tally tally;
  compare(*program_from(of(keyed, R"j({"sql": "UPDATE t SET n = n + 1"})j")), 30'000, tally);
  const std::string serializable = scenario(database("postgres", "serializable", kTable) + handler(R"j({"sql": "SELECT n FROM t WHERE n > 0", "into": "x"},
      {"sql": "UPDATE t SET n = 1 WHERE id = :key AND :x.count = 0"})j"), two);
  compare(*program_from(serializable), 40'000, tally);
  CHECK(tally.smaller == 2);
}

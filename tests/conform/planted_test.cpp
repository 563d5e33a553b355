// Vectors written by hand: the driver's rules, verdicts, and mistakes in the file.
#include <doctest/doctest.h>

#include <string>

#include "reports/conform_report.hpp"
#include "tests/conform/vector_text.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

const nlohmann::json kOk = "OK";

// A inserts, B waits for the same key, A ends: B has the key, or an error.
std::vector<Did> two_inserts(const std::string& end, const nlohmann::json& second) {
  return {{sql("A", "BEGIN"), kOk},
          {sql("A", "INSERT INTO k VALUES ('k1','A')"), 1},
          {sql("B", "INSERT INTO k VALUES ('k1','B')"), second, 3},
          {sql("A", end), kOk}};
}

nlohmann::json rows(const std::vector<std::vector<nlohmann::json>>& all) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& row : all) out.push_back(row);
  return out;
}

nlohmann::json table_k(const std::vector<std::vector<nlohmann::json>>& all) { return {{"k", rows(all)}}; }

std::string mistakes_of(const nlohmann::json& v) {
  try {
    read_vector_text(v.dump(), "planted.json");
  } catch (const ScenarioError& e) {
    std::string out;
    for (const Diagnostic& d : e.diagnostics()) out += d.text() + "\n";
    return out;
  }
  return "";
}

}  // namespace

TEST_CASE("a true record agrees; false ones are told, expected against got") {
  const nlohmann::json truth = vector_json(two_inserts("COMMIT", error("23505")), table_k({{"k1", "A"}}));
  CHECK(verdict_of(truth) == ConformVerdict::Agree);

  nlohmann::json v = truth;
  v["outcome"][1]["result"] = 2;
  ConformResult r = conform_json(v);
  CHECK(r.verdict == ConformVerdict::Mismatch);
  REQUIRE(r.recordings.front().divergences.size() == 1);
  const Divergence& d = r.recordings.front().divergences.front();
  CHECK(d.step == 1);
  REQUIRE(d.lines.size() == 1);
  CHECK(d.lines.front().expected == "2 rows affected");
  CHECK(d.lines.front().got == "1 row affected");

  v = truth;
  v["outcome"][2]["error"] = "40001";
  CHECK(verdict_of(v) == ConformVerdict::Mismatch);
  v = truth;
  v["outcome"][2]["blocked_until"] = nullptr;
  CHECK(verdict_of(v) == ConformVerdict::Mismatch);
  v = truth;
  v["final"] = table_k({{"k1", "B"}});
  r = conform_json(v);
  CHECK(r.verdict == ConformVerdict::Mismatch);
  ConformReport report;
  report.counts[static_cast<std::size_t>(r.verdict)] = 1;
  report.results.push_back(std::move(r));
  const std::string text = to_text(report, {});
  CHECK(text.find("expected at the end: k [[\"k1\",\"B\"]]") != std::string::npos);
  CHECK(text.find("got at the end:      k [[\"k1\",\"A\"]]") != std::string::npos);
  CHECK(text.ends_with("1 vectors: 0 agree, 0 allowed, 0 unsupported, 1 mismatch\n"));
}

TEST_CASE("one of several outcomes is allowed") {
  // Which of the two waiters goes first is up to the scheduler.
  std::vector<Did> did = {{sql("A", "BEGIN"), kOk},
                          {sql("A", "INSERT INTO k VALUES ('k1','A')"), 1},
                          {sql("B", "INSERT INTO k VALUES ('k1','B')"), 1, 4},
                          {sql("C", "INSERT INTO k VALUES ('k1','C')"), error("23505"), 4},
                          {sql("A", "ROLLBACK"), kOk}};
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "B"}}))) == ConformVerdict::Allowed);
  // A paused server process does not go first.
  did.insert(did.begin() + 4, {op("pause", "C"), kOk});
  did.push_back({op("resume", "C"), kOk});
  did[2].until = 5;
  did[3].until = 6;
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "B"}}))) == ConformVerdict::Agree);
}

TEST_CASE("all alternatives must be reachable") {
  const nlohmann::json commit = vector_json(two_inserts("COMMIT", error("23505")), table_k({{"k1", "A"}}));
  const nlohmann::json rollback = vector_json(two_inserts("ROLLBACK", 1), table_k({{"k1", "B"}}));
  auto both = [&](const nlohmann::json& second) {
    nlohmann::json v = commit;
    for (const char* name : {"steps", "outcome", "final"}) v.erase(name);
    v["alternatives"] = nlohmann::json::array();
    for (const auto& one : {commit, second}) {
      v["alternatives"].push_back({{"seen", 1}, {"steps", one["steps"]}, {"outcome", one["outcome"]}, {"final", one["final"]}});
    }
    return v;
  };
  CHECK(verdict_of(both(rollback)) == ConformVerdict::Allowed);
  nlohmann::json wrong = rollback;
  wrong["outcome"][2]["result"] = 0;
  const ConformResult r = conform_json(both(wrong));
  CHECK(r.verdict == ConformVerdict::Mismatch);
  CHECK(r.recordings[0].verdict == ConformVerdict::Agree);
  CHECK(r.recordings[1].verdict == ConformVerdict::Mismatch);
}

TEST_CASE("unsupported names the construct and its place") {
  nlohmann::json v = vector_json(two_inserts("COMMIT", error("23505")), table_k({{"k1", "A"}}));
  v["steps"][1]["sql"] = "MERGE INTO k USING (SELECT 'k1' AS id) s ON k.id = s.id WHEN NOT MATCHED THEN INSERT VALUES ('k1','A')";
  ConformResult r = conform_json(v);
  CHECK(r.verdict == ConformVerdict::Unsupported);
  CHECK(r.reason.find("MERGE") != std::string::npos);
  CHECK(r.reason.find("/steps/1/sql") != std::string::npos);
  v = vector_json({}, table_k({}));
  v["setup"] = {"CREATE TABLE k (id int PRIMARY KEY) PARTITION BY HASH (id)"};
  r = conform_json(v);
  CHECK(r.verdict == ConformVerdict::Unsupported);
  CHECK(r.reason.find("/setup/0") != std::string::npos);
  v = vector_json({}, table_k({}));
  v["server_options"] = {{"fsync", "off"}};
  CHECK(verdict_of(v) == ConformVerdict::Unsupported);
}

TEST_CASE("a client that goes away while its statement waits is not noticed") {
  std::vector<Did> did = {{sql("A", "BEGIN"), kOk},
                          {sql("A", "INSERT INTO k VALUES ('k1','A')"), 1},
                          {sql("B", "INSERT INTO k VALUES ('k1','B')"), error("CONN_LOST"), 3},
                          {op("drop_client", "B"), kOk},
                          {sql("A", "ROLLBACK"), kOk},
                          {sql("A", "SELECT v FROM k"), rows({{"B"}})},
                          {sql("B", "SELECT 1"), error("CONN_LOST")}};
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "B"}}))) == ConformVerdict::Agree);
  // In a transaction the COMMIT never comes.
  did.insert(did.begin() + 2, {sql("B", "BEGIN"), kOk});
  did[3].until = 4;
  did[6].result = rows({});
  CHECK(verdict_of(vector_json(did, table_k({}))) == ConformVerdict::Agree);
}

TEST_CASE("terminate, cancel, reconnect") {
  std::vector<Did> did = two_inserts("COMMIT", error("57014"));
  did.insert(did.begin() + 3, {op("cancel", "B"), kOk});
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Agree);
  did[3].step = op("terminate", "B");
  did[2].result = error("57P01");
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Agree);
  did.push_back({op("reconnect", "B"), kOk});
  did.push_back({sql("B", "SELECT v FROM k"), rows({{"A"}})});
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Agree);
  // The end of the one who holds the key.
  did = two_inserts("COMMIT", 1);
  did[3] = {op("terminate", "A"), kOk};
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "B"}}))) == ConformVerdict::Agree);
}

TEST_CASE("time-outs run by the driver's clock") {
  std::vector<Did> did = two_inserts("COMMIT", error("55P03"));
  did.insert(did.begin(), {sql("B", "SET lock_timeout = '1s'"), kOk});
  did.insert(did.begin() + 4, {sleep_ms(1200), kOk});
  did[3].until = 4;
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Agree);
  did[4].step = sleep_ms(200);  // too short
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Mismatch);
  did[4].step = sleep_ms(1200);
  did[0].step = sql("B", "SET statement_timeout = 1000");
  did[3].result = error("57014");
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "A"}}))) == ConformVerdict::Agree);

  did = {{sql("A", "SET idle_in_transaction_session_timeout = '1s'"), kOk},
         {sql("A", "BEGIN"), kOk},
         {sql("A", "INSERT INTO k VALUES ('k1','A')"), 1},
         {sql("B", "INSERT INTO k VALUES ('k1','B')"), 1, 4},
         {sleep_ms(1500), kOk},
         {sql("A", "COMMIT"), error("25P03")}};
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "B"}}))) == ConformVerdict::Agree);
}

TEST_CASE("stored deadlines pass when their time has come") {
  const nlohmann::json setup = {"CREATE TABLE l (id int PRIMARY KEY, until timestamptz)", "INSERT INTO l VALUES (1, now() + interval '2 seconds')"};
  auto lease = [&](int ms, int renewed) {
    const std::vector<Did> did = {{sleep_ms(ms), kOk},
                                  {sql("A", "UPDATE l SET until = NULL WHERE id = 1 AND until < now()"), renewed},
                                  {sql("A", "UPDATE l SET until = NULL"), 1}};
    return verdict_of(vector_json(did, {{"l", rows({{1, nullptr}})}}, "postgres-15", "READ COMMITTED", setup));
  };
  CHECK(lease(1000, 0) == ConformVerdict::Agree);
  CHECK(lease(2500, 1) == ConformVerdict::Agree);
  CHECK(lease(1000, 1) == ConformVerdict::Mismatch);
  CHECK(lease(2500, 0) == ConformVerdict::Mismatch);
}

TEST_CASE("values that || makes are found by compiling again") {
  const std::vector<Did> did = {{sql("A", "INSERT INTO k VALUES ('k1','a')"), 1},
                                {sql("A", "UPDATE k SET v = v || 'b'"), 1},
                                {sql("A", "UPDATE k SET v = v || 'c' RETURNING v"), rows({{"abc"}})},
                                {sql("A", "UPDATE k SET v = v || v"), 1}};
  CHECK(verdict_of(vector_json(did, table_k({{"k1", "abcabc"}}))) == ConformVerdict::Agree);
}

TEST_CASE("rows without ORDER BY are a multiset, with it a list") {
  auto read = [](const std::string& text, const nlohmann::json& result) {
    return verdict_of(vector_json({{sql("A", "INSERT INTO k VALUES ('k1','A'),('k2','B')"), 2}, {sql("A", text), result}},
                                  table_k({{"k1", "A"}, {"k2", "B"}})));
  };
  CHECK(read("SELECT v FROM k", rows({{"B"}, {"A"}})) == ConformVerdict::Agree);
  CHECK(read("SELECT v FROM k", rows({{"A"}, {"A"}})) == ConformVerdict::Mismatch);
  CHECK(read("SELECT v FROM k ORDER BY id", rows({{"A"}, {"B"}})) == ConformVerdict::Agree);
  CHECK(read("SELECT v FROM k ORDER BY id", rows({{"B"}, {"A"}})) == ConformVerdict::Mismatch);
}

TEST_CASE("mistakes in a vector are told with their place; what is no vector is passed over") {
  const nlohmann::json good = vector_json(two_inserts("COMMIT", error("23505")), table_k({{"k1", "A"}}));
  CHECK(mistakes_of(good) == "");
  auto with = [&](auto change) {
    nlohmann::json v = good;
    change(v);
    return mistakes_of(v);
  };
  auto has = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(with([](auto& v) { v["steps"][1]["session"] = "Z"; }), "unknown session \"Z\" (at /steps/1/session)");
  has(with([](auto& v) { v["engine"] = "oracle"; }), "unknown engine \"oracle\"");
  has(with([](auto& v) { v["isolation"] = "SNAPSHOT"; }), "unknown isolation level \"SNAPSHOT\"");
  has(with([](auto& v) { v["outcome"].erase(0); }), "expected an outcome for each of the 4 steps (at /outcome)");
  has(with([](auto& v) { v["outcome"][1]["result"] = true; }), "(at /outcome/1/result)");
  has(with([](auto& v) { v["outcome"][2]["blocked_until"] = 9; }), "(at /outcome/2/blocked_until)");
  has(with([](auto& v) { v["steps"][3]["session"] = "B"; }), "still blocked");
  has(with([](auto& v) { v["steps"][3] = op("explode", "A"); }), "unknown operation \"explode\"");
  has(with([](auto& v) { v["steps"][3] = {{"session", nullptr}, {"op", "sleep"}, {"ms", -1}}; }), "expected milliseconds");
  has(with([](auto& v) { v["final"]["k"] = 3; }), "expected a list of rows (at /final/k)");
  has(with([](auto& v) { v.erase("sessions"); }), "expected a member \"sessions\"");
  CHECK_THROWS_AS(read_vector_text("{ not json", "x.json"), ScenarioError);
  CHECK(!read_vector_text("{}", "x.json"));
  CHECK(!read_vector_text("[1, 2]", "x.json"));
}

// The recorded vectors of tests/vectors against the model, and the same vectors with a false record.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reports/conform_report.hpp"

using namespace oncecheck;

namespace {

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ONCECHECK_SOURCE_DIR) + "/tests/vectors/" + folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<std::string> kEngines = {"postgres", "mariadb", "mysql"};

int count_of(const ConformReport& r, ConformVerdict v) { return r.counts[static_cast<std::size_t>(v)]; }

// A record that says something else than the server did, at one step.
void falsify(RecordedOutcome& o, int step, int last) {
  if (!o.error.empty()) {
    o.error = o.error == "CONN_LOST" ? "40001" : "CONN_LOST";
  } else if (o.result.is_number()) {
    o.result = o.result.get<std::int64_t>() + 1;
  } else if (o.result.is_array() && !o.result.empty()) {
    o.result.erase(o.result.begin());
  } else if (o.result.is_array()) {
    o.result.push_back(Json::array({"a row that was not there"}));
  } else if (step < last) {
    o.until = o.until == step ? last : step;
  } else {
    o.result = o.result == "OK" ? "ROLLBACK" : "OK";
  }
}

}  // namespace

TEST_CASE("no recorded outcome contradicts the model") {
  for (const std::string& engine : kEngines) {
    CAPTURE(engine);
    const ConformReport report = conform_files(files_of(engine), {});
    CHECK(report.results.size() > 200);
    CHECK(report.mistakes.empty());
    CHECK_MESSAGE(count_of(report, ConformVerdict::Mismatch) == 0, to_text(report, {}));
    CHECK(count_of(report, ConformVerdict::Unsupported) * 10 <= static_cast<int>(report.results.size()));
    std::map<std::string, std::pair<int, int>> topics;  // agree, all
    for (const ConformResult& r : report.results) {
      topics[r.vector.topic].first += r.verdict == ConformVerdict::Agree ? 1 : 0;
      ++topics[r.vector.topic].second;
      CHECK((r.verdict == ConformVerdict::Unsupported) == !r.reason.empty());
    }
    for (const char* topic : {"unique-wait", "on-conflict", "innodb-upsert", "cas", "dedup-result", "abort-savepoint"}) {
      CAPTURE(topic);
      const auto [agree, all] = topics[topic];
      CHECK(agree * 10 >= all * 9);
    }
  }
}

TEST_CASE("generated interleavings that once differed agree") {
  for (const std::string engine : {"postgres", "mariadb"}) {
    CAPTURE(engine);
    const ConformReport report = conform_files(files_of("generated/" + engine), {});
    CHECK(report.results.size() > 20);
    CHECK_MESSAGE(count_of(report, ConformVerdict::Agree) == static_cast<int>(report.results.size()), to_text(report, {}));
  }
}

// At SERIALIZABLE a failure can rest on the server's plan and pages. The record is among what the model explores, and no false
// one is.
TEST_CASE("generated interleavings where the server's plan decides are allowed, and false ones are not") {
  const std::vector<std::string> files = files_of("generated/postgres_choices");
  CHECK(files.size() > 5);
  for (const std::string& file : files) {
    CAPTURE(file);
    const Vector truth = read_vector(file).value();
    CHECK(conform(truth).verdict == ConformVerdict::Allowed);
    const std::size_t steps = truth.recordings.front().steps.size();
    for (std::size_t step = 0; step < steps; ++step) {
      CAPTURE(step);
      Vector vector = truth;
      falsify(vector.recordings.front().outcomes[step], static_cast<int>(step), static_cast<int>(steps) - 1);
      CHECK(conform(vector).verdict == ConformVerdict::Mismatch);
    }
  }
}

TEST_CASE("every outcome that was seen where the scheduler decides can be reached") {
  const ConformReport report = conform_files(files_of("nondeterministic"), {});
  CHECK(report.results.size() > 30);
  CHECK_MESSAGE(count_of(report, ConformVerdict::Allowed) == static_cast<int>(report.results.size()), to_text(report, {}));
}

TEST_CASE("a false outcome of one step is a mismatch where the true one agrees") {
  std::size_t turn = 0;
  for (const std::string& engine : kEngines) {
    int judged = 0;
    for (const std::string& file : files_of(engine)) {
      CAPTURE(file);
      Vector vector = read_vector(file).value();
      if (conform(vector).verdict != ConformVerdict::Agree) continue;
      Recording& recording = vector.recordings.front();
      const std::size_t step = turn++ % recording.steps.size();
      CAPTURE(step);
      falsify(recording.outcomes[step], static_cast<int>(step), static_cast<int>(recording.steps.size()) - 1);
      const ConformResult result = conform(vector);
      CHECK(result.verdict == ConformVerdict::Mismatch);
      REQUIRE(!result.recordings.front().divergences.empty());
      CHECK(result.recordings.front().divergences.front().step <= static_cast<int>(recording.steps.size()));
      ++judged;
    }
    CHECK(judged > 200);
  }
}

TEST_CASE("false contents at the end are a mismatch") {
  int judged = 0;
  for (const std::string& file : files_of("postgres")) {
    CAPTURE(file);
    Vector vector = read_vector(file).value();
    Json& tables = vector.recordings.front().tables;
    if (tables.empty() || conform(vector).verdict != ConformVerdict::Agree) continue;
    Json& rows = tables.begin().value();
    if (rows.empty()) continue;
    rows.erase(rows.begin());
    CHECK(conform(vector).verdict == ConformVerdict::Mismatch);
    ++judged;
  }
  CHECK(judged > 100);
}

TEST_CASE("the same bytes with any number of threads") {
  std::vector<std::string> files = files_of("postgres");
  files.resize(60);
  const ConformReport one = conform_files(files, {"", 1});
  const ConformReport four = conform_files(files, {"", 4});
  CHECK(to_text(one, {true, false}) == to_text(four, {true, false}));
  CHECK(to_json(one) == to_json(four));
}

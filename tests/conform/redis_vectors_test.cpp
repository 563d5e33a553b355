// Recorded cases of Redis against the model, the same with a false record, and mistakes in such files.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "reports/conform_report.hpp"
#include "sim/conform/redis_vector.hpp"

using namespace oncecheck;

namespace {

std::vector<std::string> redis_files(const std::string& folder = "redis") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ONCECHECK_SOURCE_DIR) + "/tests/vectors/" + folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

int count_of(const ConformReport& r, ConformVerdict v) { return r.counts[static_cast<std::size_t>(v)]; }

// A record that says something else than the server did.
void falsify(RecordedOutcome& o) {
  if (!o.error.empty()) {
    o.error = o.error == "ERR" ? "READONLY" : "ERR";
  } else if (o.result.is_number()) {
    o.result = o.result.get<std::int64_t>() + 1;
  } else if (o.result.is_object()) {
    o.result["between"] = Json::array({-5, -3});
  } else if (o.result.is_null()) {
    o.result = "a value that was not there";
  } else if (o.result.is_array()) {
    o.result.push_back(nullptr);
  } else {
    o.result = nullptr;
  }
}

nlohmann::json planted() {
  return nlohmann::json::parse(R"j({
    "name": "planted", "engine": "redis-7.0", "topic": "planted",
    "nodes": {"P": {"config": {}, "replicaof": null}, "R": {"config": {}, "replicaof": "P"}},
    "steps": [{"node": "P", "op": "command", "args": ["SET", "k", "v"]}, {"node": null, "op": "sleep", "ms": 5},
              {"node": "R", "op": "command", "args": ["GET", "k"]}],
    "outcome": [{"step": 0, "result": "OK", "blocked_until": null, "error": null},
                {"step": 1, "result": "OK", "blocked_until": null, "error": null},
                {"step": 2, "result": "v", "blocked_until": null, "error": null}],
    "final": {"P": {"role": "master", "keys": {"k": {"value": "v", "volatile": false}}},
              "R": {"role": "slave", "keys": {"k": {"value": "v", "volatile": false}}}}})j");
}

ConformVerdict verdict_of_planted(const nlohmann::json& v) { return conform(read_vector_text(v.dump(), "planted.json").value()).verdict; }

}  // namespace

TEST_CASE("Redis: no recorded outcome contradicts the model, and at most a tenth is unsupported, each for a reason") {
  const ConformReport report = conform_files(redis_files(), {});
  CHECK(report.results.size() >= 60);
  CHECK(report.mistakes.empty());
  CHECK(report.not_vectors == 0);
  CHECK_MESSAGE(count_of(report, ConformVerdict::Mismatch) == 0, to_text(report, {}));
  CHECK(count_of(report, ConformVerdict::Unsupported) * 10 <= static_cast<int>(report.results.size()));
  for (const ConformResult& r : report.results) CHECK((r.verdict == ConformVerdict::Unsupported) == !r.reason.empty());
}

TEST_CASE("Redis: generated cases that once differed agree") {
  const ConformReport report = conform_files(redis_files("generated/redis"), {});
  CHECK(report.results.size() >= 10);
  CHECK_MESSAGE(count_of(report, ConformVerdict::Agree) == static_cast<int>(report.results.size()), to_text(report, {}));
}

TEST_CASE("Redis: a false outcome of any command is a mismatch where the true one agrees") {
  int judged = 0;
  for (const std::string& file : redis_files()) {
    CAPTURE(file);
    const Vector vector = read_vector(file).value();
    if (conform(vector).verdict != ConformVerdict::Agree) continue;
    for (std::size_t i = 0; i < vector.redis->steps.size(); ++i) {
      if (vector.redis->steps[i].op != RedisVectorOp::Command && vector.redis->steps[i].op != RedisVectorOp::Info) continue;
      CAPTURE(i);
      Vector copy = vector;
      falsify(copy.recordings.front().outcomes[i]);
      CHECK(conform(copy).verdict == ConformVerdict::Mismatch);
      ++judged;
    }
  }
  CHECK(judged > 200);
}

TEST_CASE("Redis: false contents at the end are a mismatch") {
  int judged = 0;
  for (const std::string& file : redis_files()) {
    CAPTURE(file);
    const Vector vector = read_vector(file).value();
    if (conform(vector).verdict != ConformVerdict::Agree) continue;
    for (const auto& [node, found] : vector.recordings.front().tables.items()) {
      CAPTURE(node);
      Vector copy = vector;
      Json& at = copy.recordings.front().tables[node];
      if (at.is_string()) {
        at = Json{{"role", "master"}, {"keys", Json::object()}};
      } else {
        at["role"] = at["role"] == "master" ? "slave" : "master";
      }
      CHECK(conform(copy).verdict == ConformVerdict::Mismatch);
      ++judged;
    }
  }
  CHECK(judged > 60);
}

TEST_CASE("Redis: a step that is left out is noticed where it matters") {
  nlohmann::json v = planted();
  CHECK(verdict_of_planted(v) == ConformVerdict::Agree);
  v["steps"][1] = {{"node", "R"}, {"op", "partition"}, {"mode", "blackhole"}};
  CHECK(verdict_of_planted(v) == ConformVerdict::Agree);  // the write was through before
  std::swap(v["steps"][0], v["steps"][1]);
  CHECK(verdict_of_planted(v) == ConformVerdict::Mismatch);
}

TEST_CASE("Redis: mistakes in a vector are told with their place") {
  auto mistakes = [](auto change) {
    nlohmann::json v = planted();
    change(v);
    try {
      read_vector_text(v.dump(), "planted.json");
    } catch (const ScenarioError& e) {
      std::string out;
      for (const Diagnostic& d : e.diagnostics()) out += d.text() + "\n";
      return out;
    }
    return std::string();
  };
  auto has = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  CHECK(mistakes([](auto&) {}).empty());
  has(mistakes([](auto& v) { v["steps"][0]["node"] = "Q"; }), "unknown node \"Q\" (at /steps/0/node)");
  has(mistakes([](auto& v) { v["steps"][0]["op"] = "explode"; }), "unknown operation \"explode\"");
  has(mistakes([](auto& v) { v["outcome"].erase(0); }), "expected an outcome for each of the 3 steps");
  has(mistakes([](auto& v) { v["nodes"] = nlohmann::json::object(); }), "expected an object of 1 to 3 nodes");
  has(mistakes([](auto& v) { v["steps"][0]["args"] = nlohmann::json::array(); }), "the words of a command");
  has(mistakes([](auto& v) { v.erase("final"); }), "expected a member \"final\"");
}

TEST_CASE("Redis: what the model lacks is unsupported, by its name") {
  nlohmann::json v = planted();
  v["steps"][0]["args"] = {"HSET", "h", "f", "1"};
  const ConformResult r = conform(read_vector_text(v.dump(), "planted.json").value());
  CHECK(r.verdict == ConformVerdict::Unsupported);
  CHECK(r.reason.find("the Redis command HSET is not modelled") != std::string::npos);
}

// Vectors written by hand, short: a step and what came of it stand side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/conform/conform.hpp"

namespace oncecheck::testing {

inline constexpr int kAtOnce = -1;

struct Did {
  nlohmann::json step;
  nlohmann::json result;
  int until = kAtOnce;  // the step after which it returned
};

inline nlohmann::json sql(const std::string& session, const std::string& text) {
  return {{"session", session}, {"sql", text}};
}
inline nlohmann::json op(const std::string& name, const std::string& target) {
  return {{"session", nullptr}, {"op", name}, {"target", target}};
}
inline nlohmann::json sleep_ms(int ms) { return {{"session", nullptr}, {"op", "sleep"}, {"ms", ms}}; }
inline nlohmann::json error(const std::string& code) { return {{"error", code}}; }

// `setup` creates the table k (id, v) unless it is given.
inline nlohmann::json vector_json(const std::vector<Did>& did, const nlohmann::json& final,
                                  const std::string& engine = "postgres-15",
                                  const std::string& isolation = "READ COMMITTED",
                                  const nlohmann::json& setup = {
                                      "CREATE TABLE k (id varchar(64) PRIMARY KEY, v varchar(64))"}) {
  nlohmann::json v;
  v["name"] = "planted";
  v["source"] = "own";
  v["engine"] = engine;
  v["server_version"] = "0";
  v["topic"] = "planted";
  v["isolation"] = isolation;
  v["setup"] = setup;
  v["sessions"] = {"A", "B", "C"};
  v["steps"] = nlohmann::json::array();
  v["outcome"] = nlohmann::json::array();
  for (std::size_t i = 0; i < did.size(); ++i) {
    v["steps"].push_back(did[i].step);
    const bool failed = did[i].result.is_object();
    nlohmann::json o;
    o["step"] = i;
    o["result"] = failed ? nlohmann::json() : did[i].result;
    o["blocked_until"] = did[i].until == kAtOnce ? nlohmann::json() : nlohmann::json(did[i].until);
    o["error"] = failed ? did[i].result["error"] : nlohmann::json();
    v["outcome"].push_back(o);
  }
  v["final"] = final;
  return v;
}

inline ConformResult conform_json(const nlohmann::json& v) {
  std::optional<Vector> vector = read_vector_text(v.dump(), "planted.json");
  return conform(std::move(vector.value()));
}

inline ConformVerdict verdict_of(const nlohmann::json& v) { return conform_json(v).verdict; }

}  // namespace oncecheck::testing

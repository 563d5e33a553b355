// A recorded case: interleaved SQL sessions, or commands at nodes of Redis, with the outcome that a real server gave. One JSON file each; docs/vectors.md
// describes the format.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/program/diagnostic.hpp"
#include "model/world/layout.hpp"

namespace oncecheck {

using Json = nlohmann::json;

enum class VectorOp : std::uint8_t {
  Sql,
  Sleep,
  Terminate,   // the server ends the target's session
  Cancel,      // the server cancels the target's running statement
  DropClient,  // the target's client is gone without a word
  Reconnect,
  Pause,       // the target's server process gets no processor time, until Resume
  Resume,
  Redis,       // a step of a case of Redis: see Vector::redis; `sql` is its text
};

struct VectorStep {
  VectorOp op = VectorOp::Sql;
  int session = -1;  // who runs the SQL, or the target of the operation
  std::string sql;
  int milliseconds = 0;
  Origin at;
};

struct RecordedOutcome {
  Json result;        // list of rows, number of affected rows, "OK", "ROLLBACK", or null with an error
  int until = 0;      // the step after whose completion it returned; its own number when it returned at once
  std::string error;  // SQLSTATE, errno as text, "CONN_LOST"; "" for none
  std::string error_class;
  std::optional<bool> waited;  // Redis WAIT: until its time-out
};

struct RedisVector;

// One order of steps and what came of it. Vectors with several have an outcome that is up to the server's scheduler.
struct Recording {
  std::vector<VectorStep> steps;
  std::vector<RecordedOutcome> outcomes;  // one a step
  Json tables;  // name -> rows, after all sessions were closed; of Redis: node -> its role and keys
};

struct Vector {
  std::string file;
  std::string name;
  std::string engine_name;  // "postgres-15"
  std::string topic;
  Engine engine = Engine::Postgres;
  std::vector<std::string> sessions;
  std::vector<Isolation> isolation;  // by session
  bool found_rows = false;
  std::map<std::string, std::string> server_options;
  int step_ms = 300;                 // that passed with each step while a session was blocked
  std::vector<VectorStep> setup;     // Sql each, by an administrator
  std::vector<VectorStep> teardown;
  bool alternatives = false;         // each recording is one of the outcomes that were seen
  std::vector<Recording> recordings;
  std::shared_ptr<const RedisVector> redis;  // redis_vector.hpp; null for SQL
};

// Nothing when the file holds no vector (scenarios, other JSON). Throws ScenarioError on a file that
// cannot be read and on a vector with mistakes.
std::optional<Vector> read_vector(const std::string& file);
std::optional<Vector> read_vector_text(const std::string& text, const std::string& name);

const char* isolation_name(Isolation level);

}  // namespace oncecheck

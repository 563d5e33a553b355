// A compiled scenario: what `enabled` and `apply` (model/step/relation.hpp) interpret. Read-only once made; threads share it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/program/scenario.hpp"
#include "model/world/plan.hpp"
#include "model/world/provider.hpp"

namespace oncecheck {

enum class InstrKind : std::uint8_t {
  // Visible: one event each.
  Sql,     // index: statement
  Redis,   // index: command
  Call,    // index: call site; the request goes out, the task then rests at the Await that follows
  Await,   // index: call site; passive
  Reply,   // index: reply
  Pause,
  // Local: run along with the visible step before them.
  Branch,  // to `target` unless `expr` is true
  Jump,    // to `target`
  Set,     // cell `index` = expr
  Next,    // for_each: next row of queue `index`, or to `target`
  Raise,   // unhandled error: roll back, answer 500
  End,
};

struct Instr {
  InstrKind kind = InstrKind::End;
  int index = -1;
  int target = -1;
  ExprId expr = kNoExpr;
  int step = -1;  // Program::steps
};

inline constexpr int kErrorClasses = static_cast<int>(ErrorClass::Other) + 1;
using ErrorTargets = std::array<int, kErrorClasses>;  // by ErrorClass: where to go on

struct CallSite {
  int provider = 0;
  int operation = 0;  // or kLookup
  ExprId key = kNoExpr, amount = kNoExpr, identity = kNoExpr;
  bool has_timeout = false;
  int on_timeout = -1;                   // instruction
  std::array<int, 5> on_answer{};        // by Answer: instruction to go on with
  int status_cell = -1, id_cell = -1, count_cell = -1, found_cell = -1;
};

enum class Outcome : std::uint8_t { Ok, Failed, Accepted, Unknown };

struct ReplySpec {
  int status = 200;
  Outcome outcome = Outcome::Ok;
  bool continues = false;
  ExprId body = kNoExpr;  // shown, not stored
};

struct Queue {  // cells of a for_each
  int count_cell = -1;
  int first = -1;
  int rows = 0;
  std::vector<int> row_cells;  // where the columns of the current row go
};

struct StepInfo {  // what people see of a step
  std::string place;  // "on_request/2/then/0"
  std::string label;  // "as", or ""
  std::string text;   // one line: the SQL, the command, "call stripe.charge", ...
  Origin at;
};

struct Body {  // the code of a handler, a start-up program or a job
  int service = 0;
  TaskKind kind = TaskKind::Request;
  int job = -1;
  int entry = 0;  // instruction; -1: there is none
  std::vector<std::string> cells;  // names of the local cells
};

struct ServiceInfo {
  std::string name;
  int instances = 1;
  int request_body = -1;
  int start_body = -1;
  std::vector<int> job_bodies;
  std::vector<std::string> job_names;
  std::vector<int> request_tasks;  // slots
  std::vector<int> start_tasks;    // by instance; empty without on_start
  std::vector<int> job_tasks;      // by job
  bool pool = false;               // the slots are a worker pool of that size: further requests wait
};

struct RequestInfo {
  int client = 0;
  int service = 0;
  int operation = 0;
  std::vector<std::pair<int, CellId>> fields;  // (cell of the request body, value)
  int key_cell = -1;                           // cell that takes the key of the message; -1: not read
  int identity_cell = -1;
  CellId identity = kNullCell;
};

inline constexpr int kRetryTimeout = 1, kRetry5xx = 2, kRetryUnknown = 4, kRetryFailed = 8;

struct SenderInfo {
  int client = 0;
  int request = 0;
  int click = 0;
  int previous = -1;                // sender of the click before this one
  std::vector<int> needs_done;      // senders that must have finished first
  int retries = 0;
  int retry_on = kRetryTimeout | kRetry5xx;
  bool has_timeout = false;
  std::vector<CellId> keys;         // by attempt
};

enum class FaultKind : std::uint8_t {
  Crash, Deploy, LoseRequest, LoseResponse, DuplicateRequest, Timeout, Failover, Expire, ErrorAfterEffect, ErrorBeforeEffect,
  LoseConnection, RestartRedis, Partition, Evict,
};
inline constexpr int kFaultKinds = 14;
const char* fault_name(FaultKind kind);

enum class FaultTarget : std::uint8_t { Any, Service, Provider, Client, Redis, Database };

struct FaultBudget {
  FaultKind kind = FaultKind::Crash;
  FaultTarget target = FaultTarget::Any;
  int index = -1;
  int max = 0;
};

struct ProviderInfo {
  std::string name;
  std::vector<std::string> operations;
  std::vector<KeyPolicy> policies;
  std::vector<bool> may_decline;
  std::vector<CellId> effect_ids;  // by ledger entry: the id that the provider gives it
};

struct Invariant {
  InvariantSpec spec;
  QueryId query = -1;       // AlwaysEmpty, FinallyEmpty
  ExprId step_expr = kNoExpr;  // NeverStep; OLD is source 0, NEW source 1
  int table = -1;           // NeverStep
  std::vector<std::pair<int, int>> reads;  // (offset, bytes) of the world that it depends on
  std::optional<Expectation> expected;
};

struct Program {
  Scenario scenario;
  Plan plan;
  std::vector<Instr> code;
  std::vector<CallSite> calls;
  std::vector<ReplySpec> replies;  // 0: the answer to an unhandled error (500)
  std::vector<ErrorTargets> sql_errors;    // by statement
  std::vector<ErrorTargets> redis_errors;  // by command
  std::vector<Queue> queues;
  std::vector<StepInfo> steps;
  std::vector<Body> bodies;
  std::vector<ServiceInfo> services;
  std::vector<std::string> clients;
  std::vector<RequestInfo> requests;
  std::vector<SenderInfo> senders;
  std::vector<ProviderInfo> providers;
  std::vector<FaultBudget> faults;
  std::vector<Invariant> invariants;
  std::vector<std::vector<int>> dead_cells;  // by instruction: cells nobody reads again before they are set
  std::vector<std::uint8_t> initial;         // the first world, canonical
  bool clear_dead = true;                    // reduction: dead-variable clearing
  // Rows stay where they were stored instead of being sorted: what comes without ORDER BY then comes as from a fresh heap.
  bool keep_row_order = false;
};

// A named promise as the library (invariants/library.hpp) gives it to the compiler. `%LEDGER%` and `%IDENTITY%` in the SQL
// stand for the options of ledger-matches-provider.
struct Promise {
  const char* name;
  const char* alias;  // "" for none
  InvariantKind kind;
  const char* sql;
  const char* meaning;     // in plain words
  const char* not_covered; // what it does not say
};

struct CompileOptions {
  const std::vector<Promise>* promises = nullptr;  // null: the scenario can name none
  bool clear_dead = true;
  // For a caller who finds in Context::missing what the domain lacks, and compiles again with it.
  bool values_grow = false;  // v = v || 'x' is accepted, and nobody foresees what || makes
  std::vector<std::string> extra_texts;
  std::vector<std::int64_t> extra_ints;
  // What the server itself refuses (MySQL 1093) compiles to a statement that fails, instead of being a mistake.
  bool run_refused = false;
};

// Throws ScenarioError with every mistake found.
std::unique_ptr<Program> compile(const Scenario& scenario, const CompileOptions& options = {});

}  // namespace oncecheck

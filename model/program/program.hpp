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
  Publish, // index: publication; the message is in the queue
  Await,   // index: call site; passive
  Reply,   // index: reply
  Pause,
  // Local: run along with the visible step before them.
  Branch,  // to `target` unless `expr` is true
  Jump,    // to `target`
  Set,     // cell `index` = expr
  Next,    // for_each: next row of queue `index`, or to `target`
  Mark,    // branch `branch` is taken
  Raise,   // unhandled error: roll back, answer 500
  End,
};

struct Instr {
  InstrKind kind = InstrKind::End;
  int index = -1;
  int target = -1;
  ExprId expr = kNoExpr;
  int step = -1;  // Program::steps
  int branch = -1;  // Program::branches; of Branch, the one where `expr` is true, its counterpart follows; of Next, a row
};

inline constexpr int kErrorClasses = static_cast<int>(ErrorClass::Other) + 1;
using ErrorTargets = std::array<int, kErrorClasses>;  // by ErrorClass: where to go on

struct CallSite {
  int provider = 0;
  int operation = 0;  // or kLookup
  int route = -1;     // a call of another service of the scenario; provider and operation then mean nothing
  ExprId key = kNoExpr, amount = kNoExpr, identity = kNoExpr, target = kNoExpr;
  std::vector<ExprId> payload;           // of the route, by payload cell; kNoExpr: NULL
  bool has_timeout = false;
  int on_timeout = -1;                   // instruction
  std::array<int, kAnswers> on_answer{}; // by Answer: instruction to go on with
  int status_cell = -1, id_cell = -1, count_cell = -1, found_cell = -1, state_cell = -1, body_cell = -1;
};

struct Publication {  // a message into a queue
  int route = 0;
  ExprId key = kNoExpr;
  std::vector<ExprId> payload;  // by payload cell
  int on_error = -1;            // instruction
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
  std::string service;
};

struct BranchInfo {  // a way that a program can take: one side of an `if`, the body of a loop, what follows on an error
  std::string place;    // "on_request/2/then"; of an `if` without else still "on_request/2/else"
  std::string text;     // what decides: "if :claim.count = 0"
  std::string service;
};

struct Body {  // the code of a handler, a start-up program or a job
  int service = 0;
  TaskKind kind = TaskKind::Request;
  int job = -1;
  std::string endpoint;  // of a handler: its name, "" for on_request
  bool next_version = false;
  int entry = 0;  // instruction; -1: there is none
  std::vector<std::string> cells;  // names of the local cells
};

struct ServiceInfo {
  std::string name;
  int instances = 1;
  std::vector<std::string> endpoints;  // "" (on_request) first
  // By version (0; 1 when the scenario has a next one), then by endpoint, or by job; -1: that version has none.
  std::array<std::vector<int>, 2> request_bodies;
  std::array<int, 2> start_body{-1, -1};
  std::array<std::vector<int>, 2> job_bodies;
  bool has_next = false;           // a deploy brings a second code version
  bool drains = false;             // a deploy lets running work end
  bool drain_ends = false;         // but not for longer than a time-out
  bool process_per_request = false;  // a crash stops one request or job, not all of an instance
  std::vector<std::string> job_names;
  std::vector<int> request_tasks;  // slots
  std::vector<int> start_tasks;    // by instance; empty without on_start
  std::vector<std::vector<int>> job_tasks;  // by job: as many as may run at once
  bool pool = false;               // the slots are a worker pool of that size: further requests wait
};

// A way that messages take to an endpoint of a service: each request of a client, each step that calls a service or
// publishes, each webhook.
enum class RouteKind : std::uint8_t { Client, Call, Webhook, Queue };

struct FieldCell {  // where a field of a message goes
  int cell = -1;             // local cell of the endpoint
  int payload = -1;          // payload cell of the message, or
  CellId value = kNullCell;  // what every message of this route has
};

struct RouteInfo {
  RouteKind kind = RouteKind::Client;
  int client = -1;     // Client
  int service = 0;
  int endpoint = 0;    // of the service
  int operation = -1;  // Client: which byte records what the client was told
  int provider = -1;   // Webhook
  int queue = -1;      // Queue
  std::vector<std::string> payload;  // names of the payload cells
  // By version: the cells that take the key and the fields.
  std::array<int, 2> key_cell{-1, -1};
  std::array<std::vector<FieldCell>, 2> fields;
  CellId identity = kNullCell;  // Client
  int deliveries = 0;  // at least once: how often at most (kNoLimit: without end); 0: at most once
};

inline constexpr int kRetryTimeout = 1, kRetry5xx = 2, kRetryUnknown = 4, kRetryFailed = 8;

inline constexpr int kEndlessPolls = 15;  // what polls_left (layout.hpp) can hold

struct SenderInfo {
  int client = 0;
  int route = 0;
  int poll_route = -1;
  int polls = 0;                    // how often it asks after 202; kEndlessPolls: without end
  int click = 0;
  int previous = -1;                // sender of the click before this one
  std::vector<int> needs_done;      // senders that must have finished first
  int retries = 0;                  // kUnlimited: without end
  int retry_on = kRetryTimeout | kRetry5xx;
  bool has_timeout = false;
  bool instant = false;             // what it sends is taken at once, and so is the answer
  std::vector<CellId> keys;         // by attempt
  std::vector<std::int64_t> backoff;  // by retry: how long it waits before, in milliseconds; empty: not said
};

enum class FaultKind : std::uint8_t {
  Crash, Deploy, LoseRequest, LoseResponse, DuplicateRequest, Timeout, Failover, Expire, ErrorAfterEffect, ErrorBeforeEffect,
  LoseConnection, OkWithoutEffect, Redeliver, RollingDeploy, ClockJump, RestartRedis, Partition, Evict,
  LoseMessage,
};
inline constexpr int kFaultKinds = 19;
const char* fault_name(FaultKind kind);

// Network: index is that of NetworkPlan::cuts.
enum class FaultTarget : std::uint8_t { Any, Service, Provider, Client, Redis, Database, Queue, Network };

struct FaultBudget {
  FaultKind kind = FaultKind::Crash;
  FaultTarget target = FaultTarget::Any;
  int index = -1;
  int max = 0;
  bool endless = false;  // it costs nothing: it may happen again and again, also once other faults have stopped
  bool only = false;     // "otherwise": "never": the timers that it pays for never run out for free
};

inline constexpr std::uint32_t bit_of(FaultKind kind) { return 1u << static_cast<int>(kind); }

// Whether a budget of `of` pays for faults of `kind`.
inline bool pays_for(FaultKind of, FaultKind kind) {
  return of == kind || (of == FaultKind::LoseMessage && (kind == FaultKind::LoseRequest || kind == FaultKind::LoseResponse));
}

inline constexpr const char* kEventId = "event_id";  // field of a webhook: the same for an event however often it is sent

// Who is cut off from whom in a partition between named groups. Participants whom every cut treats alike are in one zone;
// zone 0 is in no group of any cut and sees everybody.
struct NetworkPlan {
  std::vector<std::string> cuts;  // by cut: its groups in words
  int zones = 1;
  std::vector<std::uint8_t> separated_by;  // [zone * zones + other zone]: the cuts between them, a bit each
  std::vector<std::vector<std::uint8_t>> instances;  // zone by service and instance
  std::vector<std::uint8_t> clients, databases, redis, providers, queues;  // zones
};
inline constexpr int kMostCuts = 8;  // bits of a byte

struct WebhookInfo {
  int route = 0;
  bool on_success = true, on_decline = true, on_undo = true;
};

enum class ObjectWrite : std::uint8_t { No, Put, PutNew, Delete };

struct OperationInfo {
  std::string name;
  ObjectWrite object = ObjectWrite::No;  // of an object store
  KeyPolicy key = KeyPolicy::None;
  bool may_decline = false;
  bool stores_everything = false;   // the first answer to a key is the answer for ever, also when it was 402 or 500
  bool refuses_other_parameters = false;
  bool conflicts_in_flight = false; // 409 while a request with the same key is being carried out
  bool forgets = false;             // a key runs out
  bool key_records = false;         // the provider's memory of keys is used, not only its ledger
  int undoes = -1;                  // takes back an effect of this operation
  int cancels = -1;                 // refuses a key of this operation for good
  std::vector<WebhookInfo> webhooks;
};

struct ProviderInfo {
  std::string name;
  std::vector<OperationInfo> operations;
  bool lookup_lags = false;        // look-ups, or for an object store lists, see an effect later
  bool lookup_instant = false;     // a look-up is one event
  bool holds_objects = false;
  std::vector<CellId> effect_ids;  // by ledger entry: the id that the provider gives it
  CellId lost_id = kNullCell;      // the id of an effect that was answered 200 and never made
  std::array<CellId, kAnswers> states{};  // by Answer: what a look-up says
  std::array<CellId, 3> webhook_events{}; // succeeded, declined, undone
};

struct QueueInfo {
  std::string name;
  int service = 0, endpoint = 0;
  int receives = kNoLimit;  // then it is a dead letter
};

struct Invariant {
  InvariantSpec spec;
  QueryId query = -1;       // AlwaysEmpty, FinallyEmpty, EventuallyEmpty
  std::vector<QueryId> premises;  // find a row, each in some state, where there is something to judge (premise.hpp)
  // NeverStep, and promises of rest that have one too: no change of a row of `table` may make it true. OLD is source 0, NEW
  // source 1, ACTOR (locals of the program that made the change) source 2.
  ExprId step_expr = kNoExpr;
  int table = -1;
  std::vector<std::vector<int>> actor_cells;  // by column of ACTOR, by body: local cell, or -1; empty: it is not named
  std::vector<std::pair<int, int>> reads;  // (offset, bytes) of the world that it depends on
  std::optional<Expectation> expected;
};

struct MustReach {  // a mark of the scenario: something has to happen on some schedule
  std::string name;
  MustReachKind kind = MustReachKind::Happens;
  Occurrence occurrence{};                 // Happens
  QueryId query = -1;                      // Finds
  std::vector<std::pair<int, int>> reads;  // Finds: (offset, bytes) of the world
  std::vector<int> steps, branches;        // Step: any of them
  std::vector<int> faults;                 // Fault: any of them
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
  std::vector<BranchInfo> branches;
  std::vector<MustReach> must_reach;
  std::vector<Body> bodies;
  std::vector<ServiceInfo> services;
  std::vector<std::string> clients;
  std::vector<RouteInfo> routes;  // those of clients first, each followed by the route on which it polls, if it does
  bool calls_services = false;    // some step calls a service
  int operations = 0;             // of clients: what Layout::told has a byte for
  std::vector<Publication> publications;
  std::vector<QueueInfo> message_queues;
  std::vector<SenderInfo> senders;
  std::vector<int> instant_senders;  // SenderInfo::instant
  std::vector<ProviderInfo> providers;
  std::vector<FaultBudget> faults;
  std::uint32_t paid_kinds = 0;  // bit_of: the kinds of faults that some budget pays for
  bool has_innodb = false, has_pools = false;
  NetworkPlan network;
  std::vector<Invariant> invariants;
  std::vector<std::vector<int>> kept_cells;  // by body: cells that a promise looks at, never dead
  std::vector<std::vector<int>> dead_cells;  // by instruction: cells nobody reads again before they are set
  std::vector<std::uint8_t> initial;         // the first world, canonical
  bool clear_dead = true;                    // reduction: dead-variable clearing
  // Rows stay where they were stored instead of being sorted: what comes without ORDER BY then comes as from a fresh heap.
  bool keep_row_order = false;
};

// A named promise as the library (invariants/library.hpp) gives it to the compiler. Its SQL is a template over the parameters
// of its signature (promise_params.hpp), see promise_template.hpp.
struct Promise {
  const char* name;
  const char* alias;  // "" for none
  InvariantKind kind;
  const char* sql;         // a query; NeverStep: an expression over OLD, NEW and ACTOR, which are rows of `table`
  const char* meaning;     // in plain words
  const char* not_covered; // what it does not say
  const char* table = "";  // NeverStep, or with `step`: the parameter that names the table
  const char* step = "";   // beside a query: what no step may do either
  // Queries that find a row where there is something to judge, with ';' between them; "": as for a promise of one's own
  // (premise.hpp).
  const char* premise = "";
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

// One scenario, one variant, as data: what the file says after merge patches and parameters, with each thing's place in the
// file. No SQL is parsed and no name is resolved here (compiler.hpp does that); shapes, types and bounds are checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/program/diagnostic.hpp"

namespace oncecheck {

// Ordered by place in the file, so that everything computed from it is deterministic.
template <class T>
using Named = std::vector<std::pair<std::string, T>>;

struct Text {  // a string of the file and where it stands (SQL, an expression, a name)
  std::string value;
  Origin at;
};

// A JSON scalar of the scenario: request field, call argument, initial value.
struct Scalar {
  enum class Kind { Null, Bool, Int, String } kind = Kind::Null;
  bool boolean = false;
  std::int64_t integer = 0;
  std::string string;
  Origin at;
};

enum class StepKind { Sql, Redis, Call, Publish, If, While, ForEach, Set, Reply, Stop, Pause };

struct Step {
  StepKind kind = StepKind::Sql;
  Origin at;
  std::string label;  // "as": a name for traces, or ""

  Text text;         // sql text | redis command | call target "provider.operation" or "service.endpoint" | queue to publish to |
                     // if/while condition | for_each query
  std::string on;    // sql/redis/for_each: name of the database or redis; "" = the only one
  bool on_replica = false;  // sql: read from the database's replica
  std::string into;  // name of the local that receives the result; "" = dropped
  Named<Text> args;  // call, publish: its arguments (key, amount, identity, ...) as SQL expressions; set: the assignments
  std::optional<Text> timeout;  // call: "30s"; absent = waits for ever

  std::vector<Step> then;  // if: then | while, for_each: body
  std::vector<Step> otherwise;  // if: else
  bool has_on_timeout = false;
  std::vector<Step> on_timeout;  // call
  int resends = 0;               // call: how often the client library sends it again by itself after a time-out
  std::map<std::string, std::vector<Step>> on_error;  // error class ("unique_violation", "any", ...) -> steps; call: "any" or a status class

  int status = 0;                     // reply
  std::optional<Text> body;           // reply: an expression
  std::optional<std::string> means;   // reply: "ok" | "failed" | "unknown", overrides what the status says
  bool continues = false;             // reply: the handler goes on after it
};

struct EffectTable {  // rows of this table are effects to be counted
  Text table;
  std::string identity;  // column that holds the identity or the key; "" = first column
};

struct Database {
  Origin at;
  Text engine;     // "postgres" | "mysql" | "mariadb"
  Text isolation;  // "read committed" (default for postgres) | ...
  std::vector<Text> schema;  // CREATE TABLE / INDEX and INSERT statements
  std::vector<EffectTable> effects;
  int replicas = 0;          // 0 or 1
  bool synchronous = false;  // "replication": "synchronous"
  int pooled = 0;            // "pool": so many connections, shared by all in transaction mode; 0: everybody has its own
  std::map<std::string, int> row_bounds;  // table -> most row versions at once
};

struct Redis {
  Origin at;
  int replicas = 0;                  // 0 to 2
  int min_replicas = 0;              // min-replicas-to-write
  std::string persistence = "none";  // "none" | "everysec" | "always"
  std::string eviction = "none";     // "none" | "volatile" | "allkeys"
  bool clocks_differ = false;
  bool resends = false;              // the client library sends a command again when its connection breaks
  // A recorded case: every node is followed whatever the scenario asks for.
  bool recorded = false;
  bool serves_stale = true;          // replica-serve-stale-data
};

struct Webhook {  // what the provider sends to a service when something has happened
  Origin at;
  Text to;          // "service" or "service.endpoint"
  bool on_success = true, on_decline = true, on_undo = true;
  int retries = 0;  // sent again after anything but 2xx
};

struct Operation {
  Origin at;
  std::string idempotency_key = "none";  // "honoured" | "ignored" | "sometimes" | "none"
  bool may_decline = false;     // it may also answer 402 without an effect
  bool stores_everything = false;         // "stores": "everything"
  bool refuses_other_parameters = false;  // "other_parameters": "refused"
  bool conflicts_in_flight = false;       // "in_flight": "conflict"
  std::optional<Text> forgets_after;      // "24h"; absent: it remembers keys for ever
  std::optional<Text> undoes, cancels;    // names of operations
  std::string object;                     // of an object store: "put" | "put_new" | "delete"; "" otherwise
  std::vector<Webhook> webhooks;
};

struct Provider {
  Origin at;
  std::string preset;  // "" for none
  Named<Operation> operations;
  std::string lookup;  // "" (none) | "consistent" | "lagging" | "instant"
  std::string list;    // of an object store: "consistent" | "lagging"
};

struct MessageQueue {
  Origin at;
  Text to;           // "service" or "service.endpoint"
  Text visibility;   // how long a message is hidden while somebody works on it
  int receives = 0;  // how often it is delivered before it is a dead letter; 0: without end
};

struct Job {
  Origin at;
  Text every;
  int copies = 1;  // how many may run at once
  std::vector<Step> steps;
};

struct Endpoint {
  Origin at;
  std::vector<Step> steps;
};

struct ServiceCode {  // what one version of a service does
  std::vector<Step> on_request;
  Named<Endpoint> endpoints;
  std::vector<Step> on_start;
  Named<Job> jobs;
};

struct Service : ServiceCode {
  Origin at;
  int instances = 1;
  std::optional<ServiceCode> next;  // a deploy brings it
  bool drains = false;              // "drain"
  std::optional<Text> drain_time;   // "drain": "30s"
  bool process_per_request = false;  // "processes": "per_request"
};

enum class FreshKey { No, PerClick, PerAttempt };

inline constexpr int kUnlimited = 255;  // of retries and polls: without end

struct Poll {  // after 202: ask again, with the same key and fields
  Text to;
  int times = 0;            // or kUnlimited
};

struct Request {
  Origin at;
  Text to;                  // "service" or "service.endpoint"
  std::string identity;     // what operation this is, for judging; default: the key, else "CLIENT/INDEX"
  FreshKey fresh_key = FreshKey::No;  // "key": {"fresh": "per_click" | "per_attempt"}
  std::vector<Text> key_from;         // "key": {"from": [...]}: fields, "click", "attempt"
  Named<Scalar> fields;     // key, amount, ... every field that handlers may name; "key" is absent when it is fresh
};

struct Backoff {  // how long a client waits before it sends again
  Text initial;              // before the first retry
  int factor = 1;            // what each further wait is multiplied with
  std::optional<Text> max;   // the longest wait
};

struct Client {
  Origin at;
  std::vector<Request> requests;  // one after the other
  int clicks = 1;                 // copies of each request that the user sends, at any time after the first
  int retries = 0;                // per click, or kUnlimited
  std::vector<std::string> retry_on;  // "timeout", "5xx", "unknown" (202, 409, 429), "failed" (4xx); default: timeout, 5xx
  std::optional<Text> timeout;    // absent: waits for ever
  std::optional<Backoff> backoff;
  std::optional<Poll> poll;
  bool instant = false;           // "network": "instant"
};

struct Fault {
  Origin at;
  std::string name;  // fault_name (program.hpp)
  int max = 0;       // 0..9
  bool endless = false;  // "heals": false; max is then 1
  bool only = false;     // "otherwise": "never"
  std::string target;  // name of a service, provider, client, redis, database or queue; "" = anywhere
  std::vector<std::vector<Text>> groups;  // partition: who is cut off from whom; empty: not between named groups
};

// EventuallyEmpty and Answered are judged once faults have stopped, under fairness (model/check/liveness.hpp).
enum class InvariantKind { Builtin, AlwaysEmpty, FinallyEmpty, NeverStep, EventuallyEmpty, Answered };
inline bool is_liveness(InvariantKind kind) { return kind == InvariantKind::EventuallyEmpty || kind == InvariantKind::Answered; }

struct InvariantSpec {
  Origin at;
  InvariantKind kind = InvariantKind::Builtin;
  std::string name;      // the name to report
  std::string builtin;   // Builtin: canonical library name
  Text sql;              // query, or the expression over OLD and NEW
  std::string table;     // never_step: "db.table" or "table"
  std::optional<Text> premise;  // a query: what there must be for the promise to say anything
  std::map<std::string, std::vector<Scalar>> options;  // builtin: its parameters; of pairs all first and second values in turn
};

enum class Expectation { Holds, Violated };

// What the model can see happen, by name; see model/step/occurrence.hpp.
enum class Occurrence : std::uint8_t {
  DuplicateInFlight,
  RetryInFlight,
  AcknowledgedWriteLost,
  AnswerLostAfterEffect,
  LateEffect,
  CrashInFlight,
  CrashAfterEffect,
  TimerPassesInFlight,
  Deadlock,
};
inline constexpr int kOccurrences = static_cast<int>(Occurrence::Deadlock) + 1;
const char* occurrence_name(Occurrence o);   // "duplicate-in-flight"
const char* occurrence_words(Occurrence o);  // a sentence

enum class MustReachKind { Happens, Finds, Step, Fault };

struct MustReachSpec {
  Origin at;
  std::string name;  // the name to report
  MustReachKind kind = MustReachKind::Happens;
  Occurrence occurrence{};  // Happens
  Text what;                // Finds: the query; Step: a place or a label; Fault: its name
};

struct Unreached {  // "unreached": what is known never to be reached, and why that is right
  Origin at;
  std::string what;  // "checkout on_request/1/then", "fault expire", or the name of a promise
  std::string reason;
};

struct Bounds {  // capacities; a run that fills one is inconclusive
  int rows = 6;        // row versions a table, old ones that somebody may still read included
  int messages = 6;    // requests in flight to services, and to each provider
  int effects = 4;     // entries of a provider's ledger
  int fresh = 6;       // fresh values (UUIDs, tokens) alive at once
  int deadlines = 4;   // running deadlines at once
  int int_min = -4;    // integers that a cell can hold besides the literals of the scenario
  int int_max = 40;
  int redis_log = 8;   // unreplicated writes
  int tasks = 0;       // handlers running at once; 0 = as many as requests can exist
};

struct Scenario {
  std::string file;
  std::string variant;  // "" when the file has no variants
  std::string title;
  std::string story;    // of the file
  std::string lesson;   // of the variant ("story" in the patch)
  Named<Database> databases;
  Named<Redis> redis;
  Named<Provider> providers;
  Named<MessageQueue> queues;
  Named<Service> services;
  Named<Client> clients;
  std::vector<Fault> faults;
  std::vector<InvariantSpec> invariants;
  std::vector<MustReachSpec> must_reach;
  std::vector<Unreached> unreached;
  Bounds bounds;
  bool has_expect = false;
  std::optional<Expectation> expect_all;              // "holds": every one; "violated": at least one
  std::map<std::string, Expectation> expect;          // by invariant name; unlisted ones must hold
  std::map<std::string, std::uint64_t> expect_counts; // optional "states", "transitions", "depth"
};

}  // namespace oncecheck

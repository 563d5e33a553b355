// Everything fixed about a scenario that the parts need to interpret a world: domain, layout, compiled SQL and Redis
// commands. The compiler makes it; nothing changes it afterwards, and all threads share it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/world/domain.hpp"
#include "model/world/expr.hpp"
#include "model/world/layout.hpp"
#include "model/world/redis_plan.hpp"

namespace oncecheck {

// Error classes that handlers branch on (`on_error`).
enum class ErrorClass : std::uint8_t {
  None,
  UniqueViolation,
  NotNullViolation,
  ForeignKeyViolation,
  CheckViolation,
  SerializationFailure,
  Deadlock,
  LockTimeout,
  LockNotAvailable,     // NOWAIT
  StatementTimeout,     // cancelled: statement_timeout, pg_cancel_backend, KILL QUERY
  InFailedTransaction,  // PostgreSQL 25P02
  ConnectionLost,
  CardinalityViolation, // PostgreSQL 21000: a row is updated twice by one ON CONFLICT, a scalar subquery gives two rows
  NoSuchSavepoint,
  NoActiveTransaction,  // PostgreSQL 25P01: SAVEPOINT outside of a transaction block
  ReadOnlyTransaction,  // PostgreSQL 25006
  SyntaxError,          // 42601, 1064: this engine does not know the spelling
  UpdateTableUsed,      // MySQL 1093: a subquery reads the table that is written
  ColumnCount,          // 42601, 1136: INSERT has another number of values than of columns
  ColumnTwice,          // 42701, 1110: INSERT names a column twice
  DivisionByZero,       // 22012, 1365
  OutOfRange,           // 22003, 1264, 1690: a number does not fit the column or the type
  TextTooLong,          // 22001, 1406
  GeneratedAlways,      // PostgreSQL 428C9
  NegativeLimit,        // PostgreSQL 2201W, 2201X
  NoReplicas,           // Redis NOREPLICAS: min-replicas-to-write
  OutOfMemory,          // Redis OOM: maxmemory, and nothing to evict
  NotAnInteger,         // Redis ERR: INCR of something else
  ReadOnlyReplica,      // Redis READONLY
  ExecAborted,          // Redis EXECABORT: a command was refused between MULTI and EXEC
  MasterDown,           // Redis MASTERDOWN: replica-serve-stale-data no
  Unblocked,            // Redis UNBLOCKED: the node became a replica during a WAIT
  Other,
};
const char* error_class_name(ErrorClass e);
// Errors that no key of `on_error` names: `other` handles them.
bool is_other(ErrorClass e);

// Where a result goes: `into` of a step. Cells are locals of the task; -1 means nobody reads it.
struct IntoMap {
  int count = -1;
  std::vector<std::pair<int, int>> columns;  // (column of the result, cell)
  // for_each: all rows go into a queue of cells, `queue_rows` rows of `queue_columns`.
  int queue = -1;        // first cell
  int queue_count = -1;  // cell with the number of rows left
  int queue_rows = 0;
  std::vector<int> queue_columns;  // columns of the result
};

enum class SqlKind : std::uint8_t {
  Begin,
  Commit,
  Rollback,
  Savepoint,
  RollbackTo,
  Release,
  SetLockTimeout,  // SqlStatement::switch_on: a wait may now time out, or may not (timeout_error says which wait)
  SetIsolation,    // of the running transaction (PostgreSQL) or of the next one (InnoDB)
  SetSessionIsolation,  // of all later transactions of the session
  SetAutocommit,   // MySQL; SqlStatement::switch_on
  LockFunction,    // SELECT pg_advisory_lock(...), GET_LOCK(...) and the like
  Select,
  SelectLock,
  Insert,
  Update,
  Delete,
  Nothing,
};
enum class LockCall : std::uint8_t {
  Lock,          // pg_advisory_lock: waits
  TryLock,       // pg_try_advisory_lock: true or false at once
  XactLock,      // pg_advisory_xact_lock: ends with the transaction
  TryXactLock,
  Unlock,        // pg_advisory_unlock: true if it was held
  UnlockAll,
  GetLock,       // MySQL GET_LOCK(name, seconds): 1, or 0 after the time-out (at once when seconds = 0)
  ReleaseLock,   // MySQL RELEASE_LOCK(name): 1, 0 when another holds it, NULL when nobody does
};
// PostgreSQL's void functions: their value is the text '', not NULL.
inline bool gives_void(LockCall c) { return c == LockCall::Lock || c == LockCall::XactLock || c == LockCall::UnlockAll; }
enum class RowLock : std::uint8_t { None = 0, KeyShare = 1, Share = 2, NoKeyUpdate = 3, Update = 4 };
enum class LockPolicy : std::uint8_t { Block, NoWait, SkipLocked };

struct SqlStatement {
  SqlKind kind = SqlKind::Nothing;
  int db = 0;
  int table = -1;                           // target of a write or of a locking SELECT
  QueryId query = -1;                       // Select; Insert from a SELECT
  ExprId where = kNoExpr;                   // the target row is source 0
  std::vector<std::pair<int, ExprId>> set;  // column, value
  bool changes_key = false;                 // Update: a column of a unique index is set
  std::vector<std::vector<ExprId>> rows;    // Insert: one expression a column
  std::vector<std::pair<int, int>> select_columns;  // Insert from SELECT: column -> column of the query
  std::vector<ExprId> defaults;             // Insert from SELECT: for the other columns
  bool reads_by_index = false;              // some scan of it has an AccessPath with an index
  bool reads_first = false;                 // a write that reads by a query: in autocommit its commit is a step of its own
  bool on_conflict = false;
  bool conflict_update = false;
  bool ignore = false;                      // INSERT IGNORE (on_conflict is set too)
  bool no_result = false;                   // MySQL's DO: the value is thrown away
  bool sequential_set = false;              // MySQL: each assignment sees those to its left (SET and ON DUPLICATE KEY UPDATE)
  std::vector<int> arbiters;                // unique indexes that ON CONFLICT shields; empty: all
  std::vector<std::pair<int, ExprId>> conflict_set;  // source 0: the row that is there, source 1: EXCLUDED
  ExprId conflict_where = kNoExpr;
  // RETURNING, or a locking SELECT's list. LockFunction: source 0 is a row of one column, the value of the call.
  std::vector<ExprId> targets;
  std::vector<Order> order;                 // SelectLock; Update and Delete in MySQL
  ExprId limit = kNoExpr;
  ExprId offset = kNoExpr;                  // SelectLock: rows that are locked and left out of the result
  RowLock lock = RowLock::None;
  LockPolicy policy = LockPolicy::Block;
  bool on_replica = false;                  // Select: on the read replica
  AccessPath access;                        // of the target table
  // MariaDB, Update and Delete: a secondary index that has all columns, for a row that `access` finds by its primary key. Taken
  // when its ranges hold no more records than `access` has keys (see choose_access). index < 0: there is none.
  AccessPath covering;
  bool reads_target = false;                // Update: a subquery reads the table that is written
  // Statements inside this one, run before it and in this order by the same snapshot: common tables that write, and
  // subqueries that lock (FOR UPDATE). Their rows are the sources of kind Part.
  std::vector<SqlStatement> parts;
  std::optional<Isolation> isolation;       // Begin, SetIsolation
  bool read_only = false;                   // Begin
  bool snapshot_now = false;                // Begin: START TRANSACTION WITH CONSISTENT SNAPSHOT
  int savepoint = -1;                       // Savepoint, RollbackTo, Release: number of the name
  bool switch_on = false;                   // SetLockTimeout
  std::int64_t timeout = 0;                 // SetLockTimeout: microseconds
  ErrorClass timeout_error = ErrorClass::None;  // SetLockTimeout: LockTimeout, or StatementTimeout (statement_timeout).
                                                // Nothing: ConnectionLost when it sets how long a session may idle
  bool local = false;                       // SetLockTimeout: SET LOCAL, until the end of the transaction
  // The server refuses the statement whatever it finds: MariaDB 1064 for FOR SHARE, MySQL 1093. Then nothing else counts.
  ErrorClass refused = ErrorClass::None;
  LockCall call = LockCall::Lock;           // LockFunction
  ExprId lock_key = kNoExpr;                // an integer, a text, or for two keys the text "a,b"
  ExprId lock_wait = kNoExpr;               // GET_LOCK: seconds
  bool waits_for_ever = false;              // GET_LOCK: they are known to be below 0, which MySQL takes for no limit
  IntoMap into;
  std::vector<std::string> columns;         // names of the result, for reports
  std::string text;
};

// How messages of one kind travel to a service (message.hpp): what the world needs to know of it.
struct RoutePlan {
  bool keeps_dead = false;  // a message that nobody could handle stays as a dead letter
  CellId queue = 0;         // name of the queue; NULL for others
};

struct Plan {
  Domain domain;
  Layout layout;
  Code code;
  std::vector<SqlStatement> statements;
  std::vector<RedisCommand> redis_commands;
  std::vector<LuaScript> redis_scripts;
  RedisWords redis_words;
  std::vector<CellId> redis_string;       // by value id: the value that stands for all that are the same string in Redis
  std::vector<CellId> identity_of;        // by value id; itself where the value is no key
  bool uses_recent = false;               // some expression compares a stored NOW() with NOW() - interval
  // For the fact tables:
  std::vector<CellId> operation_client;   // by operation
  std::vector<CellId> operation_identity;
  std::vector<std::pair<int, CellId>> operation_keys;  // operation, a key that its client may send
  CellId outcome_ok = 0, outcome_failed = 0, outcome_accepted = 0, outcome_unknown = 0;
  struct EffectSource {                   // a table whose committed rows count as effects
    int table = 0;
    int identity_column = 0;
    CellId name = 0;
  };
  std::vector<EffectSource> effect_tables;
  std::vector<CellId> redis_name;                     // by redis
  std::vector<CellId> provider_name;                  // by provider
  std::vector<std::vector<CellId>> effect_ids;        // by provider, ledger entry; empty for an object store
  std::vector<int> reply_status;                      // by reply
  std::vector<CellId> queue_name;                     // by queue
  std::vector<RoutePlan> routes;                      // by route
  CellId state_ready = 0, state_held = 0, state_dead = 0;  // of a message in a queue
  std::vector<std::vector<CellId>> operation_names;   // by provider, operation
};

}  // namespace oncecheck

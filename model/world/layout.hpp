// Where each part of a world lies in its bytes. Computed once for a scenario (compiler), then read-only. A free slot of any
// kind is all zero bytes, so that equal worlds have equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/world/expr.hpp"

namespace oncecheck {

enum class Engine : std::uint8_t { Postgres, MariaDb, MySql };
inline bool is_innodb(Engine e) { return e != Engine::Postgres; }
enum class Isolation : std::uint8_t { ReadUncommitted, ReadCommitted, RepeatableRead, Serializable };

struct Index {
  std::string name;
  std::vector<int> columns;
  ExprId where = kNoExpr;  // partial index; the row is source 0
  bool primary = false;
  bool unique = true;
};

// What happens to a child when its parent goes (or changes its key).
enum class OnParentChange : std::uint8_t { Refuse, Cascade, SetNull };

struct ForeignKey {
  std::string name;
  std::vector<int> columns;         // of this table
  int parent = -1;                  // table
  std::vector<int> parent_columns;  // of a unique index of the parent
  OnParentChange on_delete = OnParentChange::Refuse;
  OnParentChange on_update = OnParentChange::Refuse;
};

// What a column can hold.
struct ColumnLimit {
  enum class Kind : std::uint8_t { Any, Int, Text } kind = Kind::Any;
  std::int64_t low = INT64_MIN, high = INT64_MAX;  // Int
  int length = -1;                                 // Text, in characters; -1: as long as you like
  bool generated_always = false;                   // PostgreSQL: GENERATED ALWAYS AS IDENTITY
};

// One slot a row version:
//   [xmin][xmax][next][flags][lock of each session, if any]cells...
// xmin 0: free; 1 + c: committed, not visible to the c oldest live snapshots; kInProgress + s: by session s, uncommitted.
// xmax 0: none; else as xmin, for the transaction that deleted or replaced this version. next: 1 + slot of the version that
// replaced this one (PostgreSQL's ctid chain), 0 when there is none.
struct TableLayout {
  std::string name;
  int db = 0;
  std::vector<std::string> columns;
  std::vector<bool> not_null;
  std::vector<ColumnLimit> limits;   // by column
  std::vector<Index> indexes;        // the primary key first, if there is one
  std::vector<ForeignKey> foreign_keys;
  std::vector<ExprId> checks;        // CHECK: the row is source 0; only FALSE fails
  int offset = 0;
  int slots = 0;
  int stride = 0;
  int locks = -1;        // offset within a slot, -1 when no statement locks rows without changing them
  int lock_sessions = 0; // sessions of this database
  int subs = -1;         // offset within a slot of [savepoint of xmin][savepoint of xmax]; -1 without savepoints
  int ssi = -1;          // offset within a slot of [record of xmin + 1][record of xmax + 1][readers, two bytes], see ssi.hpp
  int cells = 4;         // offset within a slot
};

inline constexpr int kXmin = 0, kXmax = 1, kNext = 2, kFlags = 3;
inline constexpr std::uint8_t kInProgress = 64;
inline constexpr std::uint8_t kMadeByCommand = 1;   // flags: xmin was set by the statement that is still running
inline constexpr std::uint8_t kEndedByCommand = 2;  // flags: xmax was
inline constexpr std::uint8_t kEndedKey = 4;        // flags: xmax deletes the row or changes a key column
// InnoDB, flags from bit 4 up: how many secondary indexes (the last ones) an INSERT that waits has not yet put the row into.
inline constexpr int kPendingShift = 4;

// One connection: a task's session on one database. Behind a pool: what the task does on the connection it has at the time.
//   [tx][snapshot][waits for][next row of the running statement][isolation][wait kind][part][flags][wait table + 1][wait slot]
//   then, when the database uses savepoints, [depth][name of each]
struct SessionLayout {
  int db = 0;
  int task = 0;    // -1: the replica's, or an idle connection of a pool
  int offset = 0;
  int number = 0;  // within its database, for the lock bytes; -1: an idle connection, which has no transactions
  Isolation isolation = Isolation::ReadCommitted;  // of a transaction that names none
  int savepoints = -1;  // absolute offset
  int number_taken = -1;  // absolute offset of [1 + sequence][number][number high], see sequence.hpp
};
inline constexpr int kTx = 0, kSnapshot = 1, kWaits = 2, kPosition = 3, kIsolation = 4, kWaitKind = 5, kPart = 6, kSessionFlags = 7,
                     kWaitTable = 8, kWaitSlot = 9, kSessionBytes = 10;
inline constexpr int kMaxSavepoints = 4;  // deep
enum WaitKind : std::uint8_t {
  kWaitTransaction = 0,  // PostgreSQL: for the end of the transaction of the other
  kWaitTuple = 1,        // PostgreSQL: behind another waiter for the same row
  kWaitLock = 2,         // InnoDB: a request in the lock table
  kWaitAdvisory = 3,     // an advisory lock, GET_LOCK
};
inline constexpr std::uint8_t kLockTimeoutOn = 1;   // session flags: a wait for a lock may time out
inline constexpr std::uint8_t kTxReadOnly = 2;      // the transaction is READ ONLY
inline constexpr std::uint8_t kAutocommitOff = 8;   // MySQL: a statement opens a transaction and does not end it
inline constexpr int kSessionLevelShift = 4;        // three bits: 1 + the level of SET SESSION ..., 0 for the database's
inline constexpr std::uint8_t kSessionLevelBits = 7 << kSessionLevelShift;
inline int session_level(const std::uint8_t* session) { return (session[kSessionFlags] & kSessionLevelBits) >> kSessionLevelShift; }
inline constexpr std::uint8_t kStatementTimeoutOn = 128;  // a statement that waits may time out as a whole
inline constexpr std::uint8_t kConnectionDead = 4;  // the server is gone; the next statement finds out
enum TxState : std::uint8_t { kNoTx = 0, kOpenTx = 1, kFailedTx = 2, kImplicitTx = 3 };

// InnoDB's lock table (innodb_locks.hpp): [an entry found no room], then of each session of the database [statement flags]
// [rows counted][table of the scan + 1][record where it waits + 1], then entries [session + 1][table][index][record + 1 or
// kSupremum][mode], the free ones last.
struct LockTableLayout {
  int offset = -1;    // -1: not an InnoDB database
  int sessions = 0;   // absolute offset of the first session's bytes
  int entries = 0;    // absolute offset
  int slots = 0;
};
inline constexpr int kInnodbSessionBytes = 4, kLockBytes = 5;

struct SequenceLayout {  // two bytes: the number given last
  std::string name;
  int db = 0;
  int offset = 0;
};

// Advisory locks (advisory.hpp): a bag of [session + 1][AdvisoryKind][savepoint level][key cell], the free ones last.
struct AdvisoryLayout {
  int offset = -1;
  int slots = 0;
  int stride = 0;
};

// What serializable snapshot isolation keeps (ssi.hpp). Records: one a session, then the committed ones in commit order:
//   [status][flags][in][out][concurrent], the last three masks of records, two bytes each
// Then a mask of readers of each table and of each index, and a bag of [index + 1][value cell][readers].
struct SsiLayout {
  int offset = -1;
  int sessions = 0;
  int committed = 0;
  int tables = 0;     // absolute offset of the masks of tables, by place in DatabaseLayout::tables
  int indexes = 0;    // absolute offset of the masks of indexes, numbered through the tables
  int index_count = 0;
  int keys = 0;
  int key_slots = 0;
  int key_stride = 0;
};

// A pool of connections in transaction mode (connection_pool.hpp).
struct PoolLayout {
  int connections = 0;    // 0: there is none
  std::vector<int> idle;  // sessions that stand for idle connections with something left on them
};

struct DatabaseLayout {
  std::string name;
  Engine engine = Engine::Postgres;
  Isolation isolation = Isolation::ReadCommitted;
  bool found_rows = false;            // MySQL client flag FOUND_ROWS: an UPDATE counts matched rows, not changed ones
  bool rollback_on_timeout = false;   // innodb_rollback_on_timeout
  bool snapshot_isolation = false;    // MariaDB innodb_snapshot_isolation
  bool uses_savepoints = false;
  LockTableLayout lock_table;         // InnoDB
  bool foreign_keys = false;          // some table has one
  int replica = -1;                   // session that stands for the read replica (replication.hpp); -1: there is none
  bool synchronous = false;           // a COMMIT ends when the replica has it
  AdvisoryLayout advisory;
  SsiLayout ssi;
  PoolLayout pool;
  std::vector<int> tables;
  std::vector<int> sessions;          // of tasks, and the replica's
};

// The keys that a Redis node has, and the writes on their way to it (redis_store.hpp).
//   entries: [key][value][ttl][owner], by key, the free ones (key NULL) last
//   queue: [op][key][value][ttl][owner], oldest first, the free ones last
// ttl: 0, or the number of a deadline, the same number wherever the same deadline stands. owner: 1 + the running task that
// set it, 0 when that has ended; there only when a promise asks who releases what (tracks_owners).
struct RedisStore {
  int entries = -1;
  int queue = -1;  // of a replica: from its primary; of a disk: from its node; -1: there is none
};
enum class RedisPersistence : std::uint8_t { None, EverySec, Always };
enum class RedisEviction : std::uint8_t { None, Volatile, AllKeys };

// What the server keeps of a client's connection (redis_connection.hpp), absolute offset by task:
//   [flags][of each node: writes that a WAIT still asks for][watched keys][queued: command + 1, two bytes, then its arguments]
struct RedisConnections {
  std::vector<int> offset;  // by task: -1 when the server need not remember anything of it
  int bytes = 0;
  int waits = -1, watches = -1, queued = -1;  // offsets within; -1: no WAIT, WATCH, MULTI
  int watch_slots = 0, queued_slots = 0, queued_stride = 0;
};

struct RedisLayout {
  std::string name;
  int slots = 0, stride = 0;
  int queue_slots = 0, queue_stride = 0;
  std::vector<RedisStore> nodes;  // not stepped: the primary, then, when a failover can happen, the replica that has least
  std::vector<RedisStore> disks;  // by node: what a restart finds; empty when it finds nothing or everything
  bool stepped = false;           // replicas can be told apart: each write arrives in an event of its own
  int roles = -1;                 // stepped: [RedisRole, or kReplicaOf + primary][RedisLink] of each node
  int clocks = -1;                // clocks differ: of each deadline a mask of the nodes on whose clock it has passed
  int deadlines = 0;              // how many there are
  int replicas = 0;               // as the scenario says
  int min_replicas = 0;           // min-replicas-to-write
  bool serves_stale = true;       // replica-serve-stale-data
  bool recorded = false;          // a recorded case: followed whatever the budgets are; memory may be full
  RedisPersistence persistence = RedisPersistence::None;
  RedisEviction eviction = RedisEviction::None;
  RedisConnections connections;
  std::vector<int> failover_budgets, restart_budgets;  // bytes of the world that can pay
  bool tracks_owners = false;
  int foreign_release = -1;  // byte: 1 once a running task's key was deleted by another task
};
enum RedisLogOp : std::uint8_t { kLogNone = 0, kLogSet = 1, kLogDel = 2 };
inline constexpr std::uint8_t kLogMore = 128;  // with op: the next write belongs to the same transaction
enum RedisRole : std::uint8_t { kRedisDown = 0, kPrimary = 1, kOldPrimary = 2, kReplicaOf = 3 };
enum RedisLink : std::uint8_t { kLinkUp = 0, kLinkCut = 1, kLinkDown = 2, kLinkSyncs = 3 };  // Down: the primary knows
inline constexpr std::uint8_t kMemoryFull = 16;  // with link

//   inbox: [operation + 1, kUnderWay][caller task or 255][key][amount][identity], then [target] if an operation takes one
//   ledger: [operation + 1][kStands, kNotIndexed][identity][key][amount], oldest first
//   keys: [operation + 1][KeyState][ledger entry + 1][key][amount], a bag of what the provider remembers of keys; only when
//   the ledger does not say it all
struct ProviderLayout {
  std::string name;
  int inbox = 0, inbox_slots = 0, inbox_stride = 0;
  int ledger = 0, ledger_slots = 0, ledger_stride = 0;
  int keys = -1, key_slots = 0, key_stride = 0;
  int zone = -1;  // offset within a request of the zone of its caller; -1: there are no partitions
  bool targets = false;
};
inline constexpr std::uint8_t kUnderWay = 0x80;               // the provider has begun with it
inline constexpr std::uint8_t kStands = 1, kNotIndexed = 2;   // not taken back; not yet seen by a look-up that lags
inline constexpr std::uint8_t kNobody = 255;

enum class TaskKind : std::uint8_t { Request, Start, Job };

//   [status][pc low][pc high][instance][caller][answer][answer id cell] locals...
// answer: an Answer of a provider, or 1 + the reply of a service
struct TaskLayout {
  int service = 0;
  TaskKind kind = TaskKind::Request;
  int index = 0;  // Start: instance; Job: job; Request: number of the slot
  int offset = 0;
  int bytes = 0;
  int locals = 0;  // absolute offset of the first local cell
  int local_cells = 0;
  int network = -1;  // absolute offset of the bytes that partitions need (kSent and the others), -1 without
  std::vector<int> sessions;  // by database: session, or -1
};
//   [statement, command or publication was sent before the cut][zone that the answer comes from][databases whose session the
//   program has left without the server knowing, a bit each]
inline constexpr int kSent = 0, kAnswerZone = 1, kLeft = 2, kTaskNetworkBytes = 3;
inline constexpr int kStatus = 0, kPc = 1, kInstance = 3, kSender = 4, kAnswer = 5, kAnswerId = 6;
enum TaskStatus : std::uint8_t {
  kFree = 0,
  kReady = 1,
  kBlocked = 2,
  kWaitsCall = 3,
  kOrphaned = 4,  // the process is gone, its statement still waits at the server; instance and sender are kNobody
  kLingering = 5,  // the program is over, but a server behind a cut keeps its session; instance and sender are kNobody
};

//   message: [route + 1][caller][key], then payload cells, then, with partitions, [zone of the calling instance], then, when some
//   route delivers at least once, [held by task + 1][deliveries left]
// A caller is who waits for the answer: a sender, or Layout::sender_count + a task, or kNobody.
inline constexpr std::uint8_t kNotHeld = 0, kHeldByNobody = 255, kDeadLetter = 254;
inline constexpr std::uint8_t kNoLimit = 255;  // deliveries left: as many as it takes
//   sender: [state][attempts left][reply + 1]
inline constexpr int kSenderState = 0, kSenderAttempts = 1, kSenderReply = 2, kSenderBytes = 3;
// The state byte: a SenderState, and in its upper half how often the client may still poll.
enum SenderState : std::uint8_t {
  kNotSent = 0,
  kWaiting = 1,
  kToRetry = 2,
  kDone = 3,
  kGaveUp = 4,
  kToPoll = 5,
  kPolling = 6,  // waits for the answer to a poll
};
inline SenderState sender_state(const std::uint8_t* sender) { return static_cast<SenderState>(sender[kSenderState] & 15); }
inline int polls_left(const std::uint8_t* sender) { return sender[kSenderState] >> 4; }

// What tells an instance of a service from the others.
enum InstanceFlag : std::uint8_t {
  kNewVersion = 1,  // it runs the next version
  kDraining = 2,    // it takes no more work and is replaced when what runs has ended
  kToReplace = 4,   // a rolling deploy has yet to come to it
  kClockAhead = 8,  // its clock has jumped: deadlines that run have passed by it
  kClockBehind = 16,  // deadlines that pass from now on have not passed by it
};

inline constexpr int kKeptAnswers = 2;  // different ones; a third adds nothing that a promise could want

// Bits of the byte that records what the client of an operation was told.
inline constexpr std::uint8_t kToldOk = 1, kToldFailed = 2, kToldAccepted = 4, kToldUnknown = 8;

struct Layout {
  int bytes = 0;
  int cell = 1;  // bytes of a value cell
  std::vector<TableLayout> tables;
  std::vector<DatabaseLayout> databases;
  std::vector<SessionLayout> sessions;
  std::vector<std::string> savepoint_names;
  std::vector<SequenceLayout> sequences;
  std::vector<RedisLayout> redis;
  std::vector<ProviderLayout> providers;
  std::vector<TaskLayout> tasks;
  int messages = 0, message_slots = 0, message_stride = 0;
  int message_cells = 0;   // of payload, beside the key
  int message_zone = -1;   // offset within a message of the zone of the instance that called; -1: there are no partitions
  int message_hold = -1;   // offset within a message of its last two bytes; -1: no route delivers at least once
  std::vector<int> clocks;     // by service: number, among those who see a deadline ahead (time.hpp), of the clock of its first
                               // instance; -1: its clocks are right
  std::vector<int> instance_counts;
  std::vector<int> instances;  // by service: absolute offset of a byte for each instance (InstanceFlag), -1 without
  int cuts = -1;           // absolute offset of the partitions that stand, a bit each; -1: the scenario has none
  int sender_zones = -1;   // absolute offset of the zone that each sender's answer comes from
  int senders = 0, sender_count = 0;
  int told = 0, operation_count = 0;
  // Facts that are kept only where a promise asks for them; -1 where none does.
  int published = -1, published_slots = 0, published_stride = 0;  // a bag of [queue + 1][key]
  int refused = -1;  // a byte for each operation
  int answers = -1;  // of each operation kKeptAnswers times [reply + 1][body], in the order in which they were given
  int budgets = 0, budget_count = 0;
  int deadlines = 0, deadline_slots = 0;  // two bytes each, see time.hpp
  std::vector<int> value_cells;           // absolute offset of every value cell, ascending
  std::vector<std::uint8_t> value_mask;   // cells of one byte: of each byte of a world, 255 where such a cell is; else empty
};

}  // namespace oncecheck

// Compiled expressions: the one evaluator behind SQL, step conditions and invariants (DESIGN 3). Nodes live in a flat pool
// and name their children by index; names were resolved by the compiler.
#pragma once

#include <cstdint>
#include <vector>

#include "model/world/value.hpp"

namespace oncecheck {

enum class Op : std::uint8_t {
  Const,      // val
  Local,      // a: cell of the running task's locals
  Column,     // src, a: column of a row source
  Key,        // a: group key
  Agg,        // a: aggregate of the current group
  And, Or, Not,
  Eq, Ne, Lt, Le, Gt, Ge, Distinct, NotDistinct,
  Add, Sub, Mul, Neg,  // src: NumberRange
  Div, Mod,   // whole numbers, cut towards zero
  Quotient,   // MySQL's a / b: Kind::Decimal
  RoundedQuotient,  // the same stored into an integer: rounded, half away from zero
  Concat,
  IsNull, IsNotNull, IsTrue, IsFalse, IsNotTrue, IsNotFalse,
  In,         // args: needle, candidates...
  Like,       // a LIKE b; % and _ only
  InQuery,    // a IN (query b)
  Exists,     // query b
  Scalar,     // query b; NULL without a row
  Case,       // args: when, then, ..., [else]; an even count has no else
  Coalesce,   // args
  Nullif,     // a, b
  Greatest, Least,  // args; a: 1 when a NULL among them makes NULL (MySQL)
  Now,        // b: NowKind
  FreshUuid,
  NextVal,    // a: sequence; numbers never come back, whatever happens to the transaction. b: a value that stands for
              // itself unless it is NULL or 0 (AUTO_INCREMENT); it moves the sequence on. -1: none
  IdentityOf, // a: a key to the identity that it stands for
};

enum NumberRange : std::uint8_t {
  kInt8 = 0,
  kInt4 = 1,      // PostgreSQL's integer
  kUnsigned = 2,  // MySQL: BIGINT UNSIGNED
};

enum NowKind : std::int32_t {
  kNowTransaction = 0,  // PostgreSQL now(): the start of the transaction
  kNowStatement = 1,    // InnoDB NOW(): the start of the statement, before any wait
  kNowClock = 2,        // clock_timestamp(), SYSDATE(): the time at which it is asked
};

using ExprId = std::int32_t;
inline constexpr ExprId kNoExpr = -1;
using QueryId = std::int32_t;

struct Node {
  Op op = Op::Const;
  std::uint8_t src = 0;
  std::int32_t a = -1;
  std::int32_t b = -1;      // second child, query, or number of args
  std::int32_t args = -1;   // first of `b` children in Code::args
  Val val;
};

enum class Aggregate : std::uint8_t { Count, CountStar, CountDistinct, Sum, Min, Max, BoolAnd, BoolOr };

struct AggSpec {
  Aggregate kind = Aggregate::CountStar;
  ExprId arg = kNoExpr;
};

enum class FactTable : std::uint8_t {
  Told,        // client, identity, outcome ('ok', 'failed', 'accepted', 'unknown')
  Effects,     // source, operation, identity, key, amount, standing, id
  Operations,  // client, identity
  ForeignReleases,  // redis
  RedisEntries,     // redis, key, value, expires
  Queued,           // queue, key, state: ready, held or dead
  Keys,             // client, identity, key: every key that a client may send
  // Kept in the world only where a promise asks (Layout):
  Published,        // queue, key: what was ever put into a queue
  Refusals,         // identity: some provider has declined it, or refused its key for good
  Answers,          // client, identity, status, body: final answers given to a client that waited
};

// How the rows of a table are found: a full scan in key order, or an index and ranges of its keys. InnoDB locks what it
// scans, and SSI tracks it. The WHERE still tests every row.
struct KeyRange {
  // Leading columns of the index (InnoDB: then those of the primary key); no expression names a column of the scanned table.
  std::vector<ExprId> equal;
  ExprId low = kNoExpr, high = kNoExpr;  // bounds on the column after them
  bool low_open = false, high_open = false;
};
inline constexpr ExprId kIsNull = -2;  // InnoDB, in KeyRange::equal: the column is NULL
struct AccessPath {
  int index = -1;               // Table::indexes; -1: full scan
  std::vector<KeyRange> ranges; // an IN list gives several
  bool in_order = false;        // the scan gives the order that the statement asks for (or it asks for none): LIMIT ends it
  bool backward = false;        // in_order: from the highest key down
  bool first_only = false;      // InnoDB: the first row that is there is the answer (MIN and MAX of an index)
};

struct Source {
  enum class Kind : std::uint8_t { Table, Facts, Query, Part } kind = Kind::Table;
  int index = 0;          // table, FactTable, query or part of the running statement (SqlStatement::parts)
  bool left_join = false;
  ExprId on = kNoExpr;    // join condition; may name this and earlier sources
  AccessPath access;      // Table; its ranges may name earlier sources
};

struct Order {
  ExprId expr = kNoExpr;
  bool descending = false;
  bool nulls_first = false;
};

enum class Combine : std::uint8_t { None, Union, UnionAll, Intersect, Except };

// A compiled SELECT. Its row sources take the numbers first_src, first_src + 1, ...; an inner query numbers its own after
// those of the queries around it, so a correlated reference is an ordinary Column node.
struct Query {
  int first_src = 0;
  std::vector<Source> sources;
  ExprId where = kNoExpr;
  bool grouped = false;
  std::vector<ExprId> keys;
  std::vector<AggSpec> aggs;
  ExprId having = kNoExpr;
  std::vector<ExprId> targets;
  std::vector<Order> order;
  ExprId limit = kNoExpr;
  ExprId offset = kNoExpr;
  bool distinct = false;
  int distinct_on = 0;  // DISTINCT ON: of rows with equal first order keys, that many, only the first one stays
  std::vector<std::vector<ExprId>> values;
  Combine combine = Combine::None;
  QueryId left = -1, right = -1;
  int width = 0;  // columns of the result
};

struct Code {
  std::vector<Node> nodes;
  std::vector<ExprId> args;
  std::vector<Query> queries;
};

}  // namespace oncecheck

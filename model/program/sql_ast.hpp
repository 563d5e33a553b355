// The syntax tree of the SQL subset, as sql_parser.hpp gives it: PostgreSQL's grammar (libpg_query), our own small nodes, no
// names resolved yet. A node's `location` is a byte offset into the statement as the user wrote it, -1 when unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oncecheck::sql {

struct Select;

enum class ExprKind {
  Null,
  Bool,        // number = 0 or 1
  Int,         // number
  Text,        // text
  Interval,    // text = "30s" or "1 minute" as written; number = microseconds
  Column,      // qualifier (may be empty; "schema.table" keeps both parts joined by '.'), name
  Param,       // :name or :name.field; name holds "name" or "name.field" without the colon
  Star,        // count(*) argument, or * / t.* in a target list (qualifier)
  Default,     // DEFAULT in VALUES or SET
  Unary,       // name in {"-", "not"}; args[0]
  Binary,      // name in {"=","<>","<","<=",">",">=","+","-","*","/","%","||","and","or","is distinct from","is not distinct from"}
  IsNull,      // args[0]
  IsNotNull,   // args[0]
  IsTrue,      // args[0]; IS TRUE
  IsFalse,     // args[0]; IS FALSE
  IsNotTrue,   // args[0]
  IsNotFalse,  // args[0]
  In,          // args[0] IN (args[1..])           (NOT IN is wrapped into Unary "not")
  InSelect,    // args[0] IN (select)
  Exists,      // EXISTS (select)
  Scalar,      // (select) as a value
  Like,        // args[0] LIKE args[1]
  Function,    // name lower-case (e.g. "now", "coalesce", "count", "gen_random_uuid", "nextval"), args, distinct, star
  Case,        // args = when1, then1, when2, then2, ..., [else]; has_else; simple CASE x WHEN is rewritten into comparisons
  Cast,        // args[0], name = type name, lower-case, canonical ("integer", "bigint", "text", "boolean", "timestamptz", "interval", ...)
  Row,         // (a, b) row constructor
};

struct Expr {
  ExprKind kind = ExprKind::Null;
  std::string name;
  std::string qualifier;
  std::string text;
  std::int64_t number = 0;
  bool distinct = false;  // count(DISTINCT x)
  bool star = false;      // count(*)
  bool has_else = false;
  std::vector<Expr> args;
  std::shared_ptr<Select> select;
  int location = -1;
};

struct Target {  // one item of a select list or RETURNING
  Expr expr;
  std::string alias;  // "" when none was given
};

struct Assignment {  // SET column = expr
  std::string column;
  Expr value;
  int location = -1;
};

struct OrderItem {
  Expr expr;
  bool descending = false;
  std::optional<bool> nulls_first;
};

enum class FromKind { Table, Subselect, InnerJoin, LeftJoin, CrossJoin };

struct FromItem {
  FromKind kind = FromKind::Table;
  std::string schema;  // the database of the scenario, when written as db.table
  std::string table;
  std::string alias;  // "" when none
  std::shared_ptr<Select> select;
  std::vector<FromItem> sides;    // joins: exactly two
  bool swapped = false;           // a RIGHT JOIN: `*` gives the columns of the second side first
  std::shared_ptr<Expr> on;       // joins
  std::vector<std::string> using_columns;
  int location = -1;
};

enum class LockStrength { KeyShare, Share, NoKeyUpdate, Update };
enum class LockWait { Block, NoWait, SkipLocked };

struct Locking {
  LockStrength strength = LockStrength::Update;
  LockWait wait = LockWait::Block;
  std::vector<std::string> of;
};

enum class SetOp { None, Union, UnionAll, Intersect, Except };

struct Statement;

struct CommonTable {
  std::string name;
  std::vector<std::string> columns;
  std::shared_ptr<Statement> statement;
};

struct Select {
  std::vector<CommonTable> with;
  bool distinct = false;
  std::vector<Expr> distinct_on;  // PostgreSQL
  std::vector<Target> targets;
  std::vector<FromItem> from;  // comma list; joins nest
  std::shared_ptr<Expr> where;
  std::vector<Expr> group_by;
  std::shared_ptr<Expr> having;
  std::vector<OrderItem> order_by;
  std::shared_ptr<Expr> limit;
  std::shared_ptr<Expr> offset;
  std::optional<Locking> locking;
  std::vector<std::vector<Expr>> values;  // VALUES (...), (...): then nothing else but order/limit is set
  SetOp op = SetOp::None;                 // left op right; then only with/order/limit of this node count
  std::shared_ptr<Select> left;
  std::shared_ptr<Select> right;
  int location = -1;
};

enum class ConflictAction { None, Nothing, Update };

struct OnConflict {
  ConflictAction action = ConflictAction::None;
  std::vector<std::string> columns;  // conflict target, empty when none
  std::shared_ptr<Expr> target_where;
  std::string constraint;  // ON CONSTRAINT name
  std::vector<Assignment> set;
  std::shared_ptr<Expr> where;
  int location = -1;
};

struct Insert {
  std::vector<CommonTable> with;
  std::string schema, table, alias;
  std::vector<std::string> columns;  // empty: all, in order
  std::vector<std::vector<Expr>> rows;  // VALUES; DEFAULT VALUES is one empty row with default_values
  bool default_values = false;
  std::shared_ptr<Select> select;  // INSERT ... SELECT
  OnConflict on_conflict;
  std::vector<Target> returning;
  int location = -1;
};

struct Update {
  std::vector<CommonTable> with;
  std::string schema, table, alias;
  std::vector<Assignment> set;
  std::vector<FromItem> from;
  std::shared_ptr<Expr> where;
  std::vector<OrderItem> order_by;  // MySQL
  std::shared_ptr<Expr> limit;      // MySQL
  std::vector<Target> returning;
  int location = -1;
};

struct Delete {
  std::vector<CommonTable> with;
  std::string schema, table, alias;
  std::vector<FromItem> using_items;
  std::shared_ptr<Expr> where;
  std::vector<OrderItem> order_by;  // MySQL
  std::shared_ptr<Expr> limit;      // MySQL
  std::vector<Target> returning;
  int location = -1;
};

enum class ParentAction { NoAction, Restrict, Cascade, SetNull };

struct ColumnDef {
  std::string name;
  // Canonical: "integer", "bigint", "smallint", "text", "boolean", "timestamptz", "uuid", "serial", "bigserial", "numeric",
  // "jsonb", ...; for MySQL also "tinyint", "mediumint" and these with " unsigned".
  std::string type;
  bool not_null = false;
  bool primary_key = false;
  bool unique = false;
  bool identity = false;  // GENERATED ... AS IDENTITY
  bool always = false;    // GENERATED ALWAYS
  int length = -1;        // varchar(20): 20 characters
  std::shared_ptr<Expr> default_value;
  std::shared_ptr<Expr> check;
  std::string references_table;  // column-level REFERENCES
  std::vector<std::string> references_columns;
  ParentAction on_delete = ParentAction::NoAction, on_update = ParentAction::NoAction;
  int location = -1;
};

enum class ConstraintKind { PrimaryKey, Unique, ForeignKey, Check, PlainIndex };

struct TableConstraint {
  ConstraintKind kind = ConstraintKind::PrimaryKey;
  std::string name;
  std::vector<std::string> columns;
  std::string references_table;
  std::vector<std::string> references_columns;
  ParentAction on_delete = ParentAction::NoAction, on_update = ParentAction::NoAction;
  std::shared_ptr<Expr> check;
  int location = -1;
};

struct CreateTable {
  std::string schema, table;
  bool if_not_exists = false;
  std::vector<ColumnDef> columns;
  std::vector<TableConstraint> constraints;
  int location = -1;
};

struct CreateIndex {
  std::string name, schema, table;
  bool unique = false;
  std::vector<std::string> columns;
  std::shared_ptr<Expr> where;  // partial index
  int location = -1;
};

enum class StatementKind {
  Begin,           // isolation: "" | "read uncommitted" | "read committed" | "repeatable read" | "serializable"; read_only,
                   // deferrable, consistent_snapshot (MySQL)
  Commit,
  Rollback,
  Savepoint,       // name
  RollbackTo,      // name
  Release,         // name
  Set,             // name, value (e.g. lock_timeout = '2s'), local
  Select,
  Insert,
  Update,
  Delete,
  CreateTable,
  CreateIndex,
  CreateSequence,  // name
};

// The server of this dialect does not know a spelling: its own error, at run time.
struct ServerRefusal {
  std::string message;
  int location = -1;
};

struct Statement {
  StatementKind kind = StatementKind::Select;
  std::string name;
  std::string value;
  std::string isolation;
  bool local = false;
  bool read_only = false;
  bool deferrable = false;
  bool consistent_snapshot = false;
  std::optional<ServerRefusal> refused;
  bool no_result = false;  // MySQL's DO: a Select whose value is thrown away
  std::shared_ptr<Select> select;
  std::shared_ptr<Insert> insert;
  std::shared_ptr<Update> update;
  std::shared_ptr<Delete> del;
  std::shared_ptr<CreateTable> create_table;
  std::shared_ptr<CreateIndex> create_index;
  int location = -1;
};

}  // namespace oncecheck::sql

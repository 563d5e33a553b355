// What a step works with: the world it changes, scratch space, who is running, and what it may tell an observer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/world/check.hpp"
#include "model/world/limit.hpp"
#include "model/world/plan.hpp"
#include "model/world/redis_reply.hpp"

namespace oncecheck {

// Bump allocator for query results: no allocation in the inner loop. One per thread.
class Scratch {
 public:
  Scratch() : vals_(std::make_unique<Val[]>(kCapacity)) {}
  Val* top() { return vals_.get() + used_; }
  std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }
  // nullptr when it is full (LimitKind::Scratch).
  Val* take(int n) {
    if (used_ + static_cast<std::size_t>(n) > kCapacity) return nullptr;
    Val* p = top();
    used_ += static_cast<std::size_t>(n);
    return p;
  }

 private:
  static constexpr std::size_t kCapacity = 1 << 16;
  std::unique_ptr<Val[]> vals_;
  std::size_t used_ = 0;
};

// What a statement or command did, for people. Only filled when somebody asks (explain, replay); null in a search.
struct Observation {
  std::vector<std::string> columns;
  std::vector<std::vector<Val>> rows;
  std::int64_t count = -1;        // affected or returned rows
  ErrorClass error = ErrorClass::None;
  int blocked_by = -1;            // session that holds what this statement wants
  std::string note;
  std::optional<RedisAnswer> redis;
  std::vector<std::pair<int, std::int64_t>> deadlines_set;  // Redis: number, milliseconds (0: not written out)
  std::vector<int> fresh_renumbered;  // new number of each fresh value after the step, -1 when it is gone; empty: as before
  // The same for deadlines: those of databases (time.hpp), then 256 of each Redis.
  std::vector<int> deadlines_renumbered;
};

struct Rows {
  Val* base = nullptr;
  int count = 0;
  int width = 0;
  const Val* row(int i) const { return base + static_cast<std::ptrdiff_t>(i) * width; }
};

// Values that the domain lacked when a step needed them (LimitKind::IntRange, UnknownText): a caller who can compile again
// adds them to CompileOptions. Filled only when somebody asks; null in a search.
struct Missing {
  std::vector<std::string> texts;
  std::vector<std::int64_t> ints;
};

struct RowSource {
  const std::uint8_t* cells = nullptr;  // stored cells of a row version, or
  const Val* vals = nullptr;            // computed values; both null: a row of NULLs (outer join)
};

// The rows of a table as a query gets them one by one, where the engine has a say in their order, versions and locks (InnoDB).
struct RowCursor {
  static constexpr int kMaxSteps = 160;
  struct Step {
    std::uint8_t slot = 0;
    std::uint8_t kind = 0;
    std::uint8_t mode = 0;
    std::uint8_t range = 0;
  };
  Step steps[kMaxSteps];
  int count = 0;
  int at = 0;
  int table = 0;
  int index = 0;
  int finished = -1;      // a range that needs no more steps
  bool covering = false;  // the index has all columns that the query reads
  bool first_only = false;
};
class RowReader {
 public:
  virtual void open(const Source& source, RowCursor& cursor) = 0;
  // The next row version; null: no more, or the statement cannot go on.
  virtual const std::uint8_t* next(RowCursor& cursor) = 0;

 protected:
  ~RowReader() = default;
};

inline constexpr int kMaxSources = 10;
inline constexpr int kMaxParts = 4;  // SqlStatement::parts

struct Context {
  Context(const Plan& plan, std::uint8_t* world, Scratch& scratch) : plan(plan), w(world), scratch(scratch) {}

  const Plan& plan;
  std::uint8_t* w;
  Scratch& scratch;
  Observation* seen = nullptr;
  Missing* missing = nullptr;
  std::uint8_t* visited = nullptr;  // a byte for each branch of the programs that is taken, then for each instruction; null: nobody asks
  Limit limit;

  const std::uint8_t* locals = nullptr;  // of the running task
  int task = -1;                         // the running task
  int session = -1;                      // global number; -1: nobody's, sees what is committed
  int snapshot = 0;                      // ordinal of the snapshot to read by; 0: the newest committed
  RowSource sources[kMaxSources];
  const Val* keys = nullptr;
  const Val* aggs = nullptr;
  const Rows* parts = nullptr;           // rows of the running statement's parts
  RowReader* reader = nullptr;         // null: a query reads the slots of a table in their order
  bool serialization_failure = false;    // SSI wants this transaction aborted
  int clock = -1;                        // of the running instance, when a local step looks at a clock that may be wrong
  bool clock_ahead = false;
  int choice = 0;                        // which of several things the server may do (Event::c)
  std::uint64_t fresh_used = 0;          // fresh values taken so far, valid once fresh_scanned
  bool fresh_scanned = false;
  bool row_to_insert = false;            // a row of an INSERT is being computed: see sequence.hpp
  int numbers_wanted = 1;                // by the whole INSERT: see sequence.hpp
  bool number_given = false;             // the row came with a number of its own
  bool null_for_zero = false;            // x / 0 is NULL (MySQL where it stores nothing), not an error

  void fail(LimitKind kind, int arg = 0) {
    if (!limit) limit = {kind, static_cast<std::uint8_t>(arg)};
  }
  // The server would end the statement with this error while it computes a value.
  void raise(ErrorClass e) { fail(LimitKind::ExpressionError, static_cast<int>(e)); }
};

// Evaluates a compiled expression. Sets ctx.limit where the model cannot tell; the value is then NULL.
Val eval(Context& ctx, ExprId expr);

// A fresh value that is nowhere in the world. A number that has vanished from it can be given again: nothing is left that could
// tell the difference, and states merge. Sets ctx.limit when all are in use.
Val take_fresh(Context& ctx);

// Evaluates and stores into a cell: NOW() becomes an instant, NOW() + interval takes a deadline slot.
CellId eval_cell(Context& ctx, ExprId expr);
CellId storable(Context& ctx, Val v);

// Runs a query; the result lies in ctx.scratch until the caller releases it. at_most >= 0 stops early (EXISTS).
Rows run_query(Context& ctx, QueryId query, int at_most = -1);

// Orders two values as ORDER BY does (NULL handling by the caller). Sets ctx.limit for instants of unknown order.
int compare(Context& ctx, const Val& a, const Val& b);

}  // namespace oncecheck

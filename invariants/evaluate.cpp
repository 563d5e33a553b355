#include "invariants/evaluate.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "model/step/handler_work.hpp"
#include "model/world/cells.hpp"
#include "model/world/mvcc.hpp"

namespace oncecheck {

namespace {

// Evaluation may take fresh values or deadlines (it should not), so it never sees the caller's world writable in earnest.
std::uint8_t* unconst(const std::uint8_t* world) { return const_cast<std::uint8_t*>(world); }

const Index& primary_key(const TableLayout& table) {
  const auto it = std::find_if(table.indexes.begin(), table.indexes.end(), [](const Index& i) { return i.primary; });
  CHECK_THAT(it != table.indexes.end());
  return *it;
}

const std::uint8_t* committed_twin(const Program& program, const TableLayout& table, const Index& key,
                                   const std::uint8_t* row, const std::uint8_t* world) {
  const Layout& layout = program.plan.layout;
  for (int i = 0; i < table.slots; ++i) {
    const std::uint8_t* v = slot_of(table, world, i);
    if (!version_visible(v, -1, 0)) continue;
    const bool same = std::all_of(key.columns.begin(), key.columns.end(), [&](int c) {
      return column_of(layout, table, v, c) == column_of(layout, table, row, c);
    });
    if (same) return v;
  }
  return nullptr;
}

// Whether nobody changed the row. A deadline that has passed is no change: it may be noticed at the end of somebody's transaction.
bool same_cells(const Program& program, const TableLayout& table, const std::uint8_t* before, const std::uint8_t* after) {
  const Domain& domain = program.plan.domain;
  for (int c = 0; c < static_cast<int>(table.columns.size()); ++c) {
    const CellId was = column_of(program.plan.layout, table, before, c), is = column_of(program.plan.layout, table, after, c);
    if (was == is) continue;
    const Kind kind = domain.decode(was).kind;
    const bool ran_out = (kind == Kind::Deadline || kind == Kind::Recent) && domain.decode(is).kind == Kind::Past;
    if (!ran_out) return false;
  }
  return true;
}

// The task whose step this is, or -1.
int actor_of(const Event& e) {
  switch (e.kind) {
    case EventKind::Step:
    case EventKind::Deadlock:
    case EventKind::LockTimeout:
    case EventKind::LoseConnection: return e.a;
    default: return -1;
  }
}

const std::uint8_t* task_at(const Program& program, const std::uint8_t* world, int task) {
  return world + program.plan.layout.tasks[static_cast<std::size_t>(task)].offset;
}

// Everything else leaves committed rows alone, or only takes back what was never committed.
bool may_commit(const Program& program, const std::uint8_t* before, const Event& e) {
  if (e.kind == EventKind::FailoverDatabase) return true;
  if (actor_of(e) < 0) return false;
  return program.code[static_cast<std::size_t>(load_pc(task_at(program, before, e.a)))].kind == InstrKind::Sql;
}

// ACTOR: the locals of the task as they were when it began the step, and what the statement itself gave it (RETURNING), unless
// the program ended with it. Null when scratch is full.
const Val* actor_row(Context& ctx, const Program& program, const Invariant& invariant, const std::uint8_t* before,
                     const std::uint8_t* after, int actor) {
  const auto columns = invariant.actor_cells.size();
  Val* row = ctx.scratch.take(static_cast<int>(columns));
  if (row == nullptr) {
    ctx.fail(LimitKind::Scratch);
    return nullptr;
  }
  const Layout& layout = program.plan.layout;
  const TaskLayout& task = layout.tasks[static_cast<std::size_t>(actor)];
  const auto body = static_cast<std::size_t>(&body_of(program, before, actor) - program.bodies.data());
  const bool lives = task_at(program, after, actor)[kStatus] != kFree;
  for (std::size_t c = 0; c < columns; ++c) {
    const int cell = invariant.actor_cells[c][body];
    row[c] = null_val();
    if (cell < 0) continue;
    const int at = task.locals + cell * layout.cell;
    const CellId was = load_cell(layout, before + at), now = lives ? load_cell(layout, after + at) : kNullCell;
    row[c] = program.plan.domain.decode(now != kNullCell ? now : was);
  }
  return row;
}

}  // namespace

bool breaks(const Program& program, const Invariant& invariant, const std::uint8_t* world, Workspace& workspace, Limit& limit) {
  Context ctx(program.plan, unconst(world), workspace.scratch);
  const std::size_t mark = workspace.scratch.mark();
  const bool found = run_query(ctx, invariant.query, 1).count > 0;
  workspace.scratch.release(mark);
  if (ctx.limit && !limit) limit = ctx.limit;
  return found;
}

bool step_breaks(const Program& program, const Invariant& invariant, const std::uint8_t* before, const Event& event,
                 Workspace& workspace, Limit& limit) {
  if (!may_commit(program, before, event)) return false;
  const int actor = actor_of(event);
  if (!invariant.actor_cells.empty() && actor < 0) return false;  // nobody did it: a failover took writes away
  workspace.world.assign(before, before + program.plan.layout.bytes);
  std::uint8_t* after = workspace.world.data();
  if (apply_raw(program, after, event, workspace)) return false;  // the search has noted the limit
  const TableLayout& table = program.plan.layout.tables[static_cast<std::size_t>(invariant.table)];
  const auto bytes = static_cast<std::size_t>(table.slots * table.stride);
  if (std::memcmp(before + table.offset, after + table.offset, bytes) == 0) return false;
  const Index& key = primary_key(table);
  auto judged = [&](const std::uint8_t* old_row, const std::uint8_t* new_row) {
    if (old_row != nullptr && new_row != nullptr && same_cells(program, table, old_row, new_row)) return false;
    Context ctx(program.plan, after, workspace.scratch);
    const std::size_t mark = workspace.scratch.mark();
    if (!invariant.actor_cells.empty()) ctx.sources[2].vals = actor_row(ctx, program, invariant, before, after, actor);
    ctx.sources[0].cells = old_row == nullptr ? nullptr : old_row + table.cells;
    ctx.sources[1].cells = new_row == nullptr ? nullptr : new_row + table.cells;
    const bool broken = is_true(eval(ctx, invariant.step_expr));
    workspace.scratch.release(mark);
    if (ctx.limit && !limit) limit = ctx.limit;
    return broken;
  };
  for (int i = 0; i < table.slots; ++i) {
    const std::uint8_t* now = slot_of(table, after, i);
    if (version_visible(now, -1, 0) && judged(committed_twin(program, table, key, now, before), now)) return true;
    const std::uint8_t* was = slot_of(table, before, i);
    if (version_visible(was, -1, 0) && committed_twin(program, table, key, was, after) == nullptr && judged(was, nullptr)) {
      return true;
    }
  }
  return false;
}

bool same_reads(const Invariant& invariant, const std::uint8_t* a, const std::uint8_t* b) {
  return std::all_of(invariant.reads.begin(), invariant.reads.end(), [&](const std::pair<int, int>& r) {
    return std::memcmp(a + r.first, b + r.first, static_cast<std::size_t>(r.second)) == 0;
  });
}

std::vector<std::string> findings(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                  Workspace& workspace) {
  std::vector<std::string> lines;
  if (invariant.query < 0) return lines;
  Context ctx(program.plan, unconst(world), workspace.scratch);
  const std::size_t mark = workspace.scratch.mark();
  const Rows rows = run_query(ctx, invariant.query);
  for (int i = 0; i < rows.count; ++i) {
    std::string line;
    for (int c = 0; c < rows.width; ++c) line += (c > 0 ? ", " : "") + program.plan.domain.show(rows.row(i)[c]);
    lines.push_back(line);
  }
  workspace.scratch.release(mark);
  return lines;
}

}  // namespace oncecheck

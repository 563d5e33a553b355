#include "model/world/savepoint.hpp"

#include <cstring>

#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/row_lock.hpp"
#include "model/world/session_settings.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {

std::uint8_t* stack_of(const Layout& layout, std::uint8_t* w, int session) {
  const int at = layout.sessions[static_cast<std::size_t>(session)].savepoints;
  return at < 0 ? nullptr : w + at;
}

}  // namespace

int savepoint_depth(const Layout& layout, const std::uint8_t* w, int session) {
  const int at = layout.sessions[static_cast<std::size_t>(session)].savepoints;
  return at < 0 ? 0 : w[at];
}

void clear_savepoints(const Layout& layout, std::uint8_t* w, int session) {
  if (std::uint8_t* stack = stack_of(layout, w, session)) std::memset(stack, 0, 1 + kMaxSavepoints);
}

bool push_savepoint(const Layout& layout, std::uint8_t* w, int session, int name) {
  std::uint8_t* stack = stack_of(layout, w, session);
  CHECK_THAT(stack != nullptr);
  if (stack[0] >= kMaxSavepoints) return false;
  ++stack[0];
  stack[stack[0]] = static_cast<std::uint8_t>(name);
  keep_settings(layout, w, session, stack[0]);
  return true;
}

int find_savepoint(const Layout& layout, const std::uint8_t* w, int session, int name) {
  const int at = layout.sessions[static_cast<std::size_t>(session)].savepoints;
  if (at < 0) return 0;
  for (int depth = w[at]; depth > 0; --depth) {
    if (w[at + depth] == name) return depth;
  }
  return 0;
}

void set_savepoint_depth(const Layout& layout, std::uint8_t* w, int session, int depth) {
  std::uint8_t* stack = stack_of(layout, w, session);
  for (int d = depth + 1; d <= kMaxSavepoints; ++d) stack[d] = 0;
  stack[0] = static_cast<std::uint8_t>(depth);
  drop_kept_settings(layout, w, session, depth);
}

void undo_to_level(const Plan& plan, std::uint8_t* w, int session, int level) {
  const std::uint8_t mine = mark_of(session);
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  each_version(plan.layout, w, s.db, [&](const TableLayout& table, std::uint8_t* v) {
    if (v[kXmin] == mine && v[table.subs] >= level) {
      std::memset(v, 0, static_cast<std::size_t>(table.stride));
      return;
    }
    if (v[kXmax] == mine && v[table.subs + 1] >= level) {
      v[kXmax] = 0;
      v[kNext] = 0;
      v[kFlags] = static_cast<std::uint8_t>(v[kFlags] & kMadeByCommand);
      v[table.subs + 1] = 0;
    }
    if (table.locks >= 0) undo_row_lock(v[table.locks + s.number], level);
  });
  restore_settings(plan.layout, w, session, level);
  end_transaction_advisory(plan, w, session, level);
  wake_waiters(plan, w, session);
}

void merge_levels(const Plan& plan, std::uint8_t* w, int session, int level) {
  const std::uint8_t mine = mark_of(session);
  const SessionLayout& s = plan.layout.sessions[static_cast<std::size_t>(session)];
  const auto to = static_cast<std::uint8_t>(level);
  each_version(plan.layout, w, s.db, [&](const TableLayout& table, std::uint8_t* v) {
    if (v[kXmin] == mine && v[table.subs] > to) v[table.subs] = to;
    if (v[kXmax] == mine && v[table.subs + 1] > to) v[table.subs + 1] = to;
    if (table.locks >= 0) merge_row_lock(v[table.locks + s.number], level);
  });
  merge_advisory_levels(plan, w, session, level);
}

}  // namespace oncecheck

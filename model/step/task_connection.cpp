// A task whose connection breaks, and what it then knows.
#include <cstring>
#include <type_traits>

#include "model/step/connection_pool.hpp"
#include "model/step/task_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/statement.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

void TaskRun::connect(int db) {
  if (!partitions() || (network(kLeft) >> db & 1) == 0) return;
  network(kLeft) = static_cast<std::uint8_t>(network(kLeft) & ~(1u << db));
  end_session(p_.plan, ctx_.w, layout_.sessions[static_cast<std::size_t>(db)]);
}

void TaskRun::lose_connection(bool after, int way) {
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me()))];
  if (partitions()) network(kSent) = 0;
  if (instr.kind == InstrKind::Redis) {
    lose_redis_connection(instr, after, way);
    return;
  }
  if (instr.kind == InstrKind::Publish) {
    if (after) publish(instr);
    if (ctx_.seen != nullptr) ctx_.seen->error = ErrorClass::ConnectionLost;
    go(p_.publications[static_cast<std::size_t>(instr.index)].on_error);
    run_local();
    return;
  }
  CHECK_THAT(instr.kind == InstrKind::Sql);
  enter_session(instr.index);
  const SqlStatement& statement = p_.plan.statements[static_cast<std::size_t>(instr.index)];
  if (after) {
    connect(statement.db);
    // What comes back is not heard. A statement that has to wait is given up: the session is gone.
    take_connection(p_, ctx_.w, task_, statement, way);
    const std::uint8_t* before = keep_locals();
    if (before == nullptr) return;
    const ExecResult result = exec_sql(ctx_, statement, ctx_.w + layout_.locals);
    if (ctx_.limit) return;
    put_locals_back(before);
    me()[kStatus] = result.status == ExecResult::Status::Blocked ? kBlocked : kReady;
  }
  if (session_outlives(p_, ctx_.w, task_, statement.db)) {
    network(kLeft) = static_cast<std::uint8_t>(network(kLeft) | (1u << statement.db));
  } else {
    end_session(p_.plan, ctx_.w, ctx_.session);
  }
  if (me()[kStatus] == kOrphaned) {
    kill();
  } else {
    go_to_handler(instr, ErrorClass::ConnectionLost);
  }
}

void TaskRun::give_up_connection() { go_to_handler(p_.code[static_cast<std::size_t>(load_pc(me()))], ErrorClass::ConnectionLost); }

// A library that sends the command again does so only where the server keeps nothing of the connection.
// EXEC and DISCARD close what is open, and a command that finds out that it is gone must tell: so it is asked before they run.
void TaskRun::lose_redis_connection(const Instr& instr, bool after, int way) {
  const RedisCommand& command = p_.plan.redis_commands[static_cast<std::size_t>(instr.index)];
  const RedisConnection connection(p_.plan, ctx_.w, command.redis, task_);
  const bool open = connection.open() || connection.has(kBroken);
  if (after) {
    const std::uint8_t* before = keep_locals();
    if (before == nullptr) return;
    exec_redis(ctx_, instr.index, ctx_.w + layout_.locals, redis_way(p_.plan, ctx_.w, task_, instr.index, way));
    if (ctx_.limit) return;
    put_locals_back(before);
  }
  connection.close();
  if (!open && p_.scenario.redis[static_cast<std::size_t>(command.redis)].second.resends) return;  // it stands where it stood
  if (ctx_.seen != nullptr) ctx_.seen->error = ErrorClass::ConnectionLost;
  go(p_.redis_errors[static_cast<std::size_t>(instr.index)][static_cast<std::size_t>(ErrorClass::ConnectionLost)]);
  run_local();
}

const std::uint8_t* TaskRun::keep_locals() {
  const auto bytes = static_cast<std::size_t>(layout_.local_cells * p_.plan.layout.cell);
  Val* room = ctx_.scratch.take(1 + static_cast<int>(bytes / sizeof(Val)));
  if (room == nullptr) {
    ctx_.fail(LimitKind::Scratch);
    return nullptr;
  }
  static_assert(std::is_trivially_copyable_v<Val>);
  std::memcpy(static_cast<void*>(room), ctx_.w + layout_.locals, bytes);
  return reinterpret_cast<const std::uint8_t*>(room);
}

void TaskRun::put_locals_back(const std::uint8_t* kept) {
  std::memcpy(ctx_.w + layout_.locals, kept, static_cast<std::size_t>(layout_.local_cells * p_.plan.layout.cell));
  if (ctx_.seen != nullptr) *ctx_.seen = {};
}

}  // namespace oncecheck

#include "model/step/task_run.hpp"

#include <algorithm>
#include <cstring>

#include "model/step/connection_pool.hpp"
#include "model/step/provider_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/redis.hpp"
#include "model/world/redis_connection.hpp"
#include "model/world/replication.hpp"
#include "model/world/statement.hpp"
#include "model/world/transaction.hpp"

namespace oncecheck {

namespace {
constexpr int kMaxLocalSteps = 10'000;
constexpr std::size_t kMaxPayload = 64;  // a message has at most 160 bytes
}

TaskRun::TaskRun(const Program& program, Context& ctx, int task)
    : p_(program), ctx_(ctx), layout_(program.plan.layout.tasks[static_cast<std::size_t>(task)]), task_(task) {
  ctx_.locals = ctx_.w + layout_.locals;
  ctx_.task = task;
}

void TaskRun::set_cell(int cell, CellId value) {
  if (cell >= 0) store_cell(p_.plan.layout, ctx_.w + layout_.locals + cell * p_.plan.layout.cell, value);
}

void TaskRun::go(int pc) {
  store_pc(me(), pc);
  me()[kStatus] = kReady;
}

void TaskRun::start(int body, int instance, std::uint8_t sender) {
  me()[kInstance] = static_cast<std::uint8_t>(instance);
  me()[kSender] = sender;
  go(p_.bodies[static_cast<std::size_t>(body)].entry);
}

void TaskRun::enter_session(int statement) {
  const int db = p_.plan.statements[static_cast<std::size_t>(statement)].db;
  ctx_.session = layout_.sessions[static_cast<std::size_t>(db)];
}

void TaskRun::step(int way, int choice) {
  ctx_.choice = choice;
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me()))];
  switch (instr.kind) {
    case InstrKind::Sql: sql(instr, way); return;
    case InstrKind::Redis: redis(instr, choice); return;
    case InstrKind::Call: call(instr); return;
    case InstrKind::Publish: publish(instr); break;
    case InstrKind::Reply: {
      const ReplySpec& spec = p_.replies[static_cast<std::size_t>(instr.index)];
      if (ctx_.seen != nullptr && spec.body != kNoExpr) {
        ctx_.seen->columns = {"body"};
        ctx_.seen->rows = {{eval(ctx_, spec.body)}};
      }
      reply(instr.index);
      if (!spec.continues) {
        end();
        return;
      }
      break;
    }
    case InstrKind::Pause: break;
    default: CHECK_THAT(!"a task rests at a visible step");
  }
  go(load_pc(me()) + 1);
  run_local();
}

void TaskRun::redis(const Instr& instr, int choice) {
  const RedisWay way = redis_way(p_.plan, ctx_.w, task_, instr.index, choice);
  const RedisAnswer answer = exec_redis(ctx_, instr.index, ctx_.w + layout_.locals, way);
  if (ctx_.limit) return;
  if (answer.failed()) {
    if (ctx_.seen != nullptr) ctx_.seen->error = answer.error;
    go(p_.redis_errors[static_cast<std::size_t>(instr.index)][static_cast<std::size_t>(answer.error)]);
  } else {
    go(load_pc(me()) + 1);
  }
  run_local();
}

void TaskRun::sql(const Instr& instr, int way) {
  const SqlStatement& statement = p_.plan.statements[static_cast<std::size_t>(instr.index)];
  enter_session(instr.index);
  connect(statement.db);
  std::uint8_t& flags = ctx_.w[p_.plan.layout.sessions[static_cast<std::size_t>(ctx_.session)].offset + kSessionFlags];
  if (flags & kConnectionDead) {
    flags = 0;
    go_to_handler(instr, ErrorClass::ConnectionLost);
    return;
  }
  take_connection(p_, ctx_.w, task_, statement, way);
  const ExecResult result = exec_sql(ctx_, statement, ctx_.w + layout_.locals);
  if (ctx_.limit) return;
  const bool orphaned = me()[kStatus] == kOrphaned;  // the pool closes the connection of a client that is gone
  if (result.status != ExecResult::Status::Blocked && !orphaned) give_connection_back(p_.plan, ctx_.w, ctx_.session);
  if (const DatabaseLayout& db = p_.plan.layout.databases[static_cast<std::size_t>(statement.db)]; db.synchronous) {
    replicate(p_.plan, ctx_.w, statement.db);
  }
  if (orphaned) {
    if (result.status != ExecResult::Status::Blocked) kill();
    return;
  }
  switch (result.status) {
    case ExecResult::Status::Blocked: me()[kStatus] = kBlocked; return;
    case ExecResult::Status::Done: go(load_pc(me()) + 1); break;
    case ExecResult::Status::Error:
      go(p_.sql_errors[static_cast<std::size_t>(instr.index)][static_cast<std::size_t>(result.error)]);
      break;
  }
  run_local();
}

void TaskRun::settle(Handled how) {
  const std::uint8_t* held = partitions() ? held_message(p_.plan.layout, ctx_.w, task_) : nullptr;
  if (held != nullptr && origin_cut_off(p_, ctx_.w, task_, held)) how = Handled::Abandoned;
  settle_message(p_.plan, ctx_.w, task_, how);
}

void TaskRun::go_to_handler(const Instr& instr, ErrorClass error) {
  if (ctx_.seen != nullptr) ctx_.seen->error = error;
  go(p_.sql_errors[static_cast<std::size_t>(instr.index)][static_cast<std::size_t>(error)]);
  run_local();
}

void TaskRun::fail_waiting(ErrorClass error) {
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me()))];
  CHECK_THAT(instr.kind == InstrKind::Sql);
  enter_session(instr.index);
  if (me()[kStatus] != kOrphaned && wait_gives_result(p_.plan, ctx_.w, ctx_.session, error)) {
    sql(instr, 0);
    return;
  }
  error = fail_waiting_statement(p_.plan, ctx_.w, ctx_.session, error);
  if (me()[kStatus] == kOrphaned) {
    kill();
  } else {
    give_connection_back(p_.plan, ctx_.w, ctx_.session);
    go_to_handler(instr, error);
  }
}

void TaskRun::call(const Instr& instr) {
  const CallSite& site = p_.calls[static_cast<std::size_t>(instr.index)];
  look_at_own_clock();
  if (site.route >= 0) {
    post(site.route, caller_code(), site.key, site.payload);
  } else {
    ProviderRequest request;
    request.operation = site.operation;
    request.caller = static_cast<std::uint8_t>(task_);
    request.zone = static_cast<std::uint8_t>(zone());
    if (site.key != kNoExpr) request.key = eval_cell(ctx_, site.key);
    if (site.amount != kNoExpr) request.amount = eval_cell(ctx_, site.amount);
    if (site.identity != kNoExpr) request.identity = eval_cell(ctx_, site.identity);
    if (site.target != kNoExpr) request.target = eval_cell(ctx_, site.target);
    if (!post_request(p_.plan, ctx_.w, site.provider, request)) ctx_.fail(LimitKind::Messages, 1 + site.provider);
  }
  store_pc(me(), load_pc(me()) + 1);
  me()[kStatus] = kWaitsCall;
  if (site.route < 0 && only_reads(site.operation) && p_.providers[static_cast<std::size_t>(site.provider)].lookup_instant) {
    if (!ctx_.limit) look_up(site.provider);
    return;
  }
  clear_dead_cells();
}

// Asked, looked up and answered in one event.
void TaskRun::look_up(int provider) {
  const int slot = request_slot_of(p_.plan, ctx_.w, provider, task_);
  process_request(p_, ctx_, provider, slot, ProcessChoice::Normal);
  if (!ctx_.limit) take_answer();
}

std::uint8_t* TaskRun::post(int route, std::uint8_t caller, ExprId key, const std::vector<ExprId>& payload) {
  const Layout& layout = p_.plan.layout;
  // The fields first: an expression must not see a half-written message.
  CellId values[kMaxPayload];
  CHECK_THAT(payload.size() <= kMaxPayload);
  const CellId key_value = key == kNoExpr ? kNullCell : eval_cell(ctx_, key);
  for (std::size_t i = 0; i < payload.size(); ++i) values[i] = payload[i] == kNoExpr ? kNullCell : eval_cell(ctx_, payload[i]);
  std::uint8_t* message = post_message(ctx_, route, caller, key_value, p_.routes[static_cast<std::size_t>(route)].deliveries);
  if (message == nullptr) return nullptr;
  if (partitions() && p_.routes[static_cast<std::size_t>(route)].kind == RouteKind::Call) {
    message[layout.message_zone] = static_cast<std::uint8_t>(zone());
  }
  for (std::size_t i = 0; i < payload.size(); ++i) {
    store_cell(layout, message + payload_at(layout, static_cast<int>(i)), values[i]);
  }
  return message;
}

void TaskRun::publish(const Instr& instr) {
  const Publication& publication = p_.publications[static_cast<std::size_t>(instr.index)];
  const std::uint8_t* message = post(publication.route, kNobody, publication.key, publication.payload);
  if (message == nullptr || p_.plan.layout.published < 0) return;
  const Layout& l = p_.plan.layout;
  const auto queue = static_cast<std::uint8_t>(p_.routes[static_cast<std::size_t>(publication.route)].queue + 1);
  const CellId key = load_cell(l, message + 2);
  for (int i = 0; i < l.published_slots; ++i) {
    std::uint8_t* entry = ctx_.w + l.published + i * l.published_stride;
    if (entry[0] == queue && load_cell(l, entry + 1) == key) return;
    if (entry[0] != 0) continue;
    entry[0] = queue;
    store_cell(l, entry + 1, key);
    return;
  }
  ctx_.fail(LimitKind::Messages);
}

namespace {

// What a status means to the caller of a service.
Answer answer_class(int status) {
  if (status >= 500) return Answer::Error;
  if (status == 402) return Answer::Declined;
  if (status == 404) return Answer::NotFound;
  if (status == 409) return Answer::Conflict;
  if (status == 412) return Answer::Exists;
  return status >= 400 ? Answer::Refused : Answer::Ok;
}

}  // namespace

void TaskRun::take_answer() {
  const CallSite& site = p_.calls[static_cast<std::size_t>(p_.code[static_cast<std::size_t>(load_pc(me()))].index)];
  const std::uint8_t answer = me()[kAnswer];
  const CellId id = load_cell(p_.plan.layout, me() + kAnswerId);
  if (site.route >= 0) {
    const int status = p_.replies[static_cast<std::size_t>(answer - 1)].status;
    resume_call(answer_class(status), status, id);
  } else {
    resume_call(static_cast<Answer>(answer), answer_status(static_cast<Answer>(answer)), id);
  }
}

void TaskRun::give_up_call() { resume_call(Answer::None, 0, kNullCell); }

void TaskRun::resume_call(Answer answer, int status, CellId id) {
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me()))];
  CHECK_THAT(instr.kind == InstrKind::Await);
  const CallSite& site = p_.calls[static_cast<std::size_t>(instr.index)];
  me()[kAnswer] = 0;
  if (partitions()) network(kAnswerZone) = 0;
  store_cell(p_.plan.layout, me() + kAnswerId, kNullCell);
  if (answer == Answer::None) {
    if (site.route >= 0) {
      abandon_caller(p_.plan, ctx_.w, caller_code());
    } else {
      orphan_requests(p_.plan, ctx_.w, task_);
    }
    go(site.on_timeout);
  } else {
    const Domain& domain = p_.plan.domain;
    const bool found = answer == Answer::Ok || answer == Answer::FoundUndone;
    if (site.status_cell >= 0) set_cell(site.status_cell, domain.encode(int_val(status), ctx_.limit));
    const bool objects = site.route < 0 && p_.providers[static_cast<std::size_t>(site.provider)].holds_objects;
    set_cell(site.route >= 0 || objects ? site.body_cell : site.id_cell, id);
    if (objects && site.operation == kList) {
      set_cell(site.count_cell, id);
    } else if (site.count_cell >= 0) {
      set_cell(site.count_cell, domain.encode(int_val(found ? 1 : 0), ctx_.limit));
    }
    if (site.found_cell >= 0) set_cell(site.found_cell, domain.encode(bool_val(found), ctx_.limit));
    if (site.route < 0) {
      set_cell(site.state_cell, p_.providers[static_cast<std::size_t>(site.provider)].states[static_cast<std::size_t>(answer)]);
    }
    go(site.on_answer[static_cast<std::size_t>(answer)]);
  }
  run_local();
}

void TaskRun::raise() {
  reply(0);
  end();
}

// A consumer of a queue is done with its message. Who sends a webhook hears nothing, and that is not 2xx.
void TaskRun::end() {
  const std::uint8_t* held = held_message(p_.plan.layout, ctx_.w, task_);
  const bool webhook = held != nullptr && p_.routes[static_cast<std::size_t>(held[0] - 1)].kind == RouteKind::Webhook;
  settle(webhook ? Handled::Refused : Handled::Acknowledged);
  kill();
}

void TaskRun::die() {
  const Instr& instr = p_.code[static_cast<std::size_t>(load_pc(me()))];
  if (me()[kStatus] != kBlocked || layout_.kind != TaskKind::Request) {
    kill();
    return;
  }
  enter_session(instr.index);
  settle_message(p_.plan, ctx_.w, task_, Handled::Abandoned);
  orphan_requests(p_.plan, ctx_.w, task_);
  forget_task(p_.plan, ctx_.w, task_);
  for (int s : layout_.sessions) {
    if (s >= 0 && s != ctx_.session) end_session(p_.plan, ctx_.w, s);
  }
  if (partitions()) network(kLeft) = 0;
  me()[kStatus] = kOrphaned;
  me()[kInstance] = kNobody;
  me()[kSender] = kNobody;
}

void TaskRun::kill() {
  settle_message(p_.plan, ctx_.w, task_, Handled::Abandoned);
  if (p_.calls_services) abandon_caller(p_.plan, ctx_.w, caller_code());
  orphan_requests(p_.plan, ctx_.w, task_);
  forget_task(p_.plan, ctx_.w, task_);
  bool lingers = false;
  for (std::size_t db = 0; db < layout_.sessions.size(); ++db) {
    if (session_outlives(p_, ctx_.w, task_, static_cast<int>(db))) {
      lingers = true;
    } else if (layout_.sessions[db] >= 0) {
      end_session(p_.plan, ctx_.w, layout_.sessions[db]);
    }
  }
  std::memset(me(), 0, static_cast<std::size_t>(layout_.bytes));
  if (!lingers) return;
  me()[kStatus] = kLingering;
  me()[kInstance] = kNobody;
  me()[kSender] = kNobody;
}

void TaskRun::next_row(const Instr& instr, int& pc) {
  const Queue& queue = p_.queues[static_cast<std::size_t>(instr.index)];
  const Layout& layout = p_.plan.layout;
  std::uint8_t* locals = ctx_.w + layout_.locals;
  const Val left = p_.plan.domain.decode(load_cell(layout, locals + queue.count_cell * layout.cell));
  const int width = static_cast<int>(queue.row_cells.size());
  if (left.kind != Kind::Int || left.n <= 0) {
    take_branch(instr.branch + 1);
    set_cell(queue.count_cell, kNullCell);
    for (int cell : queue.row_cells) set_cell(cell, kNullCell);
    pc = instr.target;
    return;
  }
  take_branch(instr.branch);
  for (int c = 0; c < width; ++c) {
    set_cell(queue.row_cells[static_cast<std::size_t>(c)],
             load_cell(layout, locals + (queue.first + c) * layout.cell));
  }
  // The queue moves up, so that equal rests of it are equal bytes.
  for (int i = 0; i < queue.rows * width; ++i) {
    const bool last = i + width >= queue.rows * width;
    set_cell(queue.first + i,
             last ? kNullCell : load_cell(layout, locals + (queue.first + i + width) * layout.cell));
  }
  set_cell(queue.count_cell, p_.plan.domain.encode(int_val(left.n - 1), ctx_.limit));
  ++pc;
}

// Local steps compare with the clock of their instance, statements with the server's.
void TaskRun::look_at_own_clock() {
  const Layout& layout = p_.plan.layout;
  const auto service = static_cast<std::size_t>(layout_.service);
  const std::uint8_t instance = me()[kInstance];
  if (layout.clocks[service] < 0 || instance == kNobody) return;
  ctx_.clock = layout.clocks[service] + instance;
  ctx_.clock_ahead = (ctx_.w[layout.instances[service] + instance] & kClockAhead) != 0;
}

void TaskRun::run_local() {
  look_at_own_clock();
  int pc = load_pc(me());
  for (int steps = 0;; ++steps) {
    if (ctx_.limit) return;
    if (steps > kMaxLocalSteps) {
      ctx_.fail(LimitKind::LocalLoop);
      return;
    }
    const Instr& instr = p_.code[static_cast<std::size_t>(pc)];
    switch (instr.kind) {
      case InstrKind::Branch: {
        const bool holds = is_true(eval(ctx_, instr.expr));
        take_branch(instr.branch + (holds ? 0 : 1));
        pc = holds ? pc + 1 : instr.target;
        break;
      }
      case InstrKind::Mark:
        take_branch(instr.branch);
        ++pc;
        break;
      case InstrKind::Jump: pc = instr.target; break;
      case InstrKind::Set:
        visit(pc);
        set_cell(instr.index, eval_cell(ctx_, instr.expr));
        ++pc;
        break;
      case InstrKind::Next: next_row(instr, pc); break;
      case InstrKind::Raise: raise(); return;
      case InstrKind::End:
        visit(pc);
        end();
        return;
      default:
        go(pc);
        clear_dead_cells();
        return;
    }
  }
}

void TaskRun::clear_dead_cells() {
  if (!p_.clear_dead) return;
  for (int cell : p_.dead_cells[static_cast<std::size_t>(load_pc(me()))]) set_cell(cell, kNullCell);
}

}  // namespace oncecheck

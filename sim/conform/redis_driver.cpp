#include "sim/conform/redis_driver.hpp"

#include <algorithm>
#include <optional>

#include "model/program/redis_call_reader.hpp"
#include "sim/conform/outcome_of.hpp"
#include "sim/conform/redis_server.hpp"

namespace oncecheck {

namespace {

const char* error_word(ErrorClass e) {
  switch (e) {
    case ErrorClass::NoReplicas: return "NOREPLICAS";
    case ErrorClass::OutOfMemory: return "OOM";
    case ErrorClass::ReadOnlyReplica: return "READONLY";
    case ErrorClass::ExecAborted: return "EXECABORT";
    case ErrorClass::MasterDown: return "MASTERDOWN";
    case ErrorClass::Unblocked: return "UNBLOCKED";
    case ErrorClass::ConnectionLost: return "CONN_LOST";
    default: return "ERR";
  }
}

struct Got {
  Json result;
  std::string error;
  int until = 0;
  std::optional<bool> waited;
};

// What the model has no answer to.
struct NotModelled {
  std::string what;
};

class RedisDriver {
 public:
  RedisDriver(const Vector& vector, const Recording& recording, const RedisVectorProgram& program)
      : v_(*vector.redis), r_(recording), program_(program), servers_(v_, program), got_(v_.steps.size()) {}

  DriveResult run() {
    try {
      servers_.settle();
      for (step_ = 0; step_ < static_cast<int>(v_.steps.size()) && !servers_.limit(); ++step_) {
        perform(v_.steps[static_cast<std::size_t>(step_)]);
        servers_.settle();
        unblock();
      }
    } catch (const NotModelled& e) {
      result_.limit = e.what + " (at /steps/" + std::to_string(step_) + ")";
      return std::move(result_);
    }
    if (servers_.limit()) {
      result_.limit = bound_words(servers_.limit().kind);
      result_.missing_texts = servers_.missing().texts;
      result_.missing_ints = servers_.missing().ints;
      return std::move(result_);
    }
    compare();
    result_.reached = result_.divergences.empty();
    return std::move(result_);
  }

 private:
  struct Blocked {
    int step;
    bool waits;          // WAIT without a time-out; else a write while writes are paused
    std::int64_t until;
  };

  Got& got(int step) {
    std::optional<Got>& g = got_[static_cast<std::size_t>(step)];
    if (!g) g.emplace();
    return *g;
  }
  void done(int step, Json result, std::string error = {}) {
    Got& g = got(step);
    g.result = error.empty() ? std::move(result) : Json();
    g.error = std::move(error);
    g.until = step_;
  }
  void ok(Json result = "OK") { done(step_, std::move(result)); }

  void perform(const RedisStep& s) {
    switch (s.op) {
      case RedisVectorOp::Command: command(s); return;
      case RedisVectorOp::Sleep: sleep(s.milliseconds); break;
      case RedisVectorOp::Kill:
      case RedisVectorOp::PowerCut:
      case RedisVectorOp::SigTerm: servers_.stop(s.node, s.op); break;
      case RedisVectorOp::Restart: servers_.restart(s.node, s.primary); break;
      case RedisVectorOp::Promote: servers_.promote(s.node); break;
      case RedisVectorOp::ReplicaOf: servers_.follow(s.node, s.primary); break;
      case RedisVectorOp::Sync: break;  // settle() follows
      case RedisVectorOp::Partition: servers_.cut(s.node, s.word == "reset"); break;
      case RedisVectorOp::Heal: servers_.heal(s.node); break;
      case RedisVectorOp::Pause: servers_.pause(s.node, true); break;
      case RedisVectorOp::Resume: servers_.pause(s.node, false); break;
      case RedisVectorOp::Clock: servers_.set_clock(s.node, s.milliseconds); break;
      case RedisVectorOp::Info: ok(info(s)); return;
      case RedisVectorOp::SentinelStart: break;
      case RedisVectorOp::SentinelWait: sentinel(s); return;
      case RedisVectorOp::WaitRole:
        servers_.settle();
        ok(servers_.is_primary_node(s.node) ? "master" : "slave");
        return;
      case RedisVectorOp::Other: throw NotModelled{"the operation " + s.word};
    }
    ok();
  }

  Json info(const RedisStep& s) {
    if (s.word == "master_link_status") return servers_.is_cut(s.node) ? "down" : "up";
    if (s.word == "sync_full") return servers_.full_copies(s.node);
    if (s.word == "role") return servers_.is_primary_node(s.node) ? "master" : "slave";
    throw NotModelled{"the field " + s.word + " of INFO"};
  }

  // Sentinel promotes a replica once the primary has been silent for long enough.
  void sentinel(const RedisStep& s) {
    bool primary_up = false;
    for (int n = 0; n < static_cast<int>(v_.nodes.size()); ++n) primary_up = primary_up || (servers_.up(n) && servers_.is_primary_node(n));
    if (!primary_up) {
      constexpr std::int64_t kDownAfter = 2000;
      servers_.pass(kDownAfter);
      const int next = servers_.elect();
      if (next < 0) throw NotModelled{"a Sentinel without a replica"};
      servers_.promote(next);
    }
    for (int n = 0; n < static_cast<int>(v_.nodes.size()); ++n) {
      if (servers_.up(n) && servers_.is_primary_node(n)) ok(v_.nodes[static_cast<std::size_t>(n)].name);
    }
    (void)s;
  }

  void sleep(std::int64_t milliseconds) {
    const std::int64_t end = servers_.clock() + milliseconds;
    if (writes_paused_until_ > servers_.clock() && writes_paused_until_ <= end) {
      servers_.pass(writes_paused_until_ - servers_.clock());
      unblock();
    }
    servers_.pass(end - servers_.clock());
  }

  void command(const RedisStep& s) {
    if (!servers_.up(s.node)) {
      done(step_, nullptr, "CONN_REFUSED");
      return;
    }
    if (servers_.paused(s.node)) throw NotModelled{"a command at a node that is stopped"};
    if (is_server_command(s)) {
      server_command(s);
      return;
    }
    servers_.look_at(s.node, s.args);
    const int number = program_.commands[static_cast<std::size_t>(step_)];
    const RedisCommand& c = program_.program->plan.redis_commands[static_cast<std::size_t>(number)];
    const int task = program_.tasks[static_cast<std::size_t>(step_)];
    if (writes_paused_until_ > servers_.clock() && (redis_writes(c.call) || c.call.op == RedisOp::Eval)) {
      blocked_.push_back({step_, false, writes_paused_until_});
      return;
    }
    if (c.call.op == RedisOp::Wait && servers_.is_primary_node(s.node)) {
      wait(c, task);
      return;
    }
    execute(step_);
  }

  void execute(int step) {
    const int task = program_.tasks[static_cast<std::size_t>(step)], number = program_.commands[static_cast<std::size_t>(step)];
    const RedisAnswer answer = servers_.command(task, number);
    const RedisCommand& c = program_.program->plan.redis_commands[static_cast<std::size_t>(number)];
    if (answer.failed()) {
      done(step, nullptr, error_of(answer));
    } else {
      done(step, result_of_answer(c, answer, program_.nodes[static_cast<std::size_t>(task)]));
    }
  }

  void wait(const RedisCommand& c, int task) {
    const bool enough = servers_.confirming(task) >= c.call.number;
    if (!enough && c.call.milliseconds == 0) {
      blocked_.push_back({step_, true, kNever});
      return;
    }
    if (!enough) servers_.pass(c.call.milliseconds);
    execute(step_);
    got(step_).waited = !enough;
  }

  // What waited goes on where it can.
  void unblock() {
    std::vector<Blocked> left;
    for (const Blocked& b : blocked_) {
      const auto at = static_cast<std::size_t>(b.step);
      if (b.waits) {
        const RedisCommand& c = program_.program->plan.redis_commands[static_cast<std::size_t>(program_.commands[at])];
        if (!servers_.is_primary_node(v_.steps[at].node)) {
          done(b.step, nullptr, error_word(ErrorClass::Unblocked));
        } else if (servers_.confirming(program_.tasks[at]) >= c.call.number) {
          execute(b.step);
        } else {
          left.push_back(b);
        }
      } else if (servers_.clock() >= b.until) {
        execute(b.step);
      } else {
        left.push_back(b);
      }
    }
    blocked_ = std::move(left);
  }

  void server_command(const RedisStep& s) {
    std::vector<std::string> words;
    for (const std::string& a : s.args) words.push_back(upper_case(a));
    const std::size_t n = words.size();
    if (words[0] == "DEBUG" && n == 3 && words[1] == "SET-ACTIVE-EXPIRE") {
      servers_.set_active_expire(s.node, words[2] == "1");
    } else if (words[0] == "CONFIG" && n == 4 && words[1] == "SET" && words[2] == "MAXMEMORY-POLICY" && words[3] == "NOEVICTION") {
      // the policy that is modelled
    } else if (words[0] == "CONFIG" && n == 4 && words[1] == "SET" && words[2] == "MAXMEMORY" && (words[3] == "0" || words[3] == "1")) {
      servers_.set_memory_full(s.node, words[3] == "1");  // less than an empty server takes
    } else if (words[0] == "REPLICAOF" && n == 3) {
      if (words[1] == "NO") {
        servers_.promote(s.node);
      } else {
        servers_.follow(s.node, -1);
      }
    } else if (words[0] == "FAILOVER" && n == 1) {
      servers_.swap(s.node);
    } else if (words[0] == "SAVE" && n == 1) {
      servers_.save(s.node);
    } else if (words[0] == "CLIENT" && n == 4 && words[1] == "PAUSE" && words[3] == "WRITE" &&
               words[2].find_first_not_of("0123456789") == std::string::npos && words[2].size() < 8) {
      writes_paused_until_ = servers_.clock() + std::stoll(words[2]);
    } else {
      throw NotModelled{"the command " + s.args[0] + " with these arguments"};
    }
    ok();
  }

  // The first word; a script's own error has its own.
  std::string error_of(const RedisReply& reply) const {
    if (reply.cell == kNullCell) return error_word(reply.error);
    const Json text = servers_.shown(reply.cell);
    return text.is_string() ? text.get<std::string>().substr(0, text.get<std::string>().find(' ')) : "ERR";
  }

  Json reply_json(const RedisCommand& c, const RedisReply& reply, int node) {
    switch (reply.kind) {
      case RedisReply::Kind::Nil: return nullptr;
      case RedisReply::Kind::Int: return reply.n;
      case RedisReply::Kind::Bulk:
      case RedisReply::Kind::Text: return servers_.shown(reply.cell);
      case RedisReply::Kind::Ok: return "OK";
      case RedisReply::Kind::Queued: return "QUEUED";
      case RedisReply::Kind::Pong: return "PONG";
      case RedisReply::Kind::TypeString: return "string";
      case RedisReply::Kind::TypeNone: return "none";
      case RedisReply::Kind::Error: return Json{{"error", error_of(reply)}};
      case RedisReply::Kind::Left: {
        const std::int64_t left = servers_.left(node, static_cast<int>(reply.n));
        return c.call.number == 1 ? left : (left + 500) / 1000;
      }
      case RedisReply::Kind::List: break;
    }
    return nullptr;
  }

  Json result_of_answer(const RedisCommand& c, const RedisAnswer& answer, int node) {
    if (answer.kind != RedisReply::Kind::List) return reply_json(c, answer, node);
    Json out = Json::array();
    for (int i = 0; i < answer.count; ++i) out.push_back(reply_json(c, answer.items[i], node));
    return out;
  }

  // ---- against the record

  static bool same_json(const Json& got, const Json& expected) {
    if (!expected.is_object() || !expected.contains("between")) return got == expected;
    return got.is_number() && got >= expected["between"][0] && got <= expected["between"][1];
  }

  void compare() {
    for (std::size_t i = 0; i < got_.size(); ++i) {
      const RecordedOutcome& expected = r_.outcomes[i];
      const int step = static_cast<int>(i);
      if (!got_[i]) {
        leave(step, describe_redis(expected.result, expected.error, step, expected.until), "nothing: it still waits");
        return;
      }
      const Got& g = *got_[i];
      const bool same = g.error == expected.error && g.until == expected.until && (!g.error.empty() || same_json(g.result, expected.result)) &&
                        (!expected.waited || g.waited == expected.waited);
      if (same) continue;
      auto waited = [](const std::optional<bool>& w) { return w && *w ? " after the whole time-out" : ""; };
      leave(step, describe_redis(expected.result, expected.error, step, expected.until) + waited(expected.waited),
            describe_redis(g.result, g.error, step, g.until) + waited(g.waited));
      return;
    }
    Divergence end;
    end.step = static_cast<int>(v_.steps.size());
    for (int n = 0; n < static_cast<int>(v_.nodes.size()); ++n) {
      const std::string& name = v_.nodes[static_cast<std::size_t>(n)].name;
      const Json expected = r_.tables.value(name, Json());
      const Json found = servers_.contents(n);
      if (found != expected) end.lines.push_back({-1, name + ": " + expected.dump(), name + ": " + found.dump()});
    }
    if (!end.lines.empty()) result_.divergences.push_back(std::move(end));
  }

  void leave(int step, const std::string& expected, const std::string& got) {
    result_.divergences.push_back({step, {{step, expected, got}}});
  }

  const RedisVector& v_;
  const Recording& r_;
  const RedisVectorProgram& program_;
  RedisServers servers_;
  std::vector<std::optional<Got>> got_;
  std::vector<Blocked> blocked_;
  std::int64_t writes_paused_until_ = 0;
  int step_ = 0;
  DriveResult result_;
};

}  // namespace

DriveResult drive_redis(const Vector& vector, const Recording& recording, const RedisVectorProgram& program) {
  return RedisDriver(vector, recording, program).run();
}

}  // namespace oncecheck

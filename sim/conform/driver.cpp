#include "sim/conform/driver.hpp"

#include <algorithm>
#include <set>

#include "model/step/canonical.hpp"
#include "model/world/innodb_transaction.hpp"
#include "model/world/ssi.hpp"
#include "model/world/time.hpp"
#include "model/world/transaction.hpp"
#include "model/world/wait_graph.hpp"
#include "sim/conform/outcome_of.hpp"
#include "sim/conform/path.hpp"
#include "sim/conform/server_model.hpp"
#include "sim/conform/timers.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMostPaths = 20'000;

class Driver {
 public:
  Driver(const Vector& vector, const Recording& recording, const VectorProgram& program, Victims victims)
      : v_(vector), r_(recording), vp_(program), p_(*program.program), plan_(p_.plan), victims_(victims),
        model_sessions_(program.sessions) {
    if (vp_.administrator >= 0) model_sessions_.push_back(vp_.administrator);
  }
  DriveResult run() {
    Path first;
    first.world = p_.initial;
    first.sessions.resize(model_sessions_.size());
    for (SessionRun& s : first.sessions) s.timeouts = s.outside = default_timeouts(v_.engine);
    first.deadlines.assign(static_cast<std::size_t>(plan_.layout.deadline_slots), kNever);
    std::vector<Path> paths = administrator({first}, vp_.setup);
    for (step_ = 0; step_ < static_cast<int>(r_.steps.size()) && !paths.empty() && !stopped(); ++step_) {
      paths = matching(after_step(std::move(paths)));
    }
    if (!stopped() && !paths.empty()) paths = at_the_end(std::move(paths));
    result_.reached = !paths.empty() && result_.limit.empty();
    keep_latest(result_.divergences);
    return std::move(result_);
  }

 private:
  using Paths = std::vector<Path>;
  bool stopped() const { return !result_.limit.empty(); }
  const SqlStatement& statement_of(int number) const { return plan_.statements[static_cast<std::size_t>(number)]; }
  SessionRun& run_of(Path& p, int s) const { return p.sessions[static_cast<std::size_t>(s)]; }
  const SessionRun& run_of(const Path& p, int s) const { return p.sessions[static_cast<std::size_t>(s)]; }
  int model_session(int s) const { return model_sessions_[static_cast<std::size_t>(s)]; }
  std::uint8_t tx_of(const Path& p, int s) const {
    return p.world[static_cast<std::size_t>(plan_.layout.sessions[static_cast<std::size_t>(model_session(s))].offset + kTx)];
  }
  int session_count() const { return static_cast<int>(model_sessions_.size()); }

  // ---- one statement

  // Runs, or goes on with, the statement of a session, with each choice that the server has.
  void execute(Path from, int s, Paths& out) {
    const SqlStatement& statement = statement_of(run_of(from, s).statement);
    const int choices = ssi_choices(plan_, from.world.data(), model_session(s), model_session(s), statement);
    for (int choice = 0; choice < choices && !stopped(); ++choice) {
      Path p = from;
      with_context(p, s, [&](Context& ctx, std::uint8_t* locals) {
        ctx.choice = choice;
        return exec_sql(ctx, statement, locals);
      });
      out.push_back(std::move(p));
    }
  }

  void fail(Path& p, int s, ErrorClass error) {
    const SqlStatement& statement = statement_of(run_of(p, s).statement);
    with_context(p, s, [&](Context& ctx, std::uint8_t* locals) { return fail_waiting(ctx, statement, locals, error); });
  }

  template <class Act>
  void with_context(Path& p, int s, Act act) {
    const std::vector<std::uint8_t> before(p.world.begin(), p.world.end());
    const bool failed = tx_of(p, s) == kFailedTx;
    Context ctx(plan_, p.world.data(), scratch_);
    Observation seen;
    Missing missing;
    ctx.seen = &seen;
    ctx.missing = &missing;
    ctx.session = model_session(s);
    ctx.task = plan_.layout.sessions[static_cast<std::size_t>(ctx.session)].task;
    std::uint8_t* locals = p.world.data() + plan_.layout.tasks[static_cast<std::size_t>(ctx.task)].locals;
    ctx.locals = locals;
    const std::size_t mark = scratch_.mark();
    const ExecResult result = act(ctx, locals);
    scratch_.release(mark);
    if (ctx.limit) {
      limit(ctx.limit, missing);
      return;
    }
    note_deadlines(p, before, statement_of(run_of(p, s).statement));
    take_result(p, s, result, seen, failed);
    canonical(p);
  }

  void limit(const Limit& l, const Missing& missing) {
    result_.limit = bound_words(l.kind);
    result_.missing_texts = missing.texts;
    result_.missing_ints = missing.ints;
  }

  void take_result(Path& p, int s, const ExecResult& result, const Observation& seen, bool failed) {
    SessionRun& run = run_of(p, s);
    const SqlStatement& statement = statement_of(run.statement);
    if (result.status == ExecResult::Status::Blocked) {
      run.wait_step = step_;
      run.wait_since = p.clock;
      p.closer = s;
      // Nobody holds it up: what is left is the commit.
      if (!waits(plan_, p.world.data(), model_session(s))) run.result = result_of(plan_, v_.engine, statement, seen, failed);
      return;
    }
    StepOutcome o;
    o.step = run.step;
    o.until = step_;
    o.error = result.error;
    if (result.status == ExecResult::Status::Done) {
      o.result = run.result.is_null() ? result_of(plan_, v_.engine, statement, seen, failed) : run.result;
      o.ordered = is_ordered(plan_, statement);
    }
    if (o.error == ErrorClass::None) set_timeout(run.timeouts, run.outside, statement);
    if (tx_of(p, s) == kNoTx) run.timeouts = run.outside;
    run.step = run.statement = -1;
    run.wait_step = -1;
    run.wait_since = 0;
    run.since = p.clock;
    run.result = nullptr;
    if (!run.lost) {
      if (o.step >= 0) p.returned.push_back(std::move(o));
    } else {
      end_session(plan_, p.world.data(), model_session(s));  // the server finds that nobody listens any more
    }
  }

  // Deadlines are numbered by slot, which canonical form renumbers: then they stay as they are.
  void canonical(Path& p) const {
    for (int d = 0; d < plan_.layout.deadline_slots; ++d) {
      if (deadline_state(plan_.layout, p.world.data(), d) != 0) return;
    }
    make_canonical(p_, p.world.data(), nullptr);
  }

  // ---- time

  void note_deadlines(Path& p, const std::vector<std::uint8_t>& before, const SqlStatement& statement) const {
    for (int d = 0; d < plan_.layout.deadline_slots; ++d) {
      const std::uint16_t now = deadline_state(plan_.layout, p.world.data(), d);
      std::int64_t& at = p.deadlines[static_cast<std::size_t>(d)];
      if (now == 0) at = kNever;
      if (now == kRunning && deadline_state(plan_.layout, before.data(), d) != kRunning) {
        const std::int64_t length = deadline_length(plan_, statement);
        at = length == kNever ? kNever : p.clock + length;
      }
    }
  }

  struct Timer {
    std::int64_t at = kNever;
    int session = -1;
    int deadline = -1;
    ErrorClass error = ErrorClass::None;
  };

  Timer next_timer(const Path& p) const {
    Timer next;
    for (std::size_t d = 0; d < p.deadlines.size(); ++d) {
      if (p.deadlines[d] < next.at) next = {p.deadlines[d], -1, static_cast<int>(d), ErrorClass::None};
    }
    auto sooner = [&](std::int64_t since, std::int64_t length, int s, ErrorClass error) {
      if (length != kNever && since + length < next.at) next = {since + length, s, -1, error};
    };
    for (int s = 0; s < static_cast<int>(v_.sessions.size()); ++s) {
      const SessionRun& run = run_of(p, s);
      if (!run.running()) {
        if (!run.lost && idles(run.timeouts, tx_of(p, s) != kNoTx)) sooner(run.since, run.timeouts.idle, s, ErrorClass::ConnectionLost);
        continue;
      }
      if (!waits(plan_, p.world.data(), model_session(s))) continue;
      const SqlStatement& statement = statement_of(run.statement);
      sooner(run.wait_since, lock_wait(plan_, v_.engine, run.timeouts, statement), s, ErrorClass::LockTimeout);
      sooner(run.since, run.timeouts.statement, s, ErrorClass::StatementTimeout);
    }
    return next;
  }

  void fire(Path& p, const Timer& t) {
    p.clock = std::max(p.clock, t.at);
    if (t.deadline >= 0) {
      p.deadlines[static_cast<std::size_t>(t.deadline)] = kNever;
      pass_deadline(plan_, p.world.data(), t.deadline);
    } else if (t.error == ErrorClass::ConnectionLost) {
      terminate(p, t.session);
    } else {
      fail(p, t.session, t.error);
    }
  }

  Paths pass_time(Paths paths, int milliseconds) {
    std::vector<std::pair<Path, std::int64_t>> work;
    for (Path& p : paths) {
      const std::int64_t until = p.clock + milliseconds;
      work.emplace_back(std::move(p), until);
    }
    Paths out;
    while (!work.empty() && !stopped()) {
      auto [p, until] = std::move(work.back());
      work.pop_back();
      const Timer t = next_timer(p);
      if (t.at > until) {
        p.clock = until;
        out.push_back(std::move(p));
        continue;
      }
      fire(p, t);
      for (Path& next : settled({std::move(p)})) work.emplace_back(std::move(next), until);
    }
    return out;
  }

  // While a session is blocked, the recorder let time pass after each step.
  Paths pass_blocked_time(Paths paths) {
    Paths out;
    for (Path& p : paths) {
      const bool blocked = std::any_of(p.sessions.begin(), p.sessions.end(), [](const SessionRun& s) { return s.running() && !s.lost; });
      if (!blocked) {
        out.push_back(std::move(p));
        continue;
      }
      for (Path& next : pass_time({std::move(p)}, v_.step_ms)) out.push_back(std::move(next));
    }
    return out;
  }

  // ---- until nothing moves

  Paths settled(Paths work) {
    std::set<std::string> seen;
    Paths out;
    while (!work.empty() && !stopped()) {
      Path p = std::move(work.back());
      work.pop_back();
      if (!seen.insert(key_of(p)).second) continue;
      if (seen.size() > kMostPaths) {
        result_.limit = "more than " + std::to_string(kMostPaths) + " ways to go on";
        return {};
      }
      const std::size_t before = work.size();
      moves(p, work);
      if (work.size() == before) out.push_back(std::move(p));
    }
    return out;
  }

  void moves(const Path& p, Paths& out) {
    // InnoDB looks for a circle before it lets a session wait; PostgreSQL when it has waited for a while.
    if (is_innodb(v_.engine) && break_circle(p, out)) return;
    const std::size_t before = out.size();
    for (int s = 0; s < session_count(); ++s) {
      const SessionRun& run = run_of(p, s);
      if (run.running() && !run.paused && !waits(plan_, p.world.data(), model_session(s))) execute(p, s, out);
    }
    if (out.size() == before) break_circle(p, out);
  }

  bool break_circle(const Path& p, Paths& out) {
    const std::vector<int> circle = deadlocked(plan_, p.world.data());
    if (circle.empty()) return false;
    for (int s = 0; s < session_count(); ++s) {
      if (!run_of(p, s).running() || !is_victim(p, s, circle)) continue;
      Path next = p;
      fail(next, s, ErrorClass::Deadlock);
      out.push_back(std::move(next));
    }
    return true;
  }

  bool is_victim(const Path& p, int s, const std::vector<int>& circle) const {
    auto in_circle = [&](int other) { return std::find(circle.begin(), circle.end(), model_session(other)) != circle.end(); };
    if (!in_circle(s)) return false;
    if (victims_ == Victims::Any) return true;
    if (is_innodb(v_.engine)) {
      const bool closed = p.closer >= 0 && in_circle(p.closer);
      std::vector<std::uint8_t> world = p.world;
      return model_session(s) == expected_victim(plan_, world.data(), closed ? model_session(p.closer) : circle.front());
    }
    // Those who began to wait before this step have looked for a circle already and found none.
    bool any_new = false;
    for (int other = 0; other < session_count(); ++other) {
      any_new = any_new || (in_circle(other) && run_of(p, other).wait_step == step_);
    }
    return !any_new || run_of(p, s).wait_step == step_;
  }

  // ---- steps

  Paths administrator(Paths paths, const std::vector<int>& statements) {
    step_ = -1;
    for (int statement : statements) {
      Paths next;
      for (Path& p : paths) {
        start(p, session_count() - 1, -1, statement);
        execute(std::move(p), session_count() - 1, next);
      }
      if (stopped()) return {};
      paths = settled(std::move(next));
    }
    return paths;
  }

  static void start(Path& p, int s, int step, int statement) {
    SessionRun& run = p.sessions[static_cast<std::size_t>(s)];
    run.since = p.clock;
    run.step = step;
    run.statement = statement;
  }

  Paths after_step(Paths paths) {
    const VectorStep& step = r_.steps[static_cast<std::size_t>(step_)];
    Paths next;
    if (victims_ == Victims::Any && is_innodb(v_.engine)) purged(paths);
    for (Path& p : paths) {
      p.returned.clear();
      perform(std::move(p), step, next);
      if (stopped()) return {};
    }
    next = settled(std::move(next));
    if (step.op == VectorOp::Sleep) next = pass_time(std::move(next), step.milliseconds);
    return pass_blocked_time(std::move(next));
  }

  // InnoDB purges deleted rows up to a second after the commit: the steps of a vector are mostly faster, but it may have come.
  void purged(Paths& paths) const {
    for (std::size_t i = 0, n = paths.size(); i < n; ++i) {
      Path p = paths[i];
      innodb_purge(plan_, p.world.data(), 0);
      if (p.world == paths[i].world) continue;
      canonical(p);
      paths.push_back(std::move(p));
    }
  }

  void perform(Path p, const VectorStep& step, Paths& out) {
    const int s = step.session;
    if (step.op != VectorOp::Sql) {
      StepOutcome o;
      o.step = o.until = step_;
      o.result = "OK";
      p.returned.push_back(std::move(o));
    }
    switch (step.op) {
      case VectorOp::Sql:
        if (run_of(p, s).lost) {
          lose(p, s, step_);
          break;
        }
        start(p, s, step_, vp_.steps[static_cast<std::size_t>(step_)]);
        execute(std::move(p), s, out);
        return;
      case VectorOp::Redis:
      case VectorOp::Sleep: break;
      case VectorOp::Terminate: terminate(p, s); break;
      case VectorOp::Cancel:
        if (run_of(p, s).running()) fail(p, s, ErrorClass::StatementTimeout);
        break;
      case VectorOp::DropClient:
        // A server that waits for a lock does not listen to its client: the statement goes on.
        if (!run_of(p, s).running()) {
          terminate(p, s);
        } else if (!run_of(p, s).lost) {
          lose(p, s, run_of(p, s).step);
        }
        break;
      case VectorOp::Reconnect:
        if (!run_of(p, s).running()) end_session(plan_, p.world.data(), model_session(s));
        run_of(p, s).lost = false;
        break;
      case VectorOp::Pause: run_of(p, s).paused = true; break;
      case VectorOp::Resume: run_of(p, s).paused = false; break;
    }
    out.push_back(std::move(p));
  }

  void lose(Path& p, int s, int step) const {
    run_of(p, s).lost = true;
    StepOutcome o;
    o.step = step;
    o.until = step_;
    o.error = ErrorClass::ConnectionLost;
    p.returned.push_back(std::move(o));
  }

  void terminate(Path& p, int s) const {
    SessionRun& run = run_of(p, s);
    if (run.running() && !run.lost) lose(p, s, run.step);
    run.lost = true;
    run.step = run.statement = -1;
    end_session(plan_, p.world.data(), model_session(s));
    canonical(p);
  }

  // ---- against the record

  Paths matching(Paths paths) {
    Paths out;
    for (Path& p : paths) {
      Divergence d;
      d.step = step_;
      std::vector<bool> returned(static_cast<std::size_t>(step_) + 1, false);
      for (const StepOutcome& o : p.returned) {
        returned[static_cast<std::size_t>(o.step)] = true;
        const RecordedOutcome& expected = r_.outcomes[static_cast<std::size_t>(o.step)];
        if (!same_outcome(v_.engine, o, expected)) d.lines.push_back({o.step, describe(expected, o.step), describe(v_.engine, o)});
      }
      for (int i = 0; i <= step_; ++i) {
        const RecordedOutcome& expected = r_.outcomes[static_cast<std::size_t>(i)];
        if (expected.until == step_ && !returned[static_cast<std::size_t>(i)]) {
          d.lines.push_back({i, describe(expected, i), "blocked"});
        }
      }
      p.returned.clear();
      if (d.lines.empty()) {
        out.push_back(std::move(p));
      } else {
        leave(result_.divergences, std::move(d));
      }
    }
    return out;
  }

  Paths at_the_end(Paths paths) {
    step_ = static_cast<int>(r_.steps.size());
    for (Path& p : paths) {
      for (int s = 0; s < static_cast<int>(v_.sessions.size()); ++s) {
        run_of(p, s).paused = false;
        if (run_of(p, s).lost) continue;
        terminate(p, s);
      }
    }
    paths = settled(std::move(paths));
    for (Path& p : paths) p.returned.clear();
    paths = administrator(std::move(paths), vp_.teardown);
    Paths out;
    for (Path& p : paths) {
      Divergence d;
      d.step = static_cast<int>(r_.steps.size());
      for (std::size_t t = 0; t < vp_.reads.size() && !stopped(); ++t) {
        const Json got = read_table(p, vp_.reads[t]);
        const Json& expected = r_.tables.at(vp_.tables[t]);
        if (!same_result(got, expected, false)) {
          d.lines.push_back({-1, vp_.tables[t] + " " + expected.dump(), vp_.tables[t] + " " + got.dump()});
        }
      }
      if (d.lines.empty()) {
        out.push_back(std::move(p));
      } else {
        leave(result_.divergences, std::move(d));
      }
    }
    return out;
  }

  Json read_table(Path& p, int statement) {
    p.returned.clear();
    start(p, session_count() - 1, 0, statement);
    Paths next;
    execute(p, session_count() - 1, next);
    if (next.empty() || next.front().returned.empty()) return nullptr;
    p = std::move(next.front());
    return p.returned.front().result;
  }

  const Vector& v_;
  const Recording& r_;
  const VectorProgram& vp_;
  const Program& p_;
  const Plan& plan_;
  Victims victims_;
  std::vector<int> model_sessions_;
  int step_ = 0;
  Scratch scratch_;
  DriveResult result_;
};

}  // namespace

DriveResult drive(const Vector& vector, const Recording& recording, const VectorProgram& program, Victims victims) {
  return Driver(vector, recording, program, victims).run();
}

}  // namespace oncecheck

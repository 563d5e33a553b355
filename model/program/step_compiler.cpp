#include "model/program/step_compiler.hpp"

#include <algorithm>
#include <set>

#include "model/program/expr_compiler.hpp"
#include "model/program/redis_compiler.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/statement_compiler.hpp"
#include "model/program/step_words.hpp"

namespace oncecheck {

namespace {

class BodyCompiler {
 public:
  BodyCompiler(CompileState& state, LocalNames& names, const std::string& root, TaskKind kind)
      : state_(state), p_(state.program), names_(names), root_(root), kind_(kind) {}

  int compile(const std::vector<Step>& steps) {
    declare(steps);
    const int entry = here();
    raise_ = -1;
    block(steps, root_);
    emit({InstrKind::End, -1, -1, kNoExpr, -1});
    raise_ = here();
    emit({InstrKind::Raise, -1, -1, kNoExpr, -1});
    for (const auto& [place, classes] : unset_errors_) {
      for (int c : classes) targets(place)[static_cast<std::size_t>(c)] = raise_;
    }
    for (int site : unset_timeouts_) p_.calls[static_cast<std::size_t>(site)].on_timeout = raise_;
    for (const auto& [site, answer] : unset_answers_) {
      p_.calls[static_cast<std::size_t>(site)].on_answer[static_cast<std::size_t>(answer)] = raise_;
    }
    fill_results();
    return entry;
  }

 private:
  int here() const { return static_cast<int>(p_.code.size()); }
  int emit(Instr instr) {
    p_.code.push_back(instr);
    return here() - 1;
  }
  void patch(int instr) { p_.code[static_cast<std::size_t>(instr)].target = here(); }

  // ---- names, before anything reads them

  void declare(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      switch (s.kind) {
        case StepKind::Sql:
        case StepKind::ForEach: declare_sql(s); break;
        case StepKind::Redis:
          if (!s.into.empty()) names_.declare(s.into, redis_fields());
          break;
        case StepKind::Call:
          if (!s.into.empty()) names_.declare(s.into, {"status", "id", "count", "found"});
          break;
        case StepKind::Set:
          for (const auto& [name, text] : s.args) names_.declare(name, {""});
          break;
        default: break;
      }
      declare(s.then);
      declare(s.otherwise);
      declare(s.on_timeout);
      for (const auto& [name, inner] : s.on_error) declare(inner);
    }
  }

  void declare_sql(const Step& s) {
    if (s.into.empty()) return;
    std::vector<std::string> fields = {"count"};
    const int db = database(s, false);
    if (db >= 0) {
      try {
        // Only the names of its columns matter here; whatever is wrong is reported when the step is compiled.
        const DiagnosticLog before = state_.errors;
        LocalNames any = names_;
        const auto compiled = compile_statement(state_, s.text, sql::parse_statement(s.text.value, state_.dialect(db)), &any, db);
        fields.insert(fields.end(), compiled.columns.begin(), compiled.columns.end());
        state_.errors = before;
      } catch (const sql::SqlError&) {
      }
    }
    names_.declare(s.into, fields);
  }

  // ---- parts

  template <class T>
  int part(const Step& s, const Named<T>& all, const char* what, bool report) {
    if (s.on.empty() && all.size() == 1) return 0;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].first == s.on) return static_cast<int>(i);
      known.push_back(all[i].first);
    }
    if (!report) return -1;
    if (s.on.empty()) {
      state_.errors.add(s.at, all.empty() ? std::string("this step needs a ") + what + ", and the scenario has none"
                                          : std::string("say on which ") + what + " with \"on\": " + alternatives(known));
    } else {
      state_.errors.add(s.at, std::string("\"on\" names the unknown ") + what + " \"" + s.on + "\"", nearest_name(s.on, known));
    }
    return -1;
  }
  int database(const Step& s, bool report) { return part(s, state_.scenario.databases, "database", report); }

  // wanted Any: whatever it is; Bool: a condition.
  ExprId expression(const Text& text, SqlType wanted = SqlType::Any) {
    try {
      const sql::Expr e = sql::parse_expression(text.value);
      ExprCompiler exprs(state_, text, &names_, -1);
      return exprs.compile_as(e, Scope{}, wanted, "a condition");
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
      return state_.constant(null_val());
    }
  }
  ExprId condition(const Text& text) { return expression(text, SqlType::Bool); }

  int add_step(const Step& s, const std::string& place, std::string text) {
    p_.steps.push_back({place, s.label, one_line(text), s.at});
    return static_cast<int>(p_.steps.size()) - 1;
  }

  // ---- steps

  void block(const std::vector<Step>& steps, const std::string& place) {
    for (std::size_t i = 0; i < steps.size(); ++i) step(steps[i], place + "/" + std::to_string(i));
  }

  void step(const Step& s, const std::string& place) {
    switch (s.kind) {
      case StepKind::Sql: sql(s, place); break;
      case StepKind::Redis: redis(s, place); break;
      case StepKind::Call: call(s, place); break;
      case StepKind::If: branch(s, place); break;
      case StepKind::While: loop(s, place); break;
      case StepKind::ForEach: for_each(s, place); break;
      case StepKind::Set:
        for (const auto& [name, text] : s.args) {
          const std::string& whole = text.value;
          if (whole.find("||") != std::string::npos && whole.find(":" + name) != std::string::npos) {
            state_.errors.add(text.at, "\"" + name + "\" would grow without bound: every value of a scenario must be one of finitely many");
          }
          const ExprId e = expression(text);
          sets_.push_back({emit({InstrKind::Set, -1, -1, e, add_step(s, place, "set " + name + " = " + whole)}), name});
        }
        break;
      case StepKind::Reply: reply(s, place); break;
      case StepKind::Stop: emit({InstrKind::End, -1, -1, kNoExpr, add_step(s, place, "stop")}); break;
      case StepKind::Pause: emit({InstrKind::Pause, -1, -1, kNoExpr, add_step(s, place, "pause")}); break;
    }
  }

  int statement(const Step& s, const std::string& place, const std::string& shown) {
    const int db = database(s, true);
    CompiledStatement compiled;
    if (db >= 0) {
      try {
        compiled = compile_statement(state_, s.text, sql::parse_statement(s.text.value, state_.dialect(db)), &names_, db);
      } catch (const sql::SqlError& e) {
        state_.sql_error(s.text, e.location, e.what());
      }
    }
    if (s.on_replica && db >= 0) {
      compiled.statement.on_replica = true;
      if (compiled.statement.kind != SqlKind::Select || !compiled.statement.parts.empty()) {
        state_.errors.add(s.at, "\"replica\": a replica runs a plain SELECT only");
      } else if (state_.scenario.databases[static_cast<std::size_t>(db)].second.replicas == 0) {
        state_.errors.add(s.at, "\"replica\": the database has none; give it \"replicas\": 1");
      }
    }
    const int number = static_cast<int>(p_.plan.statements.size());
    p_.plan.statements.push_back(compiled.statement);
    p_.sql_errors.emplace_back();
    results_.push_back({number, s.into, compiled.columns});
    emit({InstrKind::Sql, number, -1, kNoExpr, add_step(s, place, shown)});
    return number;
  }

  void sql(const Step& s, const std::string& place) {
    const int number = statement(s, place, s.text.value);
    error_handlers(s, {false, number}, place);
  }

  // Where the errors of a statement, or of a Redis command, lead.
  struct ErrorPlace {
    bool redis;
    int number;
  };
  ErrorTargets& targets(ErrorPlace at) {
    return (at.redis ? p_.redis_errors : p_.sql_errors)[static_cast<std::size_t>(at.number)];
  }

  void error_handlers(const Step& s, ErrorPlace number, const std::string& place) {
    std::set<int> open;
    for (int c = 1; c < kErrorClasses; ++c) open.insert(c);
    if (s.on_error.empty()) {
      unset_errors_.emplace_back(number, open);
      return;
    }
    const int skip = emit({InstrKind::Jump, -1, -1, kNoExpr, -1});
    std::vector<int> ends{skip};
    auto handler = [&](const std::vector<Step>& steps, const std::string& name, const std::set<int>& classes) {
      for (int c : classes) targets(number)[static_cast<std::size_t>(c)] = here();
      block(steps, place + "/on_error/" + name);
      ends.push_back(emit({InstrKind::Jump, -1, -1, kNoExpr, -1}));
    };
    for (const auto& [name, steps] : s.on_error) {
      if (name == "any") continue;
      const auto c = error_class(name);
      if (!c) continue;  // a class that this engine of the model never gives
      open.erase(static_cast<int>(*c));
      handler(steps, name, {static_cast<int>(*c)});
    }
    if (const auto any = s.on_error.find("any"); any != s.on_error.end()) {
      handler(any->second, "any", open);
      open.clear();
    }
    if (!open.empty()) unset_errors_.emplace_back(number, open);
    for (int e : ends) patch(e);
  }

  void redis(const Step& s, const std::string& place) {
    const int r = part(s, state_.scenario.redis, "redis", true);
    if (r < 0) return;
    const int number = static_cast<int>(p_.plan.redis_commands.size());
    p_.plan.redis_commands.push_back(compile_redis(state_, s.text, names_, r, s.on_replica));
    p_.redis_errors.emplace_back();
    if (s.on_replica && state_.scenario.redis[static_cast<std::size_t>(r)].second.replicas == 0) {
      state_.errors.add(s.at, "\"replica\": this redis has none; give it \"replicas\": 1");
    }
    redis_results_.push_back({number, s.into});
    emit({InstrKind::Redis, number, -1, kNoExpr, add_step(s, place, s.text.value)});
    error_handlers(s, {true, number}, place);
  }

  void branch(const Step& s, const std::string& place) {
    const int test = emit({InstrKind::Branch, -1, -1, condition(s.text), add_step(s, place, "if " + s.text.value)});
    block(s.then, place + "/then");
    if (s.otherwise.empty()) {
      patch(test);
      return;
    }
    const int over = emit({InstrKind::Jump, -1, -1, kNoExpr, -1});
    patch(test);
    block(s.otherwise, place + "/else");
    patch(over);
  }

  void loop(const Step& s, const std::string& place) {
    const int start = here();
    const int test = emit({InstrKind::Branch, -1, -1, condition(s.text), add_step(s, place, "while " + s.text.value)});
    block(s.then, place + "/do");
    bool visible = false;
    for (int i = start; i < here(); ++i) visible = visible || p_.code[static_cast<std::size_t>(i)].kind < InstrKind::Branch;
    if (!visible) state_.errors.add(s.at, "this loop has no visible step (sql, redis, call, pause): it would spin for ever in no time");
    emit({InstrKind::Jump, -1, start, kNoExpr, -1});
    patch(test);
  }

  void for_each(const Step& s, const std::string& place) {
    const int number = statement(s, place, "for each row of " + s.text.value);
    error_handlers(s, {false, number}, place);
    const SqlKind kind = p_.plan.statements[static_cast<std::size_t>(number)].kind;
    const bool broken = kind == SqlKind::Nothing;
    if (!broken && results_.back().columns.empty()) {
      state_.errors.add(s.text.at, "for_each needs a statement that gives rows (SELECT, or RETURNING)");
    }
    const int queue = static_cast<int>(p_.queues.size());
    p_.queues.emplace_back();
    loops_.push_back({number, queue, s.into});
    const int next = emit({InstrKind::Next, queue, -1, kNoExpr, -1});
    block(s.then, place + "/do");
    emit({InstrKind::Jump, -1, next, kNoExpr, -1});
    patch(next);
  }

  void reply(const Step& s, const std::string& place) {
    ReplySpec spec{s.status, outcome_of(s), s.continues, kNoExpr};
    if (s.body) spec.body = expression(*s.body);
    if (kind_ != TaskKind::Request) state_.errors.add(s.at, "only a request handler can reply: a job or a start-up program has no caller");
    p_.replies.push_back(spec);
    if (p_.replies.size() > 200) state_.errors.add(s.at, "a scenario has at most 200 reply steps");
    emit({InstrKind::Reply, static_cast<int>(p_.replies.size()) - 1, -1, kNoExpr,
          add_step(s, place, "reply " + std::to_string(s.status))});
  }

  void call(const Step& s, const std::string& place) {
    CallSite site;
    if (!find_operation(state_, s, site)) return;
    for (const auto& [name, text] : s.args) {
      static const std::vector<std::string> known = {"key", "amount", "identity"};
      if (name == "key") {
        site.key = expression(text);
      } else if (name == "amount") {
        site.amount = expression(text);
      } else if (name == "identity") {
        site.identity = expression(text);
      } else {
        state_.errors.add(text.at, "unknown argument \"" + name + "\" of a call (key, amount, identity, timeout, into, on_timeout, on_error)",
                          nearest_name(name, known));
      }
    }
    if (site.operation == kLookup && site.key == kNoExpr) state_.errors.add(s.at, "a look-up needs the \"key\" that it asks for");
    default_identity(s, site);
    site.has_timeout = s.timeout.has_value();
    const int number = static_cast<int>(p_.calls.size());
    p_.calls.push_back(site);
    call_results_.push_back({number, s.into});
    const int step = add_step(s, place, "call " + s.text.value);
    emit({InstrKind::Call, number, -1, kNoExpr, step});
    emit({InstrKind::Await, number, -1, kNoExpr, step});
    call_handlers(s, number, place);
  }

  // Whose effect it is, for judging: in a handler the operation whose request it handles, elsewhere what the key stands for.
  void default_identity(const Step& s, CallSite& site) {
    if (site.operation == kLookup) {
      site.identity = kNoExpr;
      return;
    }
    Node n;
    n.op = Op::IdentityOf;
    if (site.identity != kNoExpr) {
      n.a = site.identity;
    } else if (kind_ == TaskKind::Request) {
      site.identity = state_.local(names_.take("identity"));
      return;
    } else if (site.key != kNoExpr) {
      n.a = site.key;
    } else {
      state_.errors.add(s.at, "a call outside of a request handler needs \"key\" or \"identity\", to know whose effect it is");
      return;
    }
    site.identity = state_.add(n);
  }

  void call_handlers(const Step& s, int number, const std::string& place) {
    std::vector<int> ends;
    auto set_answer = [&](Answer a, int to) {
      p_.calls[static_cast<std::size_t>(number)].on_answer[static_cast<std::size_t>(a)] = to;
    };
    if (s.has_on_timeout) {
      p_.calls[static_cast<std::size_t>(number)].on_timeout = here();
      block(s.on_timeout, place + "/on_timeout");
      ends.push_back(emit({InstrKind::Jump, -1, -1, kNoExpr, -1}));
    } else {
      unset_timeouts_.push_back(number);
    }
    std::set<Answer> open = {Answer::Declined, Answer::Error};
    auto handler = [&](const std::string& name, const std::set<Answer> answers) {
      const auto it = s.on_error.find(name);
      if (it == s.on_error.end()) return;
      bool used = false;
      for (Answer a : answers) {
        if (open.erase(a) > 0) {
          set_answer(a, here());
          used = true;
        }
      }
      if (!used) return;
      block(it->second, place + "/on_error/" + name);
      ends.push_back(emit({InstrKind::Jump, -1, -1, kNoExpr, -1}));
    };
    handler("declined", {Answer::Declined});
    handler("4xx", {Answer::Declined});
    handler("5xx", {Answer::Error});
    handler("any", open);
    for (Answer a : open) unset_answers_.emplace_back(number, a);
    for (int e : ends) patch(e);
    set_answer(Answer::Ok, here());
    set_answer(Answer::NotFound, here());  // a look-up that finds nothing has got its answer
  }

  // ---- results, once it is known which fields are read

  void fill_results() {
    auto cell = [&](const std::string& into, const std::string& field) {
      return into.empty() ? -1 : names_.find(field.empty() ? into : into + "." + field);
    };
    for (const auto& [instr, name] : sets_) p_.code[static_cast<std::size_t>(instr)].index = names_.find(name);
    for (const auto& r : results_) {
      IntoMap& into = p_.plan.statements[static_cast<std::size_t>(r.statement)].into;
      into.count = cell(r.into, "count");
      const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const LoopResult& l) { return l.statement == r.statement; });
      if (loop == loops_.end()) {
        for (std::size_t c = 0; c < r.columns.size(); ++c) {
          if (int to = cell(r.into, r.columns[c]); to >= 0) into.columns.emplace_back(static_cast<int>(c), to);
        }
        continue;
      }
      Queue& queue = p_.queues[static_cast<std::size_t>(loop->queue)];
      for (std::size_t c = 0; c < r.columns.size(); ++c) {
        if (int to = cell(r.into, r.columns[c]); to >= 0) {
          into.queue_columns.push_back(static_cast<int>(c));
          queue.row_cells.push_back(to);
        }
      }
      queue.rows = into.queue_rows = state_.scenario.bounds.rows;
      queue.count_cell = into.queue_count = names_.take_hidden("rows left");
      const auto width = static_cast<int>(queue.row_cells.size());
      for (int i = 0; i < queue.rows * width; ++i) {
        const int hidden = names_.take_hidden("row");
        if (i == 0) queue.first = hidden;
      }
      into.queue = queue.first = std::max(queue.first, 0);
    }
    for (const auto& [number, name] : redis_results_) {
      RedisCommand& c = p_.plan.redis_commands[static_cast<std::size_t>(number)];
      c.into_value = cell(name, "");
      c.into_count = cell(name, "count");
      for (int i = 0; i < kMaxRedisItems; ++i) c.into_items[i] = cell(name, "answer" + std::to_string(i + 1));
    }
    for (const auto& [number, name] : call_results_) {
      CallSite& site = p_.calls[static_cast<std::size_t>(number)];
      site.status_cell = cell(name, "status");
      site.id_cell = cell(name, "id");
      site.count_cell = cell(name, "count");
      site.found_cell = cell(name, "found");
    }
  }

  struct SqlResult {
    int statement;
    std::string into;
    std::vector<std::string> columns;
  };
  struct LoopResult {
    int statement;
    int queue;
    std::string into;
  };

  CompileState& state_;
  Program& p_;
  LocalNames& names_;
  std::string root_;
  TaskKind kind_;
  int raise_ = -1;
  std::vector<std::pair<ErrorPlace, std::set<int>>> unset_errors_;
  std::vector<int> unset_timeouts_;
  std::vector<std::pair<int, Answer>> unset_answers_;
  std::vector<std::pair<int, std::string>> sets_;
  std::vector<SqlResult> results_;
  std::vector<LoopResult> loops_;
  std::vector<std::pair<int, std::string>> redis_results_;
  std::vector<std::pair<int, std::string>> call_results_;
};

}  // namespace

void compile_bodies(CompileState& state) {
  Program& p = state.program;
  p.replies.push_back({500, Outcome::Unknown, false, kNoExpr});
  for (std::size_t s = 0; s < state.scenario.services.size(); ++s) {
    const std::string& name = state.scenario.services[s].first;  // no structured binding: clang 14 cannot capture one
    const Service& service = state.scenario.services[s].second;
    ServiceInfo info;
    info.name = name;
    info.instances = service.instances;
    auto add = [&](const std::vector<Step>& steps, TaskKind kind, int job, const std::string& root) {
      LocalNames names;
      if (kind == TaskKind::Request) {
        names.declare("key", {""});
        names.declare("identity", {""});
        for (const auto& [client, spec] : state.scenario.clients) {
          for (const Request& r : spec.requests) {
            if (r.to.value != name) continue;
            for (const auto& [field, value] : r.fields) names.declare(field, {""});
          }
        }
      }
      Body body{static_cast<int>(s), kind, job, 0, {}};
      body.entry = BodyCompiler(state, names, root, kind).compile(steps);
      body.cells = names.cells();
      p.bodies.push_back(std::move(body));
      state.names.push_back(std::move(names));
      return static_cast<int>(p.bodies.size()) - 1;
    };
    info.request_body = add(service.on_request, TaskKind::Request, -1, "on_request");
    if (!service.on_start.empty()) info.start_body = add(service.on_start, TaskKind::Start, -1, "on_start");
    for (std::size_t j = 0; j < service.jobs.size(); ++j) {
      info.job_names.push_back(service.jobs[j].first);
      info.job_bodies.push_back(add(service.jobs[j].second.steps, TaskKind::Job, static_cast<int>(j), "jobs/" + service.jobs[j].first));
    }
    p.services.push_back(std::move(info));
  }
}

}  // namespace oncecheck

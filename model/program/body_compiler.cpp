#include "model/program/body_compiler.hpp"

#include <algorithm>

#include "model/program/expr_compiler.hpp"
#include "model/program/redis_compiler.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/statement_compiler.hpp"
#include "model/program/step_words.hpp"

namespace oncecheck {

int BodyCompiler::compile(const std::vector<Step>& steps) {
  declare(steps);
  const int entry = here();
  raise_ = -1;
  block(steps, root_);
  emit({InstrKind::End, -1, -1, kNoExpr, -1});
  raise_ = here();
  emit({InstrKind::Raise, -1, -1, kNoExpr, -1});
  for (const auto& [at, classes] : unset_errors_) {
    for (int c : classes) targets(at)[static_cast<std::size_t>(c)] = raise_;
  }
  for (int site : unset_timeouts_) p_.calls[static_cast<std::size_t>(site)].on_timeout = raise_;
  for (const auto& [site, answer] : unset_answers_) {
    p_.calls[static_cast<std::size_t>(site)].on_answer[static_cast<std::size_t>(answer)] = raise_;
  }
  for (int publication : unset_publications_) p_.publications[static_cast<std::size_t>(publication)].on_error = raise_;
  fill_results();
  return entry;
}

void BodyCompiler::declare(const std::vector<Step>& steps) {
  for (const Step& s : steps) {
    switch (s.kind) {
      case StepKind::Sql:
      case StepKind::ForEach: declare_sql(s); break;
      case StepKind::Redis:
        if (!s.into.empty()) names_.declare(s.into, redis_fields());
        break;
      case StepKind::Call:
        if (!s.into.empty()) names_.declare(s.into, {"status", "id", "count", "found", "state", "body"});
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

void BodyCompiler::declare_sql(const Step& s) {
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

template <class T>
int BodyCompiler::part(const Step& s, const Named<T>& all, const char* what, bool report) {
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

// wanted Any: whatever it is; Bool: a condition.
int BodyCompiler::database(const Step& s, bool report) { return part(s, state_.scenario.databases, "database", report); }

ExprId BodyCompiler::expression(const Text& text, SqlType wanted) {
  try {
    const sql::Expr e = sql::parse_expression(text.value);
    ExprCompiler exprs(state_, text, &names_, -1);
    return exprs.compile_as(e, Scope{}, wanted, "a condition");
  } catch (const sql::SqlError& e) {
    state_.sql_error(text, e.location, e.what());
    return state_.constant(null_val());
  }
}

int BodyCompiler::add_step(const Step& s, const std::string& place, std::string text) {
  p_.steps.push_back({place, s.label, one_line(text), s.at, service_});
  return static_cast<int>(p_.steps.size()) - 1;
}

int BodyCompiler::add_branch(const std::string& place, const std::string& text) {
  p_.branches.push_back({place, one_line(text), service_});
  return static_cast<int>(p_.branches.size()) - 1;
}

int BodyCompiler::handler_block(const std::vector<Step>& steps, const std::string& place, const std::string& text) {
  emit({InstrKind::Mark, -1, -1, kNoExpr, -1, add_branch(place, text)});
  block(steps, place);
  return emit({InstrKind::Jump, -1, -1, kNoExpr, -1});
}

void BodyCompiler::block(const std::vector<Step>& steps, const std::string& place) {
  for (std::size_t i = 0; i < steps.size(); ++i) step(steps[i], place + "/" + std::to_string(i));
}

void BodyCompiler::step(const Step& s, const std::string& place) {
  switch (s.kind) {
    case StepKind::Sql: sql(s, place); break;
    case StepKind::Redis: redis(s, place); break;
    case StepKind::Call: call(s, place); break;
    case StepKind::Publish: publish(s, place); break;
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

int BodyCompiler::statement(const Step& s, const std::string& place, const std::string& shown) {
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

void BodyCompiler::sql(const Step& s, const std::string& place) {
  const int number = statement(s, place, s.text.value);
  error_handlers(s, {false, number}, place);
}

void BodyCompiler::error_handlers(const Step& s, ErrorPlace at, const std::string& place) {
  std::set<int> open;
  for (int c = 1; c < kErrorClasses; ++c) open.insert(c);
  if (s.on_error.empty()) {
    unset_errors_.emplace_back(at, open);
    return;
  }
  const int skip = emit({InstrKind::Jump, -1, -1, kNoExpr, -1});
  std::vector<int> ends{skip};
  auto handler = [&](const std::vector<Step>& steps, const std::string& name, const std::set<int>& classes) {
    for (int c : classes) targets(at)[static_cast<std::size_t>(c)] = here();
    ends.push_back(handler_block(steps, place + "/on_error/" + name, s.text.value));
  };
  for (const auto& [name, steps] : s.on_error) {
    if (name == "any") continue;
    const auto c = error_class(name);
    if (!c) continue;  // a class that this engine of the model never gives
    std::set<int> classes{static_cast<int>(*c)};
    for (int other = 1; *c == ErrorClass::Other && other < kErrorClasses; ++other) {
      if (is_other(static_cast<ErrorClass>(other))) classes.insert(other);
    }
    for (int one : classes) open.erase(one);
    handler(steps, name, classes);
  }
  if (const auto any = s.on_error.find("any"); any != s.on_error.end()) {
    handler(any->second, "any", open);
    open.clear();
  }
  if (!open.empty()) unset_errors_.emplace_back(at, open);
  for (int e : ends) patch(e);
}

void BodyCompiler::redis(const Step& s, const std::string& place) {
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

void BodyCompiler::branch(const Step& s, const std::string& place) {
  const std::string text = "if " + s.text.value;
  const int taken = add_branch(place + "/then", text);
  add_branch(place + "/else", text);
  const int test = emit({InstrKind::Branch, -1, -1, condition(s.text), add_step(s, place, text), taken});
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

void BodyCompiler::loop(const Step& s, const std::string& place) {
  const int start = here();
  const std::string text = "while " + s.text.value;
  const int entered = add_branch(place + "/do", text);
  add_branch(place + "/end", text);
  const int test = emit({InstrKind::Branch, -1, -1, condition(s.text), add_step(s, place, text), entered});
  block(s.then, place + "/do");
  bool visible = false;
  for (int i = start; i < here(); ++i) visible = visible || p_.code[static_cast<std::size_t>(i)].kind < InstrKind::Branch;
  if (!visible) state_.errors.add(s.at, "this loop has no visible step (sql, redis, call, publish, pause): it would spin for ever in no time");
  emit({InstrKind::Jump, -1, start, kNoExpr, -1});
  patch(test);
}

void BodyCompiler::for_each(const Step& s, const std::string& place) {
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
  const int row = add_branch(place + "/do", "for each row of " + s.text.value);
  add_branch(place + "/end", p_.branches.back().text);
  const int next = emit({InstrKind::Next, queue, -1, kNoExpr, -1, row});
  block(s.then, place + "/do");
  emit({InstrKind::Jump, -1, next, kNoExpr, -1});
  patch(next);
}

void BodyCompiler::reply(const Step& s, const std::string& place) {
  ReplySpec spec{s.status, outcome_of(s), s.continues, kNoExpr};
  if (s.body) spec.body = expression(*s.body);
  if (kind_ != TaskKind::Request) state_.errors.add(s.at, "only a request handler can reply: a job or a start-up program has no caller");
  p_.replies.push_back(spec);
  if (p_.replies.size() > 200) state_.errors.add(s.at, "a scenario has at most 200 reply steps");
  emit({InstrKind::Reply, static_cast<int>(p_.replies.size()) - 1, -1, kNoExpr,
        add_step(s, place, "reply " + std::to_string(s.status))});
}

void BodyCompiler::fill_results() {
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
    site.state_cell = cell(name, "state");
    site.body_cell = cell(name, "body");
  }
}

}  // namespace oncecheck

#include "model/program/step_mutants.hpp"

#include <algorithm>

#include "model/program/each_step.hpp"
#include "model/program/redis_cuts.hpp"
#include "model/program/sql_token_text.hpp"

namespace oncecheck {

namespace {

// The words with which an SQL statement begins, as far as transactions go.
enum class Boundary { None, Begin, End };

Boundary boundary_of(const Step& step) {
  if (step.kind == StepKind::Redis) {
    const std::string name = redis_command_name(step.text.value);
    return name == "MULTI" ? Boundary::Begin : name == "EXEC" || name == "DISCARD" ? Boundary::End : Boundary::None;
  }
  if (step.kind != StepKind::Sql) return Boundary::None;
  const sql::TokenText t(step.text.value, sql::Quoting::Postgres);
  if (t.word(0, "begin") || t.words(0, {"start", "transaction"})) return Boundary::Begin;
  const bool end = t.word(0, "commit") || t.word(0, "end") || (t.word(0, "rollback") && t.find(0, {"to"}) == t.size());
  return end ? Boundary::End : Boundary::None;
}

std::string shown(const Step& step) {
  switch (step.kind) {
    case StepKind::Sql:
    case StepKind::Redis: return step.text.value;
    case StepKind::Call: return "call " + step.text.value;
    case StepKind::Publish: return "publish to " + step.text.value;
    case StepKind::If: return "if " + step.text.value;
    case StepKind::While: return "while " + step.text.value;
    case StepKind::ForEach: return "for each row of " + step.text.value;
    case StepKind::Set: {
      std::string all;
      for (const auto& [name, text] : step.args) all += (all.empty() ? "set " : ", ") + name + " = " + text.value;
      return all;
    }
    case StepKind::Reply: return "reply " + std::to_string(step.status);
    case StepKind::Stop: return "stop";
    case StepKind::Pause: return "pause";
  }
  return "";
}

template <class T>
T without(const T& all, std::size_t i) {
  T out = all;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
  return out;
}

}  // namespace

sql::Dialect dialect_of(const Database& database) {
  const std::string& engine = database.engine.value;
  return engine == "mysql" ? sql::Dialect::MySql : engine == "mariadb" ? sql::Dialect::MariaDb : sql::Dialect::Postgres;
}

sql::Dialect StepMutants::dialect(const Step& step) const {
  for (const auto& [name, database] : maker_.scenario().databases) {
    if (step.on.empty() || step.on == name) return dialect_of(database);
  }
  return sql::Dialect::Postgres;
}

void StepMutants::list(std::vector<Step>& steps, const std::string& place) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string here = place + "/" + std::to_string(i);
    drop(steps, i, here);
    weaken(steps[i], here);
    list(steps[i].then, here + (steps[i].kind == StepKind::If ? "/then" : "/do"));
    list(steps[i].otherwise, here + "/else");
    list(steps[i].on_timeout, here + "/on_timeout");
    for (auto& [name, inner] : steps[i].on_error) list(inner, here + "/on_error/" + name);
  }
}

void StepMutants::drop(std::vector<Step>& steps, std::size_t i, const std::string& place) {
  const Step& step = steps[i];
  // An `if` that never takes its branch, or a loop that is never entered, is the same as none.
  if (step.kind == StepKind::If || step.kind == StepKind::While) return;
  std::vector<Step> fewer = without(steps, i);
  if (boundary_of(step) != Boundary::Begin) {
    maker_.with(steps, std::move(fewer), step.at, place, "without the step", shown(step));
    return;
  }
  const auto end = std::find_if(fewer.begin() + static_cast<std::ptrdiff_t>(i), fewer.end(),
                                [&](const Step& s) { return s.kind == step.kind && s.on == step.on && boundary_of(s) == Boundary::End; });
  const std::string text = shown(step) + (end == fewer.end() ? "" : " ... " + shown(*end));
  if (end != fewer.end()) fewer.erase(end);
  maker_.with(steps, std::move(fewer), step.at, place, "without the transaction", text);
}

void StepMutants::weaken(Step& step, const std::string& place) {
  switch (step.kind) {
    case StepKind::Sql:
    case StepKind::ForEach: cuts(step.text, sql::statement_cuts(step.text.value, dialect(step)), place); break;
    case StepKind::Redis: cuts(step.text, redis_cuts(step.text.value), place); break;
    case StepKind::If:
    case StepKind::While: guard(step, place); break;
    case StepKind::Call: call(step, place); break;
    case StepKind::Set:
      for (std::size_t i = 0; step.args.size() > 1 && i < step.args.size(); ++i) {
        const auto& [name, text] = step.args[i];
        maker_.with(step.args, without(step.args, i), text.at, place, "without setting it", name + " = " + text.value);
      }
      break;
    default: break;
  }
  for (const auto& [name, inner] : std::map<std::string, std::vector<Step>>(step.on_error)) {
    auto fewer = step.on_error;
    fewer.erase(name);
    Origin at = step.at;
    at.pointer += name == "any" ? "/on_error" : "/on_error/" + name;
    maker_.with(step.on_error, std::move(fewer), std::move(at), place, "without on_error", name);
  }
}

void StepMutants::guard(Step& step, const std::string& place) {
  const std::string text = step.text.value;
  if (step.kind == StepKind::If) {
    maker_.with(step.text.value, "true", step.text.at, place, "if: always", text);
    maker_.with(step.text.value, "false", step.text.at, place, "if: never", text);
  } else {
    maker_.with(step.text.value, "false", step.text.at, place, "while: never", text);
  }
  cuts(step.text, sql::condition_cuts(text), place);
}

void StepMutants::call(Step& step, const std::string& place) {
  for (std::size_t i = 0; i < step.args.size(); ++i) {
    const auto& [name, text] = step.args[i];
    if (name != "key") continue;
    maker_.with(step.args, without(step.args, i), text.at, place, "without the key of the call", text.value);
  }
  if (step.has_on_timeout) {
    Step less = step;
    less.has_on_timeout = false;
    less.on_timeout.clear();
    Origin at = step.at;
    at.pointer += "/on_timeout";
    maker_.with(step, std::move(less), std::move(at), place, "without on_timeout", shown(step));
  }
  if (step.resends > 0) {
    Origin at = step.at;
    at.pointer += "/resends";
    maker_.with(step.resends, 0, std::move(at), place, "without resends", shown(step));
  }
}

void StepMutants::cuts(Text& text, const std::vector<sql::TextCut>& cuts, const std::string& place) {
  for (const sql::TextCut& cut : cuts) {
    std::string change = "without " + cut.what;
    if (!cut.by.empty()) change = cut.what + ": " + cut.by;
    maker_.with(text.value, sql::apply_cut(text.value, cut), text.at, place, std::move(change), cut.shown);
  }
}

int drop_conflict_targets(Scenario& scenario, const std::string& database, const sql::TextCut& unique) {
  int changed = 0;
  const auto visit = [&](Step& step) {
    if (step.kind != StepKind::Sql && step.kind != StepKind::ForEach) return;
    if (!step.on.empty() && step.on != database) return;
    // Of PostgreSQL only: MySQL has no conflict targets.
    for (const sql::TextCut& cut : sql::conflict_target_cuts(step.text.value, sql::Dialect::Postgres, unique)) {
      step.text.value = sql::apply_cut(step.text.value, cut);
      ++changed;
      return;
    }
  };
  for (auto& [name, service] : scenario.services) {
    each_step_of(service, visit);
    if (service.next) each_step_of(*service.next, visit);
  }
  return changed;
}

}  // namespace oncecheck

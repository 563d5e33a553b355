#include "sim/conform/vector_program.hpp"

#include <algorithm>
#include <cctype>

#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr const char* kDatabase = "db";
constexpr const char* kAdministrator = "administrator";

std::string first_word(const std::string& sql) {
  std::string word;
  for (char c : sql) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      break;
    }
  }
  return word;
}

bool defines(const std::string& sql) {
  const std::string word = first_word(sql);
  return word == "create" || word == "alter" || word == "drop" || word == "comment";
}

const char* engine_word(Engine e) {
  switch (e) {
    case Engine::Postgres: return "postgres";
    case Engine::MariaDb: return "mariadb";
    case Engine::MySql: return "mysql";
  }
  return "?";
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Step sql_step(const std::string& sql, const Origin& at) {
  Step s;
  s.at = at;
  s.text = {sql, at};
  s.on = kDatabase;
  return s;
}

Service session_service(std::vector<Step> steps) {
  Service service;
  service.on_start = std::move(steps);
  return service;
}

Scenario scenario_of(const Vector& vector, const Recording& recording) {
  Scenario s;
  s.file = vector.file;
  s.title = vector.name;
  // Roomy: a vector is one path, so what a bound costs does not matter, and hitting one would say nothing of the server.
  s.bounds.rows = 40;
  s.bounds.fresh = 12;
  s.bounds.deadlines = 8;
  s.bounds.int_min = -10;
  s.bounds.int_max = 300;
  Database db;
  db.engine = {engine_word(vector.engine), {vector.file, "/engine", 0, 0}};
  // The strictest level of a session decides what a world must have room for; compile_vector() sets the others.
  Isolation level = Isolation::ReadUncommitted;
  for (Isolation i : vector.isolation) level = std::max(level, i);
  db.isolation = {lower(isolation_name(level)), {vector.file, "/isolation", 0, 0}};
  for (const VectorStep& step : vector.setup) {
    if (defines(step.sql)) db.schema.push_back({step.sql, step.at});
  }
  s.databases.emplace_back(kDatabase, std::move(db));
  for (std::size_t i = 0; i < vector.sessions.size(); ++i) {
    std::vector<Step> steps;
    for (const VectorStep& step : recording.steps) {
      if (step.op == VectorOp::Sql && step.session == static_cast<int>(i)) steps.push_back(sql_step(step.sql, step.at));
    }
    // A session without steps still counts: its number is what others wait for.
    if (steps.empty()) steps.push_back(sql_step("COMMIT", {vector.file, "/sessions", 0, 0}));
    s.services.emplace_back("session " + vector.sessions[i], session_service(std::move(steps)));
  }
  std::vector<Step> steps;
  for (const auto* all : {&vector.setup, &vector.teardown}) {
    for (const VectorStep& step : *all) {
      if (!defines(step.sql)) steps.push_back(sql_step(step.sql, step.at));
    }
  }
  for (const auto& [table, rows] : recording.tables.items()) {
    steps.push_back(sql_step("SELECT * FROM " + table, {vector.file, "/final/" + table, 0, 0}));
  }
  if (!steps.empty()) s.services.emplace_back(kAdministrator, session_service(std::move(steps)));
  return s;
}

// The statements of a service's start-up program, in order.
std::vector<int> statements_of(const Program& p, int service) {
  const auto body = static_cast<std::size_t>(p.services[static_cast<std::size_t>(service)].start_body);
  const int end = body + 1 < p.bodies.size() ? p.bodies[body + 1].entry : static_cast<int>(p.code.size());
  std::vector<int> out;
  for (int pc = p.bodies[body].entry; pc < end; ++pc) {
    const Instr& instr = p.code[static_cast<std::size_t>(pc)];
    if (instr.kind == InstrKind::Sql) out.push_back(instr.index);
  }
  return out;
}

int session_of(const Program& p, int service) {
  const int task = p.services[static_cast<std::size_t>(service)].start_tasks.front();
  return p.plan.layout.tasks[static_cast<std::size_t>(task)].sessions.front();
}

bool switched_on(const Vector& vector, const char* option) {
  const auto it = vector.server_options.find(option);
  return it != vector.server_options.end() && (it->second == "ON" || it->second == "1");
}

}  // namespace

VectorProgram compile_vector(const Vector& vector, const Recording& recording, const ExtraValues& extra) {
  for (const auto& [option, value] : vector.server_options) {
    if (option != "innodb_rollback_on_timeout" && option != "innodb_snapshot_isolation") {
      throw ScenarioError({vector.file, "/server_options/" + option, 0, 0}, "server option " + option + " is not modelled");
    }
  }
  VectorProgram out;
  CompileOptions options;
  options.values_grow = true;
  options.run_refused = true;
  options.extra_texts.assign(extra.texts.begin(), extra.texts.end());
  options.extra_ints.assign(extra.ints.begin(), extra.ints.end());
  out.program = compile(scenario_of(vector, recording), options);
  out.program->keep_row_order = true;
  Program& p = *out.program;
  DatabaseLayout& db = p.plan.layout.databases.front();
  db.found_rows = vector.found_rows;
  db.rollback_on_timeout = switched_on(vector, "innodb_rollback_on_timeout");
  db.snapshot_isolation = db.snapshot_isolation || switched_on(vector, "innodb_snapshot_isolation");

  out.steps.assign(recording.steps.size(), -1);
  for (std::size_t i = 0; i < vector.sessions.size(); ++i) {
    const int session = session_of(p, static_cast<int>(i));
    out.sessions.push_back(session);
    p.plan.layout.sessions[static_cast<std::size_t>(session)].isolation = vector.isolation[i];
    const std::vector<int> statements = statements_of(p, static_cast<int>(i));
    std::size_t next = 0;
    for (std::size_t s = 0; s < recording.steps.size(); ++s) {
      if (recording.steps[s].op == VectorOp::Sql && recording.steps[s].session == static_cast<int>(i)) {
        out.steps[s] = statements.at(next++);
      }
    }
    CHECK_THAT(next == statements.size() || next == 0);
  }
  if (p.services.size() == vector.sessions.size()) return out;
  const auto administrator = static_cast<int>(vector.sessions.size());
  out.administrator = session_of(p, administrator);
  const std::vector<int> statements = statements_of(p, administrator);
  auto at = statements.begin();
  for (const VectorStep& step : vector.setup) {
    if (!defines(step.sql)) out.setup.push_back(*at++);
  }
  for (const VectorStep& step : vector.teardown) {
    if (!defines(step.sql)) out.teardown.push_back(*at++);
  }
  for (const auto& [table, rows] : recording.tables.items()) {
    out.tables.push_back(table);
    out.reads.push_back(*at++);
  }
  CHECK_THAT(at == statements.end());
  return out;
}

}  // namespace oncecheck

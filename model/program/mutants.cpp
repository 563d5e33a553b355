#include "model/program/mutants.hpp"

#include <map>
#include <utility>

#include "model/program/compile_state.hpp"
#include "model/program/mutant_maker.hpp"
#include "model/program/step_mutants.hpp"
#include "model/program/step_words.hpp"

namespace oncecheck {

namespace {

bool is_blank(const std::string& text) { return one_line(text).empty(); }

class PartMutants {
 public:
  explicit PartMutants(MutantMaker& maker) : maker_(maker), s_(maker.scenario()) {}

  void services() {
    for (auto& [name, service] : s_.services) {
      code(service, name + " ");
      if (service.next) code(*service.next, name + " next/");
      if (service.drains) {
        maker_.with(service.drains, false, service.at, "service " + name, "without drain", name);
      }
    }
  }

  void databases() {
    for (auto& [name, database] : s_.databases) {
      const std::string place = "database " + name;
      const sql::Dialect dialect = dialect_of(database);
      isolation(database, dialect, place);
      if (database.synchronous) maker_.with(database.synchronous, false, database.at, place, "replication: asynchronous", "synchronous");
      for (std::size_t i = 0; i < database.schema.size(); ++i) {
        for (const sql::TextCut& cut : sql::schema_cuts(database.schema[i].value, dialect)) schema_cut(database, name, i, cut);
      }
    }
  }

  void redis() {
    for (auto& [name, redis] : s_.redis) {
      const std::string place = "redis " + name;
      if (redis.min_replicas > 0) {
        maker_.with(redis.min_replicas, 0, redis.at, place, "without min_replicas", std::to_string(redis.min_replicas));
      }
      if (redis.persistence != "none") {
        const std::string weaker = redis.persistence == "always" ? "everysec" : "none";
        maker_.with(redis.persistence, weaker, redis.at, place, "persistence: " + weaker, redis.persistence);
      }
    }
  }

 private:
  void code(ServiceCode& code, const std::string& prefix) {
    StepMutants steps(maker_);
    steps.list(code.on_request, prefix + "on_request");
    for (auto& [name, endpoint] : code.endpoints) steps.list(endpoint.steps, prefix + "endpoints/" + name);
    if (!code.on_start.empty()) {
      maker_.with(code.on_start, std::vector<Step>{}, code.on_start.front().at, prefix + "on_start", "without the program", "on_start");
    }
    steps.list(code.on_start, prefix + "on_start");
    for (std::size_t j = 0; j < code.jobs.size(); ++j) {
      Named<Job> others = code.jobs;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
      const auto& [name, job] = code.jobs[j];
      maker_.with(code.jobs, std::move(others), job.at, prefix + "jobs/" + name, "without the job", name);
      steps.list(code.jobs[j].second.steps, prefix + "jobs/" + name);
    }
  }

  void isolation(Database& database, sql::Dialect dialect, const std::string& place) {
    const std::string weaker = sql::weaker_isolation(database.isolation.value, dialect);
    if (weaker.empty()) return;
    maker_.with(database.isolation.value, weaker, database.isolation.at, place, "isolation: " + weaker, database.isolation.value);
  }

  void schema_cut(Database& database, const std::string& name, std::size_t i, const sql::TextCut& cut) {
    std::vector<Text> schema = database.schema;
    schema[i].value = sql::apply_cut(schema[i].value, cut);
    if (is_blank(schema[i].value)) schema.erase(schema.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string table = cut.table.empty() ? "" : cut.table + ": ";
    Mutant& m = maker_.with(database.schema, std::move(schema), database.schema[i].at, "database " + name, "without " + cut.what, table + cut.shown);
    if (cut.columns.empty()) return;
    Scenario relaxed = m.scenario;
    const int changed = drop_conflict_targets(relaxed, name, cut);
    if (changed == 0) return;
    m.instead = std::move(relaxed);
    m.instead_change = m.change + ", and ON CONFLICT without its target";
  }

  MutantMaker& maker_;
  Scenario& s_;
};

}  // namespace

Mutant& MutantMaker::add(Origin at, std::string place, std::string change, const std::string& text) {
  Mutant m;
  m.at = std::move(at);
  m.place = std::move(place);
  m.change = std::move(change);
  m.text = one_line(text);
  m.scenario = scenario_;
  m.name = m.at.pointer + ": " + m.change + ": " + m.text;
  const int number = ++named_[m.name];
  if (number > 1) m.name += " #" + std::to_string(number);
  out_.push_back(std::move(m));
  return out_.back();
}

std::vector<Mutant> mutants_of(const Scenario& scenario) {
  MutantMaker maker(scenario);
  PartMutants parts(maker);
  parts.services();
  parts.databases();
  parts.redis();
  return maker.take();
}

}  // namespace oncecheck

// Mutants of the steps of a program. Internal to mutants.cpp.
#pragma once

#include <string>
#include <vector>

#include "model/program/mutant_maker.hpp"
#include "model/program/sql_cuts.hpp"

namespace oncecheck {

class StepMutants {
 public:
  explicit StepMutants(MutantMaker& maker) : maker_(maker) {}

  // REQUIRES: the steps stand in the maker's scenario.
  void list(std::vector<Step>& steps, const std::string& place);

 private:
  void drop(std::vector<Step>& steps, std::size_t i, const std::string& place);
  void weaken(Step& step, const std::string& place);
  void guard(Step& step, const std::string& place);
  void call(Step& step, const std::string& place);
  void cuts(Text& text, const std::vector<sql::TextCut>& cuts, const std::string& place);
  sql::Dialect dialect(const Step& step) const;

  MutantMaker& maker_;
};

sql::Dialect dialect_of(const Database& database);

// Takes the conflict target out of each INSERT ... ON CONFLICT DO NOTHING that names this unique key of the database. How many
// there were.
int drop_conflict_targets(Scenario& scenario, const std::string& database, const sql::TextCut& unique);

}  // namespace oncecheck

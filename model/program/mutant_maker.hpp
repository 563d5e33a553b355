// Makes mutants: changes one place of a scenario, takes a copy, and puts the place back. Used by mutants.cpp and
// step_mutants.cpp only.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/program/mutants.hpp"

namespace oncecheck {

class MutantMaker {
 public:
  explicit MutantMaker(const Scenario& scenario) : scenario_(scenario) {
    // What must be reached is asked of the scenario as it is; a mutant may lack the place.
    scenario_.must_reach.clear();
    scenario_.unreached.clear();
  }

  // The scenario to walk through: `place` of with() is within it.
  Scenario& scenario() { return scenario_; }

  // The mutant stays where it is until the next call.
  template <class T, class V>
  Mutant& with(T& target, V&& changed, Origin at, std::string place, std::string change, const std::string& text) {
    const std::string shown = text;  // it may stand within the target
    T kept = std::exchange(target, T(std::forward<V>(changed)));
    Mutant& m = add(std::move(at), std::move(place), std::move(change), shown);
    target = std::move(kept);
    return m;
  }

  std::vector<Mutant> take() { return std::move(out_); }

 private:
  Mutant& add(Origin at, std::string place, std::string change, const std::string& text);

  Scenario scenario_;
  std::vector<Mutant> out_;
  std::map<std::string, int> named_;
};

}  // namespace oncecheck

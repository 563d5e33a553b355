// Visits the steps of a scenario.
#pragma once

namespace oncecheck {

// Each step of a list and of its branches, outer ones first. Steps: std::vector<Step>, const or not.
template <class Steps, class Visit>
void each_step(Steps& steps, const Visit& visit) {
  for (auto& s : steps) {
    visit(s);
    each_step(s.then, visit);
    each_step(s.otherwise, visit);
    each_step(s.on_timeout, visit);
    for (auto& [name, inner] : s.on_error) each_step(inner, visit);
  }
}

// Each step of one version of a service. Code: ServiceCode, const or not.
template <class Code, class Visit>
void each_step_of(Code& code, const Visit& visit) {
  each_step(code.on_request, visit);
  each_step(code.on_start, visit);
  for (auto& [name, endpoint] : code.endpoints) each_step(endpoint.steps, visit);
  for (auto& [name, job] : code.jobs) each_step(job.steps, visit);
}

}  // namespace oncecheck

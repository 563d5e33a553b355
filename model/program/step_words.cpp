#include "model/program/step_words.hpp"

#include <tuple>

#include "model/program/route_compiler.hpp"

namespace oncecheck {

std::string one_line(const std::string& text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Outcome outcome_of(const Step& step) {
  if (step.means) {
    if (*step.means == "ok") return Outcome::Ok;
    if (*step.means == "failed") return Outcome::Failed;
    if (*step.means == "accepted") return Outcome::Accepted;
    return Outcome::Unknown;
  }
  if (step.status == 202) return Outcome::Accepted;
  if (step.status >= 200 && step.status < 300) return Outcome::Ok;
  // 409 and 429 say "not now"; they do not say that nothing was or will be done.
  if (step.status == 409 || step.status == 425 || step.status == 429 || step.status == 408) return Outcome::Unknown;
  if (step.status >= 400 && step.status < 500) return Outcome::Failed;
  return Outcome::Unknown;
}

std::optional<ErrorClass> error_class(const std::string& name) {
  for (int i = 1; i < kErrorClasses; ++i) {
    if (name == error_class_name(static_cast<ErrorClass>(i))) return static_cast<ErrorClass>(i);
  }
  return std::nullopt;
}

std::optional<CallTarget> find_call_target(CompileState& state, const Step& s) {
  const std::size_t dot = s.text.value.find('.');
  const std::string part = s.text.value.substr(0, dot);
  CallTarget target;
  std::vector<std::string> known;
  for (const ServiceInfo& service : state.program.services) {
    known.push_back(service.name);
    if (service.name != part) continue;
    const auto found = find_endpoint(state, s.text);
    if (!found) return std::nullopt;
    std::tie(target.service, target.endpoint) = *found;
    return target;
  }
  for (std::size_t i = 0; i < state.scenario.providers.size(); ++i) {
    const auto& [name, spec] = state.scenario.providers[i];
    known.push_back(name);
    if (name != part) continue;
    target.provider = static_cast<int>(i);
    const std::string operation = dot == std::string::npos ? "" : s.text.value.substr(dot + 1);
    std::vector<std::string> operations;
    for (std::size_t o = 0; o < spec.operations.size(); ++o) {
      operations.push_back(spec.operations[o].first);
      if (spec.operations[o].first == operation) {
        target.operation = static_cast<int>(o);
        return target;
      }
    }
    const bool objects = state.program.providers[i].holds_objects;
    const std::string reads = objects ? "get" : "lookup";
    if (!spec.lookup.empty()) operations.push_back(reads);
    if (!spec.list.empty()) operations.push_back("list");
    if ((!spec.lookup.empty() && operation == reads) || (!spec.list.empty() && operation == "list")) {
      target.operation = operation == "list" ? kList : kLookup;
      return target;
    }
    state.errors.add(s.text.at, "provider \"" + name + "\" has no operation \"" + operation + "\" (it has " + alternatives(operations) + ")",
                      nearest_name(operation, operations));
    return std::nullopt;
  }
  state.errors.add(s.text.at, "unknown provider or service \"" + part + "\" in \"call\": write PROVIDER.OPERATION, SERVICE or SERVICE.ENDPOINT",
                   nearest_name(part, known));
  return std::nullopt;
}

}  // namespace oncecheck

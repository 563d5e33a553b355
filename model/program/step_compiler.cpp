#include "model/program/step_compiler.hpp"

#include <algorithm>

#include "model/program/body_compiler.hpp"
#include "model/program/route_compiler.hpp"

namespace oncecheck {

namespace {

// Answers a request to an endpoint that this version of the code does not have.
std::vector<Step> not_found(const Service& service) {
  Step reply;
  reply.kind = StepKind::Reply;
  reply.at = service.at;
  reply.status = 404;
  return {reply};
}

template <class T>
const T* find(const Named<T>& all, const std::string& name) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& member) { return member.first == name; });
  return it == all.end() ? nullptr : &it->second;
}

class ServiceCompiler {
 public:
  ServiceCompiler(CompileState& state, int service)
      : state_(state), p_(state.program), number_(service), service_(state.scenario.services[static_cast<std::size_t>(service)].second) {}

  void compile() {
    version(service_, 0, "");
    if (service_.next) {
      version(*service_.next, 1, "next/");
    } else {
      info().request_bodies[1] = info().request_bodies[0];
      info().start_body[1] = info().start_body[0];
      info().job_bodies[1] = info().job_bodies[0];
    }
  }

 private:
  ServiceInfo& info() { return p_.services[static_cast<std::size_t>(number_)]; }

  // What a version leaves out is as in the one before it.
  void version(const ServiceCode& code, std::size_t v, const std::string& prefix) {
    for (std::size_t e = 0; e < info().endpoints.size(); ++e) {
      const std::string name = info().endpoints[e];
      const Endpoint* endpoint = find(code.endpoints, name);
      int body = -1;
      if (name.empty() && (v == 0 || !code.on_request.empty())) {
        body = add(code.on_request, TaskKind::Request, -1, prefix + "on_request", name, v);
      } else if (endpoint != nullptr) {
        body = add(endpoint->steps, TaskKind::Request, -1, prefix + "endpoints/" + name, name, v);
      } else {
        body = v == 0 ? add(not_found(service_), TaskKind::Request, -1, "endpoints/" + name, name, v) : info().request_bodies[0][e];
      }
      info().request_bodies[v].push_back(body);
    }
    if (!code.on_start.empty()) {
      info().start_body[v] = add(code.on_start, TaskKind::Start, -1, prefix + "on_start", "", v);
    } else if (v == 1) {
      info().start_body[1] = info().start_body[0];
    }
    for (std::size_t j = 0; j < info().job_names.size(); ++j) {
      const std::string name = info().job_names[j];
      const Job* job = find(code.jobs, name);
      int body = v == 1 ? info().job_bodies[0][j] : -1;
      if (job != nullptr) body = add(job->steps, TaskKind::Job, static_cast<int>(j), prefix + "jobs/" + name, "", v);
      info().job_bodies[v].push_back(body);
    }
  }

  int add(const std::vector<Step>& steps, TaskKind kind, int job, const std::string& root, const std::string& endpoint, std::size_t version) {
    LocalNames names;
    if (kind == TaskKind::Request) {
      const auto& endpoints = info().endpoints;
      const auto e = std::find(endpoints.begin(), endpoints.end(), endpoint) - endpoints.begin();
      for (const std::string& field : endpoint_fields(state_, number_, static_cast<int>(e))) names.declare(field, {""});
    }
    Body body;
    body.service = number_;
    body.kind = kind;
    body.job = job;
    body.endpoint = endpoint;
    body.next_version = version == 1;
    body.entry = BodyCompiler(state_, names, number_, root, kind).compile(steps);
    body.cells = names.cells();
    p_.bodies.push_back(std::move(body));
    state_.names.push_back(std::move(names));
    return static_cast<int>(p_.bodies.size()) - 1;
  }

  CompileState& state_;
  Program& p_;
  int number_;
  const Service& service_;
};

}  // namespace

void compile_bodies(CompileState& state) {
  state.program.replies.push_back({500, Outcome::Unknown, false, kNoExpr});
  for (std::size_t s = 0; s < state.scenario.services.size(); ++s) ServiceCompiler(state, static_cast<int>(s)).compile();
}

}  // namespace oncecheck

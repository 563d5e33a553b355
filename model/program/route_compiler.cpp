#include "model/program/route_compiler.hpp"

#include <algorithm>
#include <tuple>

#include "model/program/each_step.hpp"

namespace oncecheck {

namespace {

const std::vector<std::string> kWebhookFields = {"id", "event", kEventId, "operation", "amount", "identity"};

int position(const std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (position(names, name) < 0) names.push_back(name);
}

// The endpoint that a text names, without reports; (-1, -1) for none.
std::pair<int, int> endpoint_at(const Program& p, const std::string& to) {
  const std::size_t dot = to.find('.');
  for (std::size_t s = 0; s < p.services.size(); ++s) {
    if (p.services[s].name != to.substr(0, dot)) continue;
    return {static_cast<int>(s), position(p.services[s].endpoints, dot == std::string::npos ? "" : to.substr(dot + 1))};
  }
  return {-1, -1};
}

}  // namespace

void compile_services(CompileState& state) {
  Program& p = state.program;
  for (const auto& [name, service] : state.scenario.services) {
    ServiceInfo info;
    info.name = name;
    info.instances = service.instances;
    info.has_next = service.next.has_value();
    info.drains = service.drains;
    info.process_per_request = service.process_per_request;
    info.drain_ends = service.drain_time.has_value();
    info.endpoints = {""};
    auto names_of = [&](const ServiceCode& code) {
      for (const auto& [endpoint, steps] : code.endpoints) add_name(info.endpoints, endpoint);
      for (const auto& [job, steps] : code.jobs) add_name(info.job_names, job);
    };
    names_of(service);
    if (service.next) names_of(*service.next);
    p.services.push_back(std::move(info));
  }
  for (const auto& [name, queue] : state.scenario.queues) {
    QueueInfo info;
    info.name = name;
    if (const auto to = find_endpoint(state, queue.to)) std::tie(info.service, info.endpoint) = *to;
    if (queue.receives > 0) info.receives = queue.receives;
    p.message_queues.push_back(std::move(info));
  }
}

std::optional<std::pair<int, int>> find_endpoint(CompileState& state, const Text& to) {
  const auto found = endpoint_at(state.program, to.value);
  if (found.first < 0) {
    std::vector<std::string> known;
    for (const ServiceInfo& s : state.program.services) known.push_back(s.name);
    const std::string service = to.value.substr(0, to.value.find('.'));
    state.errors.add(to.at, "there is no service \"" + service + "\"", nearest_name(service, known));
    return std::nullopt;
  }
  if (found.second < 0) {
    const ServiceInfo& s = state.program.services[static_cast<std::size_t>(found.first)];
    std::vector<std::string> known(s.endpoints.begin() + 1, s.endpoints.end());
    const std::string endpoint = to.value.substr(to.value.find('.') + 1);
    state.errors.add(to.at, "service \"" + s.name + "\" has no endpoint \"" + endpoint + "\"" +
                                (known.empty() ? "" : " (it has " + alternatives(known) + ")"),
                     nearest_name(endpoint, known));
    return std::nullopt;
  }
  return found;
}

void compile_webhooks(CompileState& state) {
  Program& p = state.program;
  for (std::size_t i = 0; i < p.providers.size(); ++i) {
    const Provider& provider = state.scenario.providers[i].second;
    for (std::size_t o = 0; o < provider.operations.size(); ++o) {
      for (const Webhook& webhook : provider.operations[o].second.webhooks) {
        const auto to = find_endpoint(state, webhook.to);
        if (!to) continue;
        RouteInfo route;
        route.kind = RouteKind::Webhook;
        route.provider = static_cast<int>(i);
        std::tie(route.service, route.endpoint) = *to;
        route.payload = kWebhookFields;
        // A webhook that is sent once is not held: nobody would send it again.
        route.deliveries = webhook.retries == 0 ? 0 : 1 + webhook.retries;
        p.providers[i].operations[o].webhooks.push_back(
            {static_cast<int>(p.routes.size()), webhook.on_success, webhook.on_decline, webhook.on_undo});
        p.routes.push_back(std::move(route));
      }
    }
  }
}

std::vector<std::string> endpoint_fields(const CompileState& state, int service, int endpoint) {
  const Program& p = state.program;
  const std::pair<int, int> here{service, endpoint};
  std::vector<std::string> names = {"key", "identity"};
  for (const auto& [client, spec] : state.scenario.clients) {
    for (const Request& r : spec.requests) {
      const bool polled = spec.poll && endpoint_at(p, spec.poll->to.value) == here;
      if (!polled && endpoint_at(p, r.to.value) != here) continue;
      for (const auto& [field, value] : r.fields) add_name(names, field);
    }
  }
  for (const RouteInfo& route : p.routes) {
    if (route.kind != RouteKind::Webhook || std::pair{route.service, route.endpoint} != here) continue;
    for (const std::string& field : kWebhookFields) add_name(names, field);
  }
  const auto visit = [&](const Step& s) {
    const bool calls = s.kind == StepKind::Call && endpoint_at(p, s.text.value) == here;
    const bool publishes = s.kind == StepKind::Publish &&
                           std::any_of(p.message_queues.begin(), p.message_queues.end(), [&](const QueueInfo& q) {
                             return q.name == s.text.value && std::pair{q.service, q.endpoint} == here;
                           });
    if (!calls && !publishes) return;
    for (const auto& [name, text] : s.args) add_name(names, name);
  };
  for (const auto& [name, spec] : state.scenario.services) {
    each_step_of(spec, visit);
    if (spec.next) each_step_of(*spec.next, visit);
  }
  return names;
}

namespace {

const LocalNames& names_of(const CompileState& state, const RouteInfo& route, std::size_t version) {
  const ServiceInfo& service = state.program.services[static_cast<std::size_t>(route.service)];
  return state.names[static_cast<std::size_t>(service.request_bodies[version][static_cast<std::size_t>(route.endpoint)])];
}

}  // namespace

bool reads_event_ids(const CompileState& state) {
  return std::any_of(state.program.routes.begin(), state.program.routes.end(), [&](const RouteInfo& route) {
    return route.kind == RouteKind::Webhook &&
           (names_of(state, route, 0).find(kEventId) >= 0 || names_of(state, route, 1).find(kEventId) >= 0);
  });
}

void resolve_routes(CompileState& state) {
  Program& p = state.program;
  // Which expressions go with the payload of a route.
  std::vector<std::vector<std::vector<ExprId>*>> payloads(p.routes.size());
  for (CallSite& site : p.calls) {
    p.calls_services = p.calls_services || site.route >= 0;
    if (site.route >= 0) payloads[static_cast<std::size_t>(site.route)].push_back(&site.payload);
  }
  for (Publication& publication : p.publications) payloads[static_cast<std::size_t>(publication.route)].push_back(&publication.payload);
  for (std::size_t r = 0; r < p.routes.size(); ++r) {
    RouteInfo& route = p.routes[r];
    auto names = [&](std::size_t version) -> const LocalNames& { return names_of(state, route, version); };
    std::vector<std::string> kept;
    std::vector<std::vector<ExprId>> kept_exprs(payloads[r].size());
    for (std::size_t i = 0; i < route.payload.size(); ++i) {
      if (names(0).find(route.payload[i]) < 0 && names(1).find(route.payload[i]) < 0) continue;
      kept.push_back(route.payload[i]);
      for (std::size_t k = 0; k < payloads[r].size(); ++k) kept_exprs[k].push_back((*payloads[r][k])[i]);
    }
    route.payload = std::move(kept);
    for (std::size_t k = 0; k < payloads[r].size(); ++k) *payloads[r][k] = std::move(kept_exprs[k]);
    for (std::size_t version = 0; version < 2; ++version) {
      route.key_cell[version] = names(version).find("key");
      for (std::size_t i = 0; i < route.payload.size(); ++i) {
        const int cell = names(version).find(route.payload[i]);
        if (cell >= 0) route.fields[version].push_back({cell, static_cast<int>(i), kNullCell});
      }
    }
  }
}

}  // namespace oncecheck

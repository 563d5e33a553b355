#include "model/program/actor_compiler.hpp"

#include <algorithm>

namespace oncecheck {

namespace {

template <class T>
std::vector<std::string> names_of(const Named<T>& all) {
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return names;
}

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

const Scalar* field_of(const Request& r, const std::string& name) {
  for (const auto& [field, value] : r.fields) {
    if (field == name) return &value;
  }
  return nullptr;
}

std::string shown(const Scalar& s) {
  if (s.kind == Scalar::Kind::String) return s.string;
  if (s.kind == Scalar::Kind::Int) return std::to_string(s.integer);
  return s.kind == Scalar::Kind::Bool ? (s.boolean ? "true" : "false") : "null";
}

// What an operation is called: "identity", else its key, else its place.
std::string identity_name(const std::string& client, std::size_t number, const Request& r) {
  if (!r.identity.empty()) return r.identity;
  const Scalar* key = field_of(r, "key");
  if (key != nullptr && r.fresh_key == FreshKey::No) return shown(*key);
  return client + "/" + std::to_string(number + 1);
}

std::string fresh_key(const std::string& client, std::size_t request, int click, int attempt, FreshKey how) {
  std::string name = "uuid(" + client + "/" + std::to_string(request + 1) + " click " + std::to_string(click + 1);
  if (how == FreshKey::PerAttempt) name += " attempt " + std::to_string(attempt + 1);
  return name + ")";
}

int retry_mask(const Client& client) {
  if (client.retry_on.empty()) return kRetryTimeout | kRetry5xx;
  int mask = 0;
  for (const std::string& what : client.retry_on) {
    if (what == "timeout") mask |= kRetryTimeout;
    if (what == "5xx") mask |= kRetry5xx;
    if (what == "unknown") mask |= kRetryUnknown;
    if (what == "failed") mask |= kRetryFailed;
  }
  return mask;
}

FaultKind fault_kind(const std::string& name) {
  for (int k = 0; k < kFaultKinds; ++k) {
    if (name == fault_name(static_cast<FaultKind>(k))) return static_cast<FaultKind>(k);
  }
  CHECK_THAT(!"the reader knows every fault name");
  return FaultKind::Crash;
}

void compile_fault(CompileState& state, const Fault& fault) {
  if (fault.max == 0) return;
  FaultBudget budget;
  budget.kind = fault_kind(fault.name);
  budget.max = fault.max;
  const Scenario& s = state.scenario;
  const auto services = names_of(s.services), providers = names_of(s.providers), clients = names_of(s.clients),
             redis = names_of(s.redis), databases = names_of(s.databases);
  if (!fault.target.empty()) {
    std::vector<std::string> fitting;
    auto try_target = [&](FaultTarget target, const std::vector<std::string>& names, bool fits) {
      if (!fits) return;
      fitting.insert(fitting.end(), names.begin(), names.end());
      const int i = index_of(names, fault.target);
      if (i < 0 || budget.index >= 0) return;
      budget.target = target;
      budget.index = i;
    };
    const FaultKind k = budget.kind;
    const bool network = k == FaultKind::LoseRequest || k == FaultKind::LoseResponse || k == FaultKind::DuplicateRequest;
    try_target(FaultTarget::Service, services, network || k == FaultKind::Crash || k == FaultKind::Deploy);
    try_target(FaultTarget::Provider, providers,
               network || k == FaultKind::Timeout || k == FaultKind::ErrorAfterEffect || k == FaultKind::ErrorBeforeEffect);
    try_target(FaultTarget::Client, clients, k == FaultKind::Timeout);
    try_target(FaultTarget::Redis, redis, k == FaultKind::Failover || k == FaultKind::Expire);
    try_target(FaultTarget::Database, databases,
               k == FaultKind::LoseConnection || k == FaultKind::Failover || k == FaultKind::Timeout);
    if (budget.index < 0) {
      state.errors.add(fault.at, "the fault \"" + fault.name + "\" cannot strike \"" + fault.target + "\"" +
                                     (fitting.empty() ? "" : " (it can strike " + alternatives(fitting) + ")"),
                       nearest_name(fault.target, fitting));
    }
  }
  state.program.faults.push_back(budget);
}

void compile_client(CompileState& state, std::size_t c) {
  Program& p = state.program;
  const auto& [name, client] = state.scenario.clients[c];
  const auto services = names_of(state.scenario.services);
  std::vector<int> earlier;
  for (std::size_t r = 0; r < client.requests.size(); ++r) {
    const Request& request = client.requests[r];
    RequestInfo info;
    info.client = static_cast<int>(c);
    info.service = index_of(services, request.to.value);
    if (info.service < 0) {
      state.errors.add(request.to.at, "the request goes to the unknown service \"" + request.to.value + "\"",
                       nearest_name(request.to.value, services));
      continue;
    }
    info.operation = static_cast<int>(p.requests.size());
    const int number = static_cast<int>(p.requests.size());
    p.requests.push_back(info);
    std::vector<int> mine;
    for (int click = 0; click < client.clicks; ++click) {
      SenderInfo sender;
      sender.client = static_cast<int>(c);
      sender.request = number;
      sender.click = click;
      sender.previous = click == 0 ? -1 : static_cast<int>(p.senders.size()) - 1;
      sender.needs_done = earlier;
      sender.retries = client.retries;
      sender.retry_on = retry_mask(client);
      sender.has_timeout = client.timeout.has_value();
      mine.push_back(static_cast<int>(p.senders.size()));
      p.senders.push_back(std::move(sender));
    }
    earlier = mine;
  }
}

}  // namespace

const char* fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::Crash: return "crash";
    case FaultKind::Deploy: return "deploy";
    case FaultKind::LoseRequest: return "lose_request";
    case FaultKind::LoseResponse: return "lose_response";
    case FaultKind::DuplicateRequest: return "duplicate_request";
    case FaultKind::Timeout: return "timeout";
    case FaultKind::Failover: return "failover";
    case FaultKind::Expire: return "expire";
    case FaultKind::ErrorAfterEffect: return "error_after_effect";
    case FaultKind::ErrorBeforeEffect: return "error_before_effect";
    case FaultKind::LoseConnection: return "lose_connection";
  }
  return "?";
}

void compile_actors(CompileState& state) {
  Program& p = state.program;
  for (const auto& [name, provider] : state.scenario.providers) {
    ProviderInfo info;
    info.name = name;
    for (const auto& [operation, spec] : provider.operations) {
      info.operations.push_back(operation);
      info.policies.push_back(spec.idempotency_key == "honoured"  ? KeyPolicy::Honoured
                              : spec.idempotency_key == "ignored" ? KeyPolicy::Ignored
                                                                  : KeyPolicy::None);
      info.may_decline.push_back(spec.may_decline);
    }
    p.providers.push_back(std::move(info));
  }
  for (std::size_t c = 0; c < state.scenario.clients.size(); ++c) {
    p.clients.push_back(state.scenario.clients[c].first);
    compile_client(state, c);
  }
  for (const Fault& fault : state.scenario.faults) compile_fault(state, fault);
  // Worlds and events name each of these by a byte.
  const Origin file{state.scenario.file, "", 1, 1};
  if (p.senders.size() > 200 || p.requests.size() > 200) state.errors.add(file, "a scenario has at most 200 requests, clicks counted");
  if (p.faults.size() > 200) state.errors.add(file, "a scenario has at most 200 fault budgets");
  if (p.providers.size() > 200 || state.scenario.services.size() > 200 || state.scenario.redis.size() > 50) {
    state.errors.add(file, "a scenario has at most 200 services, 200 providers and 50 redis");
  }
  for (const ProviderInfo& info : p.providers) {
    if (info.operations.size() > 50) state.errors.add(file, "provider \"" + info.name + "\" has more than 50 operations");
  }
}

void intern_actor_values(CompileState& state, std::vector<std::int64_t>& ints) {
  for (const char* text : {"ok", "failed", "accepted", "unknown", "OK"}) state.intern(text);
  for (Answer a : {Answer::Ok, Answer::Declined, Answer::Error, Answer::NotFound}) ints.push_back(answer_status(a));
  for (const auto& [name, redis] : state.scenario.redis) state.intern(name);
  for (const auto& [name, provider] : state.scenario.providers) {
    state.intern(name);
    for (const auto& [operation, spec] : provider.operations) state.intern(operation);
    for (int i = 0; i < state.scenario.bounds.effects; ++i) state.intern(name + "_" + std::to_string(i + 1));
  }
  for (std::size_t d = 0; d < state.scenario.databases.size(); ++d) {
    for (const EffectTable& e : state.scenario.databases[d].second.effects) state.intern(e.table.value);
  }
  for (const auto& [name, client] : state.scenario.clients) {
    state.intern(name);
    for (std::size_t r = 0; r < client.requests.size(); ++r) {
      const Request& request = client.requests[r];
      state.intern(identity_name(name, r, request));
      for (const auto& [field, value] : request.fields) {
        if (value.kind == Scalar::Kind::String) state.intern(value.string);
        if (value.kind == Scalar::Kind::Int) ints.push_back(value.integer);
      }
      if (request.fresh_key == FreshKey::No) continue;
      for (int click = 0; click < client.clicks; ++click) {
        for (int attempt = 0; attempt <= client.retries; ++attempt) {
          state.intern(fresh_key(name, r, click, attempt, request.fresh_key));
        }
      }
    }
  }
}

void encode_actors(CompileState& state) {
  Program& p = state.program;
  Plan& plan = p.plan;
  Limit limit;
  auto text = [&](const std::string& t) { return plan.domain.encode(text_val(plan.domain.text_index(t)), limit); };
  auto scalar = [&](const Scalar& s) -> CellId {
    switch (s.kind) {
      case Scalar::Kind::Null: return kNullCell;
      case Scalar::Kind::Bool: return plan.domain.encode(bool_val(s.boolean), limit);
      case Scalar::Kind::Int: return plan.domain.encode(int_val(s.integer), limit);
      case Scalar::Kind::String: return text(s.string);
    }
    return kNullCell;
  };
  plan.outcome_ok = text("ok");
  plan.outcome_failed = text("failed");
  plan.outcome_accepted = text("accepted");
  plan.outcome_unknown = text("unknown");
  for (int id = 0; id < plan.domain.size(); ++id) plan.identity_of.push_back(static_cast<CellId>(id));
  for (const auto& [name, redis] : state.scenario.redis) plan.redis_name.push_back(text(name));
  for (ProviderInfo& info : p.providers) {
    plan.provider_name.push_back(text(info.name));
    std::vector<CellId> operations;
    for (const std::string& o : info.operations) operations.push_back(text(o));
    plan.operation_names.push_back(std::move(operations));
    for (int i = 0; i < state.scenario.bounds.effects; ++i) info.effect_ids.push_back(text(info.name + "_" + std::to_string(i + 1)));
  }
  std::size_t number = 0, sender = 0;
  for (const auto& [name, client] : state.scenario.clients) {
    for (std::size_t r = 0; r < client.requests.size(); ++r, ++number) {
      const Request& request = client.requests[r];
      RequestInfo& info = p.requests[number];
      const LocalNames& names = state.names[static_cast<std::size_t>(p.services[static_cast<std::size_t>(info.service)].request_body)];
      info.identity = text(identity_name(name, r, request));
      info.identity_cell = names.find("identity");
      info.key_cell = names.find("key");
      plan.operation_client.push_back(text(name));
      plan.operation_identity.push_back(info.identity);
      CellId key = kNullCell;
      for (const auto& [field, value] : request.fields) {
        const CellId cell_value = scalar(value);
        if (field == "key") {
          key = cell_value;
        } else if (const int cell = names.find(field); cell >= 0) {
          info.fields.emplace_back(cell, cell_value);
        }
      }
      if (request.fresh_key == FreshKey::No && key != kNullCell) plan.identity_of[key] = info.identity;
      for (int click = 0; click < client.clicks; ++click, ++sender) {
        for (int attempt = 0; attempt <= client.retries; ++attempt) {
          CellId k = key;
          if (request.fresh_key != FreshKey::No) {
            k = text(fresh_key(name, r, click, attempt, request.fresh_key));
            plan.identity_of[k] = info.identity;
          }
          p.senders[sender].keys.push_back(k);
        }
      }
    }
  }
  CHECK_THAT(!limit);
}

}  // namespace oncecheck

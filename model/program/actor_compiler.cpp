#include "model/program/actor_compiler.hpp"

#include <algorithm>
#include <tuple>

#include "model/program/route_compiler.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/zone_compiler.hpp"

#include "model/world/redis_run.hpp"

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

bool varies(const Request& r) { return r.fresh_key != FreshKey::No || !r.key_from.empty(); }

// What an operation is called: "identity", else its key, else its place.
std::string identity_name(const std::string& client, std::size_t number, const Request& r) {
  if (!r.identity.empty()) return r.identity;
  const Scalar* key = field_of(r, "key");
  if (key != nullptr && !varies(r)) return shown(*key);
  return client + "/" + std::to_string(number + 1);
}

// The key of one attempt, when it is not written down.
std::string made_key(const std::string& client, std::size_t number, const Request& r, int click, int attempt) {
  const std::string of_click = "click " + std::to_string(click + 1);
  const std::string of_attempt = of_click + " attempt " + std::to_string(attempt + 1);
  if (r.key_from.empty()) {
    return "uuid(" + client + "/" + std::to_string(number + 1) + " " +
           (r.fresh_key == FreshKey::PerAttempt ? of_attempt : of_click) + ")";
  }
  std::string key;
  for (const Text& part : r.key_from) {
    if (!key.empty()) key += "/";
    const Scalar* field = field_of(r, part.value);
    key += field != nullptr ? shown(*field) : part.value == "attempt" ? of_attempt : of_click;
  }
  return key;
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

// REQUIRES: the reader has accepted the times.
std::int64_t milliseconds(const Text& interval) { return sql::parse_interval(interval.value).value_or(0) / 1000; }

std::vector<std::int64_t> waits_of(const Client& client) {
  std::vector<std::int64_t> waits;
  if (!client.backoff) return waits;
  const std::int64_t most = client.backoff->max ? milliseconds(*client.backoff->max) : INT64_MAX / 10;
  std::int64_t wait = milliseconds(client.backoff->initial);
  for (int retry = 0; retry < client.retries && client.retries != kUnlimited; ++retry) {
    waits.push_back(std::min(wait, most));
    wait = waits.back() * client.backoff->factor;
  }
  return waits;
}

FaultKind fault_kind(const std::string& name) {
  for (int k = 0; k < kFaultKinds; ++k) {
    if (name == fault_name(static_cast<FaultKind>(k))) return static_cast<FaultKind>(k);
  }
  CHECK_THAT(!"the reader knows every fault name");
  return FaultKind::Crash;
}

void compile_fault(CompileState& state, const Fault& fault) {
  if (fault.max == 0 && !fault.only) return;
  if (!fault.groups.empty()) {
    compile_partition(state, fault);
    return;
  }
  FaultBudget budget;
  budget.kind = fault_kind(fault.name);
  budget.max = fault.max;
  budget.endless = fault.endless;
  budget.only = fault.only;
  const Scenario& s = state.scenario;
  const auto services = names_of(s.services), providers = names_of(s.providers), clients = names_of(s.clients),
             redis = names_of(s.redis), databases = names_of(s.databases), queues = names_of(s.queues);
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
    const bool network = k == FaultKind::LoseRequest || k == FaultKind::LoseResponse || k == FaultKind::LoseMessage || k == FaultKind::DuplicateRequest;
    const bool instances = k == FaultKind::Crash || k == FaultKind::Deploy || k == FaultKind::RollingDeploy || k == FaultKind::ClockJump;
    const bool lie = k == FaultKind::ErrorAfterEffect || k == FaultKind::ErrorBeforeEffect || k == FaultKind::OkWithoutEffect;
    const bool timeout = k == FaultKind::Timeout, expire = k == FaultKind::Expire, again = k == FaultKind::Redeliver;
    try_target(FaultTarget::Service, services, network || instances || timeout || again);
    try_target(FaultTarget::Provider, providers, network || timeout || lie || expire);
    try_target(FaultTarget::Client, clients, timeout);
    try_target(FaultTarget::Redis, redis, k == FaultKind::Failover || expire || k == FaultKind::RestartRedis ||
                                             k == FaultKind::Partition || k == FaultKind::Evict ||
                                             k == FaultKind::LoseConnection);
    try_target(FaultTarget::Database, databases, k == FaultKind::LoseConnection || k == FaultKind::Failover || timeout);
    try_target(FaultTarget::Queue, queues, k == FaultKind::LoseConnection || k == FaultKind::DuplicateRequest || again);
    if (budget.index < 0) {
      state.errors.add(fault.at, "the fault \"" + fault.name + "\" cannot strike \"" + fault.target + "\"" +
                                     (fitting.empty() ? "" : " (it can strike " + alternatives(fitting) + ")"),
                       nearest_name(fault.target, fitting));
    }
  }
  state.program.faults.push_back(budget);
}

// Of a client that tries again without end every attempt has the same key.
int attempts_with_keys(const Client& client) { return client.retries == kUnlimited ? 1 : 1 + client.retries; }

void check_key(CompileState& state, const Client& client, const Request& request) {
  const bool by_attempt = request.fresh_key == FreshKey::PerAttempt ||
                          std::any_of(request.key_from.begin(), request.key_from.end(), [](const Text& part) { return part.value == "attempt"; });
  if (client.retries == kUnlimited && by_attempt) {
    state.errors.add(request.at, "a client with \"retries\": \"unlimited\" has one key for all attempts: a new one for each of them has no end");
  }
  std::vector<std::string> known = {"click", "attempt"};
  for (const auto& [name, value] : request.fields) known.push_back(name);
  for (const Text& part : request.key_from) {
    if (index_of(known, part.value) >= 0) continue;
    state.errors.add(part.at, "the key is made from the unknown field \"" + part.value + "\"", nearest_name(part.value, known));
  }
}

void compile_client(CompileState& state, std::size_t c) {
  Program& p = state.program;
  const auto& [name, client] = state.scenario.clients[c];
  std::vector<int> earlier;
  for (const Request& request : client.requests) {
    check_key(state, client, request);
    RouteInfo route;
    route.client = static_cast<int>(c);
    const auto to = find_endpoint(state, request.to);
    if (!to) continue;
    std::tie(route.service, route.endpoint) = *to;
    const int number = static_cast<int>(p.routes.size());
    route.operation = p.operations++;
    p.routes.push_back(route);
    int poll = -1;
    if (client.poll) {
      const auto polled = find_endpoint(state, client.poll->to);
      if (!polled) continue;
      std::tie(route.service, route.endpoint) = *polled;
      poll = static_cast<int>(p.routes.size());
      p.routes.push_back(route);
    }
    std::vector<int> mine;
    for (int click = 0; click < client.clicks; ++click) {
      SenderInfo sender;
      sender.client = static_cast<int>(c);
      sender.route = number;
      sender.poll_route = poll;
      sender.polls = !client.poll ? 0 : client.poll->times == kUnlimited ? kEndlessPolls : client.poll->times;
      sender.click = click;
      sender.previous = click == 0 ? -1 : static_cast<int>(p.senders.size()) - 1;
      sender.needs_done = earlier;
      sender.retries = client.retries;
      sender.retry_on = retry_mask(client);
      sender.has_timeout = client.timeout.has_value();
      sender.instant = client.instant;
      sender.backoff = waits_of(client);
      mine.push_back(static_cast<int>(p.senders.size()));
      if (sender.instant) p.instant_senders.push_back(mine.back());
      p.senders.push_back(std::move(sender));
    }
    earlier = mine;
  }
}

OperationInfo compile_operation(CompileState& state, const Provider& provider, const std::string& name, const Operation& spec) {
  OperationInfo info;
  info.name = name;
  info.key = spec.idempotency_key == "honoured"    ? KeyPolicy::Honoured
             : spec.idempotency_key == "ignored"   ? KeyPolicy::Ignored
             : spec.idempotency_key == "sometimes" ? KeyPolicy::Sometimes
                                                   : KeyPolicy::None;
  info.object = spec.object == "put"       ? ObjectWrite::Put
                : spec.object == "put_new" ? ObjectWrite::PutNew
                : spec.object == "delete"  ? ObjectWrite::Delete
                                           : ObjectWrite::No;
  info.may_decline = spec.may_decline;
  info.stores_everything = spec.stores_everything;
  info.refuses_other_parameters = spec.refuses_other_parameters;
  info.conflicts_in_flight = spec.conflicts_in_flight;
  info.forgets = spec.forgets_after.has_value();
  const auto operations = names_of(provider.operations);
  auto other = [&](const std::optional<Text>& which, const char* key) {
    if (!which) return -1;
    const int o = index_of(operations, which->value);
    if (o < 0) {
      state.errors.add(which->at, std::string("\"") + key + "\" names the unknown operation \"" + which->value + "\"",
                       nearest_name(which->value, operations));
    } else if (operations[static_cast<std::size_t>(o)] == name) {
      state.errors.add(which->at, std::string("\"") + key + "\" names the operation itself");
    }
    return o;
  };
  info.undoes = other(spec.undoes, "undoes");
  info.cancels = other(spec.cancels, "cancels");
  if (info.cancels >= 0) {  // to cancel twice is to cancel once, whatever the key
    info.key = KeyPolicy::None;
    info.stores_everything = info.refuses_other_parameters = info.conflicts_in_flight = info.forgets = false;
  }
  const bool own_key = info.undoes >= 0 && (info.key == KeyPolicy::Honoured || info.key == KeyPolicy::Sometimes);
  info.key_records = own_key || info.stores_everything || info.refuses_other_parameters || info.conflicts_in_flight || info.forgets;
  if (info.undoes >= 0 && info.cancels >= 0 && info.undoes != info.cancels) {
    state.errors.add(spec.at, "\"undoes\" and \"cancels\" of one operation name the same operation");
  }
  return info;
}

void compile_provider(CompileState& state, const std::string& name, const Provider& provider) {
  ProviderInfo info;
  info.name = name;
  info.lookup_instant = provider.lookup == "instant";
  info.lookup_lags = provider.lookup == "lagging" || provider.list == "lagging";
  for (const auto& [operation, spec] : provider.operations) {
    info.operations.push_back(compile_operation(state, provider, operation, spec));
    info.holds_objects = info.holds_objects || info.operations.back().object != ObjectWrite::No;
  }
  for (const OperationInfo& o : info.operations) {
    if (o.cancels >= 0) info.operations[static_cast<std::size_t>(o.cancels)].key_records = true;
  }
  for (const OperationInfo& o : info.operations) {
    if (info.holds_objects && (o.object == ObjectWrite::No || o.key != KeyPolicy::None)) {
      state.errors.add(provider.at, "every operation of an object store is put, put_new or delete, and takes no idempotency key");
    }
  }
  if (!provider.list.empty() && !info.holds_objects) state.errors.add(provider.at, "\"list\" is for an object store: an operation has \"object\"");
  state.program.providers.push_back(std::move(info));
}

bool may_lie(const Program& p) {
  return std::any_of(p.faults.begin(), p.faults.end(), [](const FaultBudget& f) { return f.kind == FaultKind::OkWithoutEffect; });
}

// What look-ups and webhooks say, when somebody listens: every text more makes the domain larger.
std::vector<std::string> provider_words(const Program& p) {
  const bool asked = std::any_of(p.calls.begin(), p.calls.end(), [](const CallSite& site) { return site.state_cell >= 0; });
  const bool told = std::any_of(p.routes.begin(), p.routes.end(), [](const RouteInfo& r) { return r.kind == RouteKind::Webhook; });
  if (!asked && !told) return {};
  return {"succeeded", "undone", "declined", "cancelled", "in_flight", "unknown"};
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
    case FaultKind::OkWithoutEffect: return "ok_without_effect";
    case FaultKind::Redeliver: return "redeliver";
    case FaultKind::RollingDeploy: return "rolling_deploy";
    case FaultKind::ClockJump: return "clock_jump";
    case FaultKind::RestartRedis: return "restart_redis";
    case FaultKind::Partition: return "partition";
    case FaultKind::Evict: return "evict";
    case FaultKind::LoseMessage: return "lose_message";
  }
  return "?";
}

void compile_actors(CompileState& state) {
  Program& p = state.program;
  compile_services(state);
  for (const auto& [name, provider] : state.scenario.providers) compile_provider(state, name, provider);
  for (std::size_t c = 0; c < state.scenario.clients.size(); ++c) {
    p.clients.push_back(state.scenario.clients[c].first);
    compile_client(state, c);
  }
  compile_webhooks(state);
  for (const Fault& fault : state.scenario.faults) compile_fault(state, fault);
  compile_zones(state);
  // Worlds and events name each of these by a byte.
  const Origin file{state.scenario.file, "", 1, 1};
  if (p.senders.size() > 200 || p.routes.size() > 200) state.errors.add(file, "a scenario has at most 200 requests, clicks counted");
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
  for (int a = 1; a < kAnswers; ++a) ints.push_back(answer_status(static_cast<Answer>(a)));
  for (const ReplySpec& reply : state.program.replies) ints.push_back(reply.status);
  for (const std::string& word : provider_words(state.program)) state.intern(word);
  if (!state.scenario.queues.empty()) {
    for (const char* text : {"ready", "held", "dead"}) state.intern(text);
    for (const auto& [name, queue] : state.scenario.queues) state.intern(name);
  }
  for (const auto& [name, redis] : state.scenario.redis) state.intern(name);
  for (const auto& [name, provider] : state.scenario.providers) {
    state.intern(name);
    for (const auto& [operation, spec] : provider.operations) state.intern(operation);
    for (int i = 0; i < state.scenario.bounds.effects; ++i) state.intern(name + "_" + std::to_string(i + 1));
    if (may_lie(state.program)) state.intern(name + "_lost");
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
      if (!varies(request)) continue;
      for (int click = 0; click < client.clicks; ++click) {
        for (int attempt = 0; attempt < attempts_with_keys(client); ++attempt) state.intern(made_key(name, r, request, click, attempt));
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
  auto word = [&](const char* t) { return state.text_index.count(t) > 0 ? text(t) : kNullCell; };
  plan.redis_words = {text("OK"), word("QUEUED"), word("PONG"), word("string"), word("none")};
  // '42' and 42 are the same string in Redis.
  for (int id = 0; id < plan.domain.size(); ++id) {
    const auto cell = static_cast<CellId>(id);
    std::int64_t n = 0;
    Limit none;
    const CellId number = redis_number(plan.domain, cell, n) ? plan.domain.encode(int_val(n), none) : cell;
    plan.redis_string.push_back(none ? cell : number);
  }
  for (ProviderInfo& info : p.providers) {
    plan.provider_name.push_back(text(info.name));
    std::vector<CellId> operations;
    for (const OperationInfo& o : info.operations) operations.push_back(text(o.name));
    plan.operation_names.push_back(std::move(operations));
    for (int i = 0; i < state.scenario.bounds.effects; ++i) info.effect_ids.push_back(text(info.name + "_" + std::to_string(i + 1)));
    plan.effect_ids.push_back(info.holds_objects ? std::vector<CellId>{} : info.effect_ids);
    if (may_lie(p)) info.lost_id = text(info.name + "_lost");
    if (provider_words(p).empty()) continue;
    for (int a = 1; a < kAnswers; ++a) {
      if (answer_state(static_cast<Answer>(a))[0] != 0) info.states[static_cast<std::size_t>(a)] = text(answer_state(static_cast<Answer>(a)));
    }
    for (std::size_t e = 0; e < 3; ++e) info.webhook_events[e] = text(std::vector<std::string>{"succeeded", "declined", "undone"}[e]);
  }
  std::size_t number = 0, sender = 0;
  for (const auto& [name, client] : state.scenario.clients) {
    for (std::size_t r = 0; r < client.requests.size(); ++r) {
      const Request& request = client.requests[r];
      const CellId identity = text(identity_name(name, r, request));
      plan.operation_client.push_back(text(name));
      plan.operation_identity.push_back(identity);
      CellId key = kNullCell;
      for (const auto& [field, value] : request.fields) {
        if (field == "key") key = scalar(value);
      }
      for (int twice = 0; twice < (client.poll ? 2 : 1); ++twice) {
        RouteInfo& route = p.routes[number++];
        route.identity = identity;
        for (std::size_t version = 0; version < 2; ++version) {
          const ServiceInfo& service = p.services[static_cast<std::size_t>(route.service)];
          const LocalNames& names =
              state.names[static_cast<std::size_t>(service.request_bodies[version][static_cast<std::size_t>(route.endpoint)])];
          auto field_cell = [&](const std::string& field, CellId value) {
            if (const int cell = names.find(field); cell >= 0) route.fields[version].push_back({cell, -1, value});
          };
          field_cell("identity", identity);
          for (const auto& [field, value] : request.fields) {
            if (field != "key") field_cell(field, scalar(value));
          }
        }
      }
      if (!varies(request) && key != kNullCell) plan.identity_of[key] = identity;
      for (int click = 0; click < client.clicks; ++click, ++sender) {
        for (int attempt = 0; attempt < attempts_with_keys(client); ++attempt) {
          CellId k = key;
          if (varies(request)) {
            k = text(made_key(name, r, request, click, attempt));
            plan.identity_of[k] = identity;
          }
          p.senders[sender].keys.push_back(k);
          const std::pair<int, CellId> sent{static_cast<int>(plan.operation_client.size()) - 1, k};
          if (k != kNullCell && (plan.operation_keys.empty() || plan.operation_keys.back() != sent)) plan.operation_keys.push_back(sent);
        }
      }
    }
  }
  for (const ReplySpec& reply : p.replies) plan.reply_status.push_back(reply.status);
  for (const QueueInfo& queue : p.message_queues) plan.queue_name.push_back(text(queue.name));
  for (const RouteInfo& route : p.routes) {
    RoutePlan r;
    if (route.queue >= 0) {
      r.keeps_dead = true;
      r.queue = text(p.message_queues[static_cast<std::size_t>(route.queue)].name);
    }
    plan.routes.push_back(r);
  }
  if (!p.message_queues.empty()) {
    plan.state_ready = text("ready");
    plan.state_held = text("held");
    plan.state_dead = text("dead");
  }
  CHECK_THAT(!limit);
}

}  // namespace oncecheck

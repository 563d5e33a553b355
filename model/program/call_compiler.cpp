// Steps that call a provider or another service, or put a message into a queue.
#include <algorithm>
#include <set>

#include "model/program/body_compiler.hpp"
#include "model/program/route_compiler.hpp"
#include "model/program/step_words.hpp"

namespace oncecheck {

void BodyCompiler::call(const Step& s, const std::string& place) {
  CallSite site;
  const auto target = find_call_target(state_, s);
  if (!target) return;
  if (target->service >= 0) {
    RouteInfo route;
    route.kind = RouteKind::Call;
    route.service = target->service;
    route.endpoint = target->endpoint;
    site.route = message_arguments(s, std::move(route), site.key, site.payload);
  } else {
    site.provider = target->provider;
    site.operation = target->operation;
    provider_arguments(s, site);
  }
  site.has_timeout = s.timeout.has_value();
  if (s.resends > 0) {
    // The library sends the same bytes again.
    for (ExprId* e : {&site.key, &site.amount, &site.identity, &site.target}) *e = once(*e);
    for (ExprId& e : site.payload) e = once(e);
  }
  const int step = add_step(s, place, "call " + s.text.value);
  std::vector<int> sites;
  for (int i = 0; i <= s.resends; ++i) {
    const int number = static_cast<int>(p_.calls.size());
    if (i > 0) p_.calls[static_cast<std::size_t>(sites.back())].on_timeout = here();
    sites.push_back(number);
    p_.calls.push_back(site);
    call_results_.push_back({number, s.into});
    emit({InstrKind::Call, number, -1, kNoExpr, step});
    emit({InstrKind::Await, number, -1, kNoExpr, step});
  }
  call_handlers(s, sites, place);
}

// The value is computed now and kept, however often it is used.
ExprId BodyCompiler::once(ExprId argument) {
  if (argument == kNoExpr) return kNoExpr;
  const int cell = names_.take_hidden("argument");
  emit({InstrKind::Set, cell, -1, argument, -1});
  return state_.local(cell);
}

void BodyCompiler::provider_arguments(const Step& s, CallSite& site) {
  const bool lookup = only_reads(site.operation);
  const bool objects = p_.providers[static_cast<std::size_t>(site.provider)].holds_objects;
  const Provider& provider = state_.scenario.providers[static_cast<std::size_t>(site.provider)].second;
  const bool takes_target =
      !lookup && (provider.operations[static_cast<std::size_t>(site.operation)].second.undoes ||
                  provider.operations[static_cast<std::size_t>(site.operation)].second.cancels);
  std::vector<std::string> known = {"key", objects ? "body" : "amount", "identity"};
  if (site.operation == kList) known = {"prefix"};
  if (takes_target) known.push_back("target");
  ExprId identity = kNoExpr;
  for (const auto& [name, text] : s.args) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      state_.errors.add(text.at, "unknown argument \"" + name + "\" of a call of a provider (" + alternatives(known) + ", timeout, into, on_timeout, on_error, resends)",
                        nearest_name(name, known));
    } else if (name == "key" || name == "prefix") {
      site.key = expression(text);
    } else if (name == "amount" || name == "body") {
      site.amount = expression(text);
    } else if (name == "identity") {
      identity = expression(text);
    } else {
      site.target = expression(text);
    }
  }
  if (objects && site.operation != kList && site.key == kNoExpr) state_.errors.add(s.at, "an object needs its \"key\"");
  if (site.operation == kLookup && !objects && site.key == kNoExpr) state_.errors.add(s.at, "a look-up needs the \"key\" that it asks for");
  if (takes_target && site.target == kNoExpr) site.target = site.key;
  if (takes_target && site.target == kNoExpr) {
    state_.errors.add(s.at, "\"" + s.text.value + "\" needs \"target\" (the id or the key of what it takes back) or \"key\"");
  }
  if (!lookup) site.identity = identity_of(s, identity, site.key, "a call");
}

int BodyCompiler::message_arguments(const Step& s, RouteInfo route, ExprId& key, std::vector<ExprId>& payload) {
  ExprId identity = kNoExpr;
  for (const auto& [name, text] : s.args) {
    if (name == "key") {
      key = expression(text);
    } else if (name == "identity") {
      identity = expression(text);
    } else {
      route.payload.push_back(name);
      payload.push_back(expression(text));
    }
  }
  route.payload.push_back("identity");
  payload.push_back(identity_of(s, identity, key, route.kind == RouteKind::Queue ? "a message" : "a call"));
  p_.routes.push_back(std::move(route));
  return static_cast<int>(p_.routes.size()) - 1;
}

ExprId BodyCompiler::identity_of(const Step& s, ExprId identity, ExprId key, const char* what) {
  Node n;
  n.op = Op::IdentityOf;
  if (identity != kNoExpr) {
    n.a = identity;
  } else if (kind_ == TaskKind::Request) {
    return state_.local(names_.take("identity"));
  } else if (key != kNoExpr) {
    n.a = key;
  } else {
    state_.errors.add(s.at, std::string(what) + " outside of a request handler needs \"key\" or \"identity\", to know whose effect it is");
    return kNoExpr;
  }
  return state_.add(n);
}

void BodyCompiler::call_handlers(const Step& s, const std::vector<int>& sites, const std::string& place) {
  std::vector<int> ends;
  auto set_answer = [&](Answer a, int to) {
    for (int site : sites) p_.calls[static_cast<std::size_t>(site)].on_answer[static_cast<std::size_t>(a)] = to;
  };
  if (s.has_on_timeout) {
    p_.calls[static_cast<std::size_t>(sites.back())].on_timeout = here();
    ends.push_back(handler_block(s.on_timeout, place + "/on_timeout", "call " + s.text.value));
  } else {
    unset_timeouts_.push_back(sites.back());
  }
  // A look-up that finds nothing has got its answer.
  const CallSite& first = p_.calls[static_cast<std::size_t>(sites.front())];
  const bool lookup = first.route < 0 && only_reads(first.operation);
  std::set<Answer> open = {Answer::Declined, Answer::Error, Answer::Conflict, Answer::Refused, Answer::Exists};
  if (!lookup) open.insert(Answer::NotFound);
  auto handler = [&](const std::string& name, const std::set<Answer> answers) {
    const auto it = s.on_error.find(name);
    if (it == s.on_error.end()) return;
    bool used = false;
    for (Answer a : answers) {
      if (open.erase(a) > 0) {
        set_answer(a, here());
        used = true;
      }
    }
    if (!used) return;
    ends.push_back(handler_block(it->second, place + "/on_error/" + name, "call " + s.text.value));
  };
  handler("declined", {Answer::Declined});
  handler("conflict", {Answer::Conflict});
  handler("exists", {Answer::Exists});
  handler("refused", {Answer::Refused});
  handler("not_found", {Answer::NotFound});
  handler("4xx", {Answer::Declined, Answer::NotFound, Answer::Conflict, Answer::Refused, Answer::Exists});
  handler("5xx", {Answer::Error});
  handler("any", open);
  for (Answer a : open) {
    for (int site : sites) unset_answers_.emplace_back(site, a);
  }
  for (int e : ends) patch(e);
  for (Answer a : {Answer::Ok, Answer::FoundUndone, Answer::FoundDeclined, Answer::FoundCancelled, Answer::FoundInFlight}) {
    set_answer(a, here());
  }
  if (lookup) set_answer(Answer::NotFound, here());
}

void BodyCompiler::publish(const Step& s, const std::string& place) {
  std::vector<std::string> known;
  int queue = -1;
  for (std::size_t q = 0; q < p_.message_queues.size(); ++q) {
    known.push_back(p_.message_queues[q].name);
    if (known.back() == s.text.value) queue = static_cast<int>(q);
  }
  if (queue < 0) {
    state_.errors.add(s.text.at, "\"publish\" names the unknown queue \"" + s.text.value + "\"", nearest_name(s.text.value, known));
    return;
  }
  const QueueInfo& info = p_.message_queues[static_cast<std::size_t>(queue)];
  RouteInfo route;
  route.kind = RouteKind::Queue;
  route.queue = queue;
  route.service = info.service;
  route.endpoint = info.endpoint;
  route.deliveries = info.receives;
  Publication publication;
  publication.route = message_arguments(s, std::move(route), publication.key, publication.payload);
  const int number = static_cast<int>(p_.publications.size());
  p_.publications.push_back(std::move(publication));
  emit({InstrKind::Publish, number, -1, kNoExpr, add_step(s, place, "publish to " + s.text.value)});
  std::string handled;
  for (const auto& [name, steps] : s.on_error) {
    if (handled.empty() || name == "connection_lost") handled = name;
  }
  if (handled.empty()) {
    unset_publications_.push_back(number);
    return;
  }
  const int skip = emit({InstrKind::Jump, -1, -1, kNoExpr, -1});
  p_.publications[static_cast<std::size_t>(number)].on_error = here();
  const int end = handler_block(s.on_error.at(handled), place + "/on_error/" + handled, "publish to " + s.text.value);
  patch(skip);
  patch(end);
}

}  // namespace oncecheck

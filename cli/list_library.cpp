#include "cli/list_library.hpp"

#include <cstdio>

#include "invariants/library.hpp"
#include "model/program/program.hpp"
#include "model/program/promise_params.hpp"
#include "model/program/provider_presets.hpp"

namespace oncecheck {

namespace {

void list_invariants() {
  for (const Promise& p : promise_library()) {
    std::printf("%s%s%s\n    %s\n    Not covered: %s\n", p.name, *p.alias != 0 ? ", also " : "", p.alias, p.meaning, p.not_covered);
    for (const PromiseParam& param : find_signature(p.name)->params) {
      std::printf("    \"%s\": %s%s\n", param.name.c_str(), param.meaning.c_str(), param.need == ParamNeed::Required ? " Required." : "");
    }
  }
}

const char* fault_words(FaultKind kind) {
  switch (kind) {
    case FaultKind::Crash: return "one process of a service dies: its requests stop, its transactions roll back; it starts anew";
    case FaultKind::Deploy: return "all processes of a service are replaced at once, with drain when the service has it; the next version, if there is one, comes with it";
    case FaultKind::RollingDeploy: return "the processes of a service are replaced one after the other; old and new ones run together meanwhile";
    case FaultKind::LoseRequest: return "a request to a service or a provider is lost on its way";
    case FaultKind::LoseResponse: return "an answer of a service or a provider is lost on its way";
    case FaultKind::LoseMessage: return "a request or an answer is lost on its way: one budget for both";
    case FaultKind::DuplicateRequest: return "a request to a service or a provider, or a message of a queue, arrives twice";
    case FaultKind::Timeout: return "somebody gives up waiting although the answer may still come, or a drain is cut short";
    case FaultKind::Failover: return "a primary dies and its replica takes over without some of the last writes";
    case FaultKind::Expire: return "a deadline, a time to live or a provider's memory of a key runs out while others are still at work";
    case FaultKind::ErrorAfterEffect: return "a provider carries out an operation but answers 500";
    case FaultKind::ErrorBeforeEffect: return "a provider answers 500 and has done nothing";
    case FaultKind::OkWithoutEffect: return "a provider answers 200 and has done nothing";
    case FaultKind::LoseConnection: return "the connection to a database, a Redis or a queue is lost, before a statement ran or before its answer came";
    case FaultKind::Redeliver: return "a message of a queue or a webhook is delivered again while its first consumer still works (rebalance, visibility time-out)";
    case FaultKind::RestartRedis: return "a Redis restarts with what its persistence kept";
    case FaultKind::Partition: return "a Redis primary is cut off from its replicas, together with some of its clients; or named groups are cut off from each other, until it heals";
    case FaultKind::Evict: return "a Redis is out of memory and evicts a key";
    case FaultKind::ClockJump: return "the clock of one instance jumps ahead or falls behind; its own steps compare deadlines with it, statements do not";
  }
  return "";
}

void list_faults() {
  for (int k = 0; k < kFaultKinds; ++k) {
    const auto kind = static_cast<FaultKind>(k);
    std::printf("%-20s %s\n", fault_name(kind), fault_words(kind));
  }
}

void list_occurrences() {
  for (int i = 0; i < kOccurrences; ++i) {
    const auto o = static_cast<Occurrence>(i);
    std::printf("%-26s %s\n", occurrence_name(o), occurrence_words(o));
  }
}

void list_steps() {
  static const std::pair<const char*, const char*> steps[] = {
      {"sql", "runs one statement on a database; visible"},
      {"redis", "runs one Redis command; visible"},
      {"call", "calls a provider or an endpoint of a service; three events: it is sent, carried out, answered"},
      {"publish", "puts a message into a queue; visible"},
      {"reply", "answers the caller; the program ends unless \"continue\" is set; visible"},
      {"pause", "lets others act in between; visible"},
      {"if", "takes one of two branches; runs along with the step before"},
      {"while", "repeats while a condition is true"},
      {"for_each", "repeats for each row of a query"},
      {"set", "gives values to locals; runs along with the step before"},
      {"stop", "ends the program"},
  };
  for (const auto& [name, words] : steps) std::printf("%-20s %s\n", name, words);
}

void list_operation(const std::string& name, const Operation& o) {
  std::printf("    %-16s idempotency_key %s", name.c_str(), o.idempotency_key.c_str());
  if (o.may_decline) std::printf(", may_decline");
  if (o.stores_everything) std::printf(", stores everything");
  if (o.refuses_other_parameters) std::printf(", other_parameters refused");
  if (o.conflicts_in_flight) std::printf(", in_flight conflict");
  if (o.forgets_after) std::printf(", forgets_after %s", o.forgets_after->value.c_str());
  if (o.undoes) std::printf(", undoes %s", o.undoes->value.c_str());
  if (!o.object.empty()) std::printf(", object %s", o.object.c_str());
  if (o.cancels) std::printf(", cancels %s", o.cancels->value.c_str());
  std::printf("\n");
}

void list_providers() {
  for (const ProviderPreset& p : provider_presets()) {
    std::printf("%s\n    %s\n", p.name.c_str(), p.meaning.c_str());
    for (const auto& [name, operation] : p.provider.operations) list_operation(name, operation);
    if (p.provider.list.empty()) list_operation("any other", p.any);
    std::printf("    look-up          %s\n", p.provider.lookup.empty() ? "none" : p.provider.lookup.c_str());
    if (!p.provider.list.empty()) std::printf("    list             %s\n", p.provider.list.c_str());
  }
}

}  // namespace

bool list_library(const std::string& what) {
  if (what == "invariants") list_invariants();
  else if (what == "faults") list_faults();
  else if (what == "steps") list_steps();
  else if (what == "occurrences") list_occurrences();
  else if (what == "providers") list_providers();
  else return false;
  return true;
}

}  // namespace oncecheck

#include "model/program/promise_params.hpp"

#include <algorithm>
#include <functional>

namespace oncecheck {

namespace {

PromiseParam record() { return {"record", ParamKind::Table, "", ParamNeed::Required, "", "Your own records of the operations."}; }
PromiseParam identity(const std::string& of) {
  return {"identity", ParamKind::Column, of, ParamNeed::Default, "", "The column that names the operation. Default: the first one."};
}
PromiseParam state(const std::string& of = "record") {
  return {"state", ParamKind::Column, of, ParamNeed::Default, "state", "The column with the state. Default: 'state'."};
}

std::vector<PromiseSignature> make() {
  using enum ParamKind;
  using enum ParamNeed;
  return {
      {"no-duplicate-effect", "no-double-charge", {}, {}},
      {"no-lost-intent", "", {}, {}},
      {"no-lost-effect", "",
       {record(), identity("record"), state(),
        {"done", Values, "state", Optional, "", "States that say that the effect happened. Default: any record says so."},
        {"effect", Source, "", Optional, "", "Only effects of this provider or operation."}},
       {}},
      {"no-phantom-success", "", {}, {}},
      {"no-phantom-effect", "",
       {record(), identity("record"), {"effect", Source, "", Optional, "", "Only effects of this provider or operation."}},
       {}},
      {"no-false-failure", "", {}, {}},
      {"no-false-refusal", "", {}, {}},
      {"no-false-duplicate", "", {}, {}},
      {"same-answer", "", {}, {}},
      {"only-owner-releases", "", {}, {}},
      {"only-owner-completes", "",
       {record(),
        {"owner", Column, "record", Optional, "", "The column with the owner's token."},
        {"token", Local, "", Optional, "", "The local in which a program keeps its own token."},
        state(),
        {"open", Values, "state", Optional, "", "States in which the record belongs to its owner. Default: while it has one."},
        {"fence", Column, "record", Optional, "", "A fencing token that must never go down."}},
       {{"owner", "token"}, {"fence"}}},
      {"no-state-regression", "",
       {record(), state(),
        {"final", Values, "state", Required, "", "The final states."},
        {"edges", Edges, "state", Optional, "", "Where a final state may go all the same; to null: it may be deleted."}},
       {}},
      {"systems-agree", "",
       {{"systems", Systems, "", Required, "", "Tables, providers and operations that must agree."}},
       {}},
      {"ledger-matches-provider", "",
       {{"ledger", Table, "", Default, "ledger", "Your own ledger. Default: the table 'ledger'."}, identity("ledger")},
       {}},
      {"outbox-complete", "",
       {{"outbox", Table, "", Default, "outbox", "The table of messages to send. Default: 'outbox'."},
        {"id", Column, "outbox", Default, "", "The column with the key of the message. Default: the first one."},
        {"queue", Queue, "", Optional, "", "The queue that they go to. Default: any."}},
       {}},
      {"conservation", "",
       {{"capture", Source, "", Required, "", "The operation that takes money."},
        {"refund", Source, "", Required, "", "The operation that gives it back."},
        {"pending", Table, "", Optional, "", "Your records of refunds that were promised."},
        {"identity", Column, "pending", Required, "", "Its column that names the payment."},
        {"key", Column, "pending", Required, "", "Its column with the key under which the refund is asked for."},
        {"amount", Column, "pending", Required, "", "Its column with the amount."},
        state("pending"),
        {"open", Values, "state", Optional, "", "States in which the refund is still to come. Default: any."}},
       {}},
      {"no-orphan-resource", "",
       {{"resource", Source, "", Required, "", "What makes the resources."},
        {"record", Table, "", Required, "", "The records that refer to them."},
        {"reference", Column, "record", Required, "", "The column with the key, or the provider's id, of the resource."},
        state(),
        {"live", Values, "state", Optional, "", "States of records that count. Default: any."}},
       {}},
      {"answered-eventually", "", {}, {}},
      {"no-stuck-intent", "",
       {{"record", Table, "", Optional, "", "Your own records of what is to be done."}, identity("record"), state(),
        {"open", Values, "state", Optional, "", "States that must come to an end."},
        {"lock", Keys, "", Optional, "", "Redis keys that are locks: they must be free again."}},
       {{"record", "open"}, {"lock"}}},
  };
}

}  // namespace

const std::vector<PromiseSignature>& promise_signatures() {
  static const std::vector<PromiseSignature> all = make();
  return all;
}

const PromiseSignature* find_signature(const std::string& name) {
  const auto it = std::ranges::find(promise_signatures(), name, &PromiseSignature::name);
  return it == promise_signatures().end() ? nullptr : &*it;
}

const PromiseParam* find_param(const PromiseSignature& signature, const std::string& name) {
  const auto it = std::ranges::find(signature.params, name, &PromiseParam::name);
  return it == signature.params.end() ? nullptr : &*it;
}

bool asked_for(const PromiseSignature& signature, const PromiseParam& param, const std::function<bool(const std::string&)>& given) {
  if (param.need != ParamNeed::Required) return false;
  if (param.kind != ParamKind::Column) return true;
  const PromiseParam* table = find_param(signature, param.of);
  return table->need != ParamNeed::Optional || given(param.of);
}

std::string form_of(ParamKind kind) {
  switch (kind) {
    case ParamKind::Table: return "the name of a table, as \"DATABASE.TABLE\" or \"TABLE\"";
    case ParamKind::Column: return "the name of a column";
    case ParamKind::Values: return "a value, or a list of values";
    case ParamKind::Keys: return "a Redis key, or a list of keys";
    case ParamKind::Edges: return "a list of pairs [FROM, TO]";
    case ParamKind::Source: return "a provider, as \"PROVIDER\" or \"PROVIDER.OPERATION\"";
    case ParamKind::Systems: return "a list of two or more tables, providers and operations";
    case ParamKind::Queue: return "the name of a queue";
    case ParamKind::Local: return "the name of a local";
  }
  return "";
}

bool is_list(ParamKind kind) { return kind == ParamKind::Values || kind == ParamKind::Keys || kind == ParamKind::Edges || kind == ParamKind::Systems; }

}  // namespace oncecheck

#include "model/program/provider_presets.hpp"

namespace oncecheck {

namespace {

Text text(const char* value) { return {value, {}}; }

Operation honoured() {
  Operation o;
  o.idempotency_key = "honoured";
  return o;
}

Operation taking_back(const char* operation) {
  Operation o = honoured();
  o.undoes = text(operation);
  return o;
}

// Stripe's API reference, "Idempotent requests": the result of the first request under a key is saved "regardless of whether it
// succeeds or fails", 500 included; other parameters under the same key are an error; a request that conflicts with one in flight is
// answered 409 and not saved; keys can be removed from the system after they are at least 24 hours old. Finding a charge by what the
// caller knows goes through the search, which lags behind ("Search": up to a minute in normal conditions).
ProviderPreset stripe_v1() {
  ProviderPreset p;
  p.name = "stripe-v1";
  p.meaning = "stores and replays every first answer, 500 included; refuses other parameters; 409 while in flight; forgets after 24h; the search lags";
  p.any = honoured();
  p.any.stores_everything = true;
  p.any.refuses_other_parameters = true;
  p.any.conflicts_in_flight = true;
  p.any.forgets_after = text("24h");
  Operation charge = p.any;
  charge.may_decline = true;
  Operation refund = p.any;
  refund.undoes = text("charge");
  p.provider.operations = {{"charge", charge}, {"refund", refund}};
  p.provider.lookup = "lagging";
  return p;
}

ProviderPreset stores_successes() {
  ProviderPreset p;
  p.name = "stores-successes";
  p.meaning = "remembers the key of what succeeded, and only that; the look-up is consistent";
  p.any = honoured();
  p.provider.operations = {{"charge", honoured()}, {"refund", taking_back("charge")}};
  p.provider.lookup = "consistent";
  return p;
}

ProviderPreset ignores_keys() {
  ProviderPreset p;
  p.name = "ignores-keys";
  p.meaning = "takes an idempotency key and does not look at it";
  p.any.idempotency_key = "ignored";
  p.provider.operations = {{"charge", p.any}};
  p.provider.lookup = "consistent";
  return p;
}

ProviderPreset honours_sometimes() {
  ProviderPreset p;
  p.name = "honours-sometimes";
  p.meaning = "honours a key or not, as it comes (a cache of keys in front of several data centres)";
  p.any.idempotency_key = "sometimes";
  p.provider.operations = {{"charge", p.any}};
  p.provider.lookup = "consistent";
  return p;
}

ProviderPreset lagging_lookup() {
  ProviderPreset p = stores_successes();
  p.name = "lagging-lookup";
  p.meaning = "remembers keys of successes; its look-up lags behind what it has done";
  p.provider.lookup = "lagging";
  return p;
}

ProviderPreset cancel_by_key() {
  ProviderPreset p = stores_successes();
  p.name = "cancel-by-key";
  p.meaning = "cancel refuses a key for good, or says that it is too late: a fence against requests that are still on their way";
  Operation cancel;
  cancel.cancels = text("charge");
  p.provider.operations.emplace_back("cancel", cancel);
  return p;
}

// PUT at a name overwrites; If-None-Match: * refuses (412) when the object is there; GET is consistent, and so is LIST unless the
// scenario says "list": "lagging".
ProviderPreset object_store() {
  ProviderPreset p;
  p.name = "object-store";
  p.meaning = "PUT overwrites, put_new is PUT with If-None-Match: *, GET, DELETE and LIST are consistent";
  auto operation = [](const char* object) {
    Operation o;
    o.object = object;
    return o;
  };
  p.provider.operations = {{"put", operation("put")}, {"put_new", operation("put_new")}, {"delete", operation("delete")}};
  p.provider.lookup = "consistent";
  p.provider.list = "consistent";
  return p;
}

}  // namespace

const std::vector<ProviderPreset>& provider_presets() {
  static const std::vector<ProviderPreset> all = {stripe_v1(),         stores_successes(), ignores_keys(),
                                                  honours_sometimes(), lagging_lookup(),   cancel_by_key(),
                                                  object_store()};
  return all;
}

const ProviderPreset* find_preset(const std::string& name) {
  for (const ProviderPreset& p : provider_presets()) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

}  // namespace oncecheck

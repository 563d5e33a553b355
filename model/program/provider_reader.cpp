#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/program/each_part.hpp"
#include "model/program/part_reader.hpp"
#include "model/program/provider_presets.hpp"

namespace oncecheck {
namespace {

Webhook read_webhook(const JsonNode& node, NodeReader& reader) {
  Webhook out;
  out.at = reader.at(node);
  if (!reader.is_object(node, "a webhook")) return out;
  reader.check_keys(node, "a webhook", {"to", "on", "retries"});
  if (const JsonNode* to = reader.required(node, "to", "a webhook")) out.to = reader.text(*to, "a service, or SERVICE.ENDPOINT");
  if (const JsonNode* retries = node.find("retries")) out.retries = reader.integer(*retries, 0, 9);
  const JsonNode* on = node.find("on");
  if (on == nullptr || !reader.is_array(*on, "what it tells of")) return out;
  out.on_success = out.on_decline = out.on_undo = false;
  for (const JsonNode& event : on->children) {
    const std::string name = reader.choice(event, {"succeeded", "declined", "undone"});
    out.on_success = out.on_success || name == "succeeded";
    out.on_decline = out.on_decline || name == "declined";
    out.on_undo = out.on_undo || name == "undone";
  }
  return out;
}

void read_operation(const JsonNode& node, NodeReader& reader, Operation& out) {
  out.at = reader.at(node);
  reader.check_keys(node, "an operation",
                    {"idempotency_key", "may_decline", "stores", "other_parameters", "in_flight", "forgets_after", "undoes",
                     "cancels", "webhook", "webhooks", "object"});
  if (const JsonNode* object = node.find("object")) out.object = reader.choice(*object, {"put", "put_new", "delete"});
  if (const JsonNode* key = node.find("idempotency_key")) {
    out.idempotency_key = reader.choice(*key, {"honoured", "ignored", "sometimes", "none"});
  }
  if (const JsonNode* decline = node.find("may_decline")) out.may_decline = reader.boolean(*decline);
  if (const JsonNode* stores = node.find("stores")) {
    out.stores_everything = reader.choice(*stores, {"successes", "everything"}) == "everything";
  }
  if (const JsonNode* other = node.find("other_parameters")) {
    out.refuses_other_parameters = reader.choice(*other, {"same_answer", "refused"}) == "refused";
  }
  if (const JsonNode* flight = node.find("in_flight")) {
    out.conflicts_in_flight = reader.choice(*flight, {"waits", "conflict"}) == "conflict";
  }
  if (const JsonNode* forgets = node.find("forgets_after")) out.forgets_after = reader.interval(*forgets);
  if (const JsonNode* undoes = node.find("undoes")) out.undoes = reader.text(*undoes, "the name of an operation");
  if (const JsonNode* cancels = node.find("cancels")) out.cancels = reader.text(*cancels, "the name of an operation");
  if (const JsonNode* webhook = node.find("webhook")) out.webhooks = {read_webhook(*webhook, reader)};
  if (const JsonNode* webhooks = node.find("webhooks"); webhooks != nullptr && reader.is_array(*webhooks, "webhooks")) {
    for (const JsonNode& webhook : webhooks->children) out.webhooks.push_back(read_webhook(webhook, reader));
  }
  for (const char* unused : {"idempotency_key", "may_decline", "stores", "other_parameters", "in_flight", "forgets_after"}) {
    if (const JsonNode* member = node.find(unused); member != nullptr && out.cancels) {
      reader.key_mistake(*member, fmt::format("'{}' means nothing for an operation that 'cancels': to cancel twice is to cancel once, whatever the key", unused));
    }
  }
  const bool remembers = out.idempotency_key == "honoured";
  for (const char* needs_key : {"stores", "other_parameters", "in_flight", "forgets_after"}) {
    if (const JsonNode* member = node.find(needs_key); member != nullptr && !remembers) {
      reader.key_mistake(*member, fmt::format("'{}' needs \"idempotency_key\": \"honoured\"", needs_key));
    }
  }
}

Provider read_provider(const JsonNode& node, NodeReader& reader) {
  Provider out;
  Operation any;
  reader.check_keys(node, "a provider", {"preset", "operations", "lookup", "list"});
  if (const JsonNode* preset = node.find("preset")) {
    Names names;
    for (const ProviderPreset& p : provider_presets()) names.push_back(p.name);
    if (const ProviderPreset* found = find_preset(reader.choice(*preset, names))) {
      out = found->provider;
      any = found->any;
      out.preset = found->name;
      for (auto& [name, operation] : out.operations) operation.at = reader.at(*preset);
    }
  }
  out.at = reader.at(node);
  if (const JsonNode* lookup = node.find("lookup")) out.lookup = reader.choice(*lookup, {"consistent", "lagging", "instant"});
  if (const JsonNode* list = node.find("list")) out.list = reader.choice(*list, {"consistent", "lagging"});
  for_each_part(node, "operations", "an operation", reader, [&](const JsonNode& member) {
    const auto there = std::find_if(out.operations.begin(), out.operations.end(), [&](const auto& o) { return o.first == member.key; });
    if (there != out.operations.end()) {
      read_operation(member, reader, there->second);
    } else {
      out.operations.emplace_back(member.key, any);
      read_operation(member, reader, out.operations.back().second);
    }
  });
  return out;
}

}  // namespace

void read_providers(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "providers", "a provider", reader,
                [&](const JsonNode& part) { out.providers.emplace_back(part.key, read_provider(part, reader)); });
}

}  // namespace oncecheck

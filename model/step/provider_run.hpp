// What a provider does with a request at its door: keys, effects, refunds, look-ups, webhooks.
#pragma once

#include "model/step/event.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

// What the provider's memory says of the key of a request.
struct KnownKey {
  enum class Fate : std::uint8_t { New, Replayed, InFlight, OtherParameters, Cancelled } fate = Fate::New;
  Answer answer = Answer::None;  // what the caller gets, unless New
  int entry = -1;                // of the ledger, when the answer names one
};
KnownKey known_key(const Program& program, const std::uint8_t* w, int provider, const ProviderRequest& request);

// Whether the provider has to mark the key as in flight before it carries the request out: two events.
bool begins_first(const Program& program, const std::uint8_t* w, int provider, const ProviderRequest& request);

// Carries out the request in this slot of the inbox. Sets ctx.limit when a store is full.
void process_request(const Program& program, Context& ctx, int provider, int slot, ProcessChoice choice);

}  // namespace oncecheck

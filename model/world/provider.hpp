// A provider (Stripe-like HTTP API): requests on their way to it and its ledger of effects.
#pragma once

#include <cstdint>

#include "model/world/context.hpp"

namespace oncecheck {

// What a caller gets back. None: no answer is on its way.
enum class Answer : std::uint8_t {
  None = 0,
  Ok = 1,        // 200
  Declined = 2,  // 402, nothing done
  Error = 3,     // 500
  NotFound = 4,  // 404 of a look-up
};
int answer_status(Answer a);

enum class KeyPolicy : std::uint8_t { None, Ignored, Honoured };

// A request that waits at the provider's door.
struct ProviderRequest {
  int operation = 0;           // kLookup for a look-up
  std::uint8_t caller = kNobody;  // task, kNobody when nobody waits for the answer any more
  CellId key = kNullCell;
  CellId amount = kNullCell;
  CellId identity = kNullCell;
};
inline constexpr int kLookup = 60;

// False when the inbox is full.
bool post_request(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request);
bool request_waiting(const Plan& plan, const std::uint8_t* w, int provider, int slot);
ProviderRequest read_request(const Plan& plan, const std::uint8_t* w, int provider, int slot);
void drop_request(const Plan& plan, std::uint8_t* w, int provider, int slot);
// The caller no longer waits: its request goes on without it.
void orphan_requests(const Plan& plan, std::uint8_t* w, int task);
bool request_of(const Plan& plan, const std::uint8_t* w, int provider, int task);

// The ledger entry that an operation under this key made, -1 for none. operation kLookup: of any operation.
int find_effect(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key);
// Entry number, or -1 when the ledger is full.
int add_effect(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request);

}  // namespace oncecheck

// A provider (Stripe-like HTTP API): requests on their way to it and its ledger of effects.
#pragma once

#include <cstdint>

#include "model/world/context.hpp"

namespace oncecheck {

// What a caller gets back. None: no answer is on its way.
enum class Answer : std::uint8_t {
  None = 0,
  Ok = 1,         // 200
  Declined = 2,   // 402, nothing done
  Error = 3,      // 500
  NotFound = 4,   // 404: a look-up, or a refund that finds nothing
  Conflict = 5,   // 409: a request with the same key is in flight
  Refused = 6,    // 422: other parameters under the same key, a key that was cancelled, an effect that cannot be cancelled
  // Of a look-up: 200, but no effect stands.
  FoundUndone = 7,
  FoundDeclined = 8,
  FoundCancelled = 9,
  FoundInFlight = 10,
  Exists = 11,    // 412: the object is there already
};
inline constexpr int kAnswers = 12;
int answer_status(Answer a);
// What a look-up says of the operation: "succeeded", "undone", ...; "" for the answers of other calls.
const char* answer_state(Answer a);

enum class KeyPolicy : std::uint8_t {
  None,
  Ignored,
  Honoured,
  Sometimes,  // honoured or not, as it comes
};

// What the provider remembers of a key.
enum class KeyState : std::uint8_t { Free = 0, InFlight = 1, Done = 2, Declined = 3, Error = 4, Cancelled = 5 };

// A request that waits at the provider's door.
struct ProviderRequest {
  int operation = 0;           // kLookup for a look-up
  std::uint8_t caller = kNobody;  // task, kNobody when nobody waits for the answer any more
  CellId key = kNullCell;
  CellId amount = kNullCell;
  CellId identity = kNullCell;
  CellId target = kNullCell;   // which effect: its id or its key
  bool under_way = false;      // its key is marked as in flight
  std::uint8_t zone = 0;       // of the instance that called; kept only where there are partitions
};
inline constexpr int kLookup = 60;
inline constexpr int kList = 61;  // of an object store: how many objects have this prefix
inline bool only_reads(int operation) { return operation >= kLookup; }

// False when the inbox is full.
bool post_request(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request);
bool request_waiting(const Plan& plan, const std::uint8_t* w, int provider, int slot);
ProviderRequest read_request(const Plan& plan, const std::uint8_t* w, int provider, int slot);
void drop_request(const Plan& plan, std::uint8_t* w, int provider, int slot);
void begin_request(const Plan& plan, std::uint8_t* w, int provider, int slot);
// The caller no longer waits: its request goes on without it.
void orphan_requests(const Plan& plan, std::uint8_t* w, int task);
// Where in the inbox, or -1.
int request_slot_of(const Plan& plan, const std::uint8_t* w, int provider, int task);
inline bool request_of(const Plan& plan, const std::uint8_t* w, int provider, int task) {
  return request_slot_of(plan, w, provider, task) >= 0;
}

// The ledger entry that an operation under this key made, -1 for none. operation kLookup: of any operation, as a look-up
// sees it; one that stands before one that was taken back.
int find_effect(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key);
// Entry number, or -1 when the ledger is full. indexed: whether look-ups see it at once.
int add_effect(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request, bool indexed);
bool effect_stands(const Plan& plan, const std::uint8_t* w, int provider, int entry);
void take_back_effect(const Plan& plan, std::uint8_t* w, int provider, int entry);
// Whether look-ups lag behind the ledger, and the moment when they catch up.
bool lookup_lags(const Plan& plan, const std::uint8_t* w, int provider);
void index_effects(const Plan& plan, std::uint8_t* w, int provider);

// An object store is a provider whose ledger holds its objects: key is the name, amount the content.
int find_object(const Plan& plan, const std::uint8_t* w, int provider, CellId name);
// Overwrites the object of that name or makes it. False when there is no room.
bool put_object(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request, bool indexed);
// Removes it; the entries behind it move up.
void remove_object(const Plan& plan, std::uint8_t* w, int provider, int entry);
CellId object_content(const Plan& plan, const std::uint8_t* w, int provider, int entry);
// Objects that a list sees whose name begins with that of `prefix` (NULL: all).
int count_objects(const Plan& plan, const std::uint8_t* w, int provider, CellId prefix);

// The memory of keys. Slot -1: the key is not known.
struct KeyRecord {
  int operation = 0;
  KeyState state = KeyState::Free;
  int entry = -1;  // of the ledger
  CellId key = kNullCell;
  CellId amount = kNullCell;
};
int find_key(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key);
KeyRecord read_key(const Plan& plan, const std::uint8_t* w, int provider, int slot);
// Overwrites the record of the same operation and key. False when there is no room.
bool remember_key(const Plan& plan, std::uint8_t* w, int provider, const KeyRecord& record);
void forget_key(const Plan& plan, std::uint8_t* w, int provider, int slot);

}  // namespace oncecheck

// Messages on their way to services: requests of clients and of other services, webhooks, messages of queues. One bag; the
// order in which they arrive is never promised.
#pragma once

#include <cstdint>

#include "model/world/context.hpp"

namespace oncecheck {

inline std::uint8_t* message_at(const Layout& l, std::uint8_t* w, int m) { return w + l.messages + m * l.message_stride; }
inline const std::uint8_t* message_at(const Layout& l, const std::uint8_t* w, int m) {
  return w + l.messages + m * l.message_stride;
}

// Offset of a payload cell within a message.
inline int payload_at(const Layout& l, int cell) { return 2 + (1 + cell) * l.cell; }

// A free slot with its route and caller set; null, and the limit in ctx, when there is none. deliveries: how often it is
// delivered at most when the route delivers at least once, else 0.
std::uint8_t* post_message(Context& ctx, int route, std::uint8_t caller, CellId key, int deliveries);

// Whether the message waits to be delivered: nobody holds it, and it is no dead letter.
inline bool deliverable(const Layout& l, const std::uint8_t* message) {
  return message[0] != 0 && (l.message_hold < 0 || message[l.message_hold] == kNotHeld);
}

void erase_message(const Layout& l, std::uint8_t* message);

// The task has taken the message. One that is delivered at least once stays until the task acknowledges it.
void take_message(const Layout& l, std::uint8_t* message, int task);

// What became of the message that the task holds, if any.
enum class Handled : std::uint8_t {
  Acknowledged,  // it is gone
  Refused,       // it comes again, while deliveries are left; then it is a dead letter
  Abandoned,     // the task died: it comes again when somebody notices (redeliver)
};
std::uint8_t* held_message(const Layout& l, std::uint8_t* w, int task);  // null: none
void settle_message(const Plan& plan, std::uint8_t* w, int task, Handled how);

// The message is delivered anew although somebody holds it, or held it when it died.
void redeliver(const Plan& plan, std::uint8_t* message);

// Whoever waited for an answer has stopped: what is on its way or being done goes on for nobody.
void abandon_caller(const Plan& plan, std::uint8_t* w, std::uint8_t caller);

// Whether an answer to this caller may still come out of a message or a running handler.
bool answer_under_way(const Plan& plan, const std::uint8_t* w, std::uint8_t caller);

}  // namespace oncecheck

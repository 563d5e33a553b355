#include "model/world/message.hpp"

#include <cstring>

#include "model/world/cells.hpp"

namespace oncecheck {

std::uint8_t* post_message(Context& ctx, int route, std::uint8_t caller, CellId key, int deliveries) {
  const Layout& l = ctx.plan.layout;
  for (int m = 0; m < l.message_slots; ++m) {
    std::uint8_t* message = message_at(l, ctx.w, m);
    if (message[0] != 0) continue;
    message[0] = static_cast<std::uint8_t>(route + 1);
    message[1] = caller;
    store_cell(l, message + 2, key);
    if (l.message_hold >= 0) message[l.message_hold + 1] = static_cast<std::uint8_t>(deliveries);
    return message;
  }
  ctx.fail(LimitKind::Messages);
  return nullptr;
}

void erase_message(const Layout& l, std::uint8_t* message) {
  std::memset(message, 0, static_cast<std::size_t>(l.message_stride));
}

void take_message(const Layout& l, std::uint8_t* message, int task) {
  if (l.message_hold < 0 || message[l.message_hold + 1] == 0) {
    erase_message(l, message);
  } else {
    message[l.message_hold] = static_cast<std::uint8_t>(task + 1);
  }
}

namespace {

// One delivery is used up.
void release(const Plan& plan, std::uint8_t* message) {
  const Layout& l = plan.layout;
  std::uint8_t& left = message[l.message_hold + 1];
  message[l.message_hold] = kNotHeld;
  if (left == kNoLimit || --left > 0) return;
  if (plan.routes[static_cast<std::size_t>(message[0] - 1)].keeps_dead) {
    message[l.message_hold] = kDeadLetter;
  } else {
    erase_message(l, message);
  }
}

}  // namespace

std::uint8_t* held_message(const Layout& l, std::uint8_t* w, int task) {
  for (int m = 0; l.message_hold >= 0 && m < l.message_slots; ++m) {
    std::uint8_t* message = message_at(l, w, m);
    if (message[0] != 0 && message[l.message_hold + 1] != 0 && message[l.message_hold] == task + 1) return message;
  }
  return nullptr;
}

void settle_message(const Plan& plan, std::uint8_t* w, int task, Handled how) {
  const Layout& l = plan.layout;
  std::uint8_t* message = held_message(l, w, task);
  if (message == nullptr) return;
  switch (how) {
    case Handled::Acknowledged: erase_message(l, message); break;
    case Handled::Refused: release(plan, message); break;
    case Handled::Abandoned: message[l.message_hold] = kHeldByNobody; break;
  }
}

void redeliver(const Plan& plan, std::uint8_t* message) { release(plan, message); }

void abandon_caller(const Plan& plan, std::uint8_t* w, std::uint8_t caller) {
  const Layout& l = plan.layout;
  for (int m = 0; m < l.message_slots; ++m) {
    std::uint8_t* message = message_at(l, w, m);
    if (message[0] != 0 && message[1] == caller) message[1] = kNobody;
  }
  for (const TaskLayout& t : l.tasks) {
    std::uint8_t* task = w + t.offset;
    if (task[kStatus] != kFree && task[kSender] == caller) task[kSender] = kNobody;
  }
}

bool answer_under_way(const Plan& plan, const std::uint8_t* w, std::uint8_t caller) {
  const Layout& l = plan.layout;
  for (int m = 0; m < l.message_slots; ++m) {
    const std::uint8_t* message = message_at(l, w, m);
    if (message[0] != 0 && message[1] == caller) return true;
  }
  for (const TaskLayout& t : l.tasks) {
    const std::uint8_t* task = w + t.offset;
    if (task[kStatus] != kFree && task[kSender] == caller) return true;
  }
  return false;
}

}  // namespace oncecheck

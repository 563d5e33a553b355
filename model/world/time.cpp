#include "model/world/time.hpp"

#include "model/world/cells.hpp"
#include "model/world/innodb_transaction.hpp"

namespace oncecheck {

namespace {

void set_state(const Layout& layout, std::uint8_t* w, int slot, std::uint16_t state) {
  std::uint8_t* p = w + layout.deadlines + 2 * slot;
  p[0] = static_cast<std::uint8_t>(state);
  p[1] = static_cast<std::uint8_t>(state >> 8);
}

void become_past(const Plan& plan, std::uint8_t* w, int slot) {
  const Layout& layout = plan.layout;
  const auto deadline = static_cast<CellId>(plan.domain.first_deadline() + slot);
  const auto recent = static_cast<CellId>(plan.domain.first_recent() + slot);
  each_value_from(layout, w, deadline, [&](int offset, CellId id) {
    if (id == deadline || id == recent) store_cell(layout, w + offset, plan.domain.past());
  });
  set_state(layout, w, slot, 0);
}

// A deadline that has passed but for those in the mask.
void settle(const Plan& plan, std::uint8_t* w, int slot, std::uint16_t mask) {
  if (mask == 0) {
    become_past(plan, w, slot);
  } else {
    set_state(plan.layout, w, slot, mask);
  }
}

}  // namespace

std::uint16_t deadline_state(const Layout& layout, const std::uint8_t* w, int slot) {
  const std::uint8_t* p = w + layout.deadlines + 2 * slot;
  return static_cast<std::uint16_t>(p[0] | (p[1] << 8));
}

int take_deadline(const Layout& layout, std::uint8_t* w) {
  for (int slot = 0; slot < layout.deadline_slots; ++slot) {
    if (deadline_state(layout, w, slot) == 0) {
      set_state(layout, w, slot, kRunning);
      return slot;
    }
  }
  return -1;
}

bool deadline_ahead(const Layout& layout, const std::uint8_t* w, int slot, int session) {
  std::uint16_t state = deadline_state(layout, w, slot);
  if (state == kRunning) return true;
  return session >= 0 && session < kMaxSessions && (state >> session) & 1;
}

void pass_deadline(const Plan& plan, std::uint8_t* w, int slot) {
  const Layout& layout = plan.layout;
  std::uint16_t mask = 0;
  for (std::size_t s = 0; s < layout.sessions.size() && s < kMaxSessions; ++s) {
    const std::uint8_t tx = w[layout.sessions[s].offset + kTx];
    // A single statement that waits is a transaction too: its now() is the time at which it began. On InnoDB every statement
    // has its own.
    const bool innodb = is_innodb(layout.databases[static_cast<std::size_t>(layout.sessions[s].db)].engine);
    const bool began = innodb ? innodb_statement_runs(plan, w, static_cast<int>(s)) : tx == kOpenTx || tx == kImplicitTx;
    if (began) mask = static_cast<std::uint16_t>(mask | (1u << s));
  }
  for (std::size_t s = 0; s < layout.clocks.size(); ++s) {
    if (layout.clocks[s] < 0) continue;
    for (int i = 0; i < layout.instance_counts[s]; ++i) {
      const bool behind = (w[layout.instances[s] + i] & kClockBehind) != 0;
      if (behind) mask = static_cast<std::uint16_t>(mask | (1u << (layout.clocks[s] + i)));
    }
  }
  settle(plan, w, slot, mask);
}

void pass_deadline_for(const Plan& plan, std::uint8_t* w, int slot, int clock) {
  const std::uint16_t state = deadline_state(plan.layout, w, slot);
  settle(plan, w, slot, static_cast<std::uint16_t>(state & ~(1u << clock)));
}

void forget_session_time(const Plan& plan, std::uint8_t* w, int session) {
  if (session >= kMaxSessions) return;
  const Layout& layout = plan.layout;
  for (int slot = 0; slot < layout.deadline_slots; ++slot) {
    const std::uint16_t state = deadline_state(layout, w, slot);
    if (state == 0 || state == kRunning) continue;
    settle(plan, w, slot, static_cast<std::uint16_t>(state & ~(1u << session)));
  }
}

}  // namespace oncecheck

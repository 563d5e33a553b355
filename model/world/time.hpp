// Time without numbers (DESIGN 2): a stored NOW() + interval is a deadline that has or has not passed; a stored NOW() is
// recent or has grown old. Both take a deadline slot while that can still change.
//
// A slot is two bytes: 0 free, kRunning, or a mask of sessions whose transaction began before the deadline passed: in
// PostgreSQL now() is the start of the transaction (manual 9.9.5), so for them it has not passed yet.
#pragma once

#include <cstdint>

#include "model/world/plan.hpp"

namespace oncecheck {

inline constexpr std::uint16_t kRunning = 0xFFFF;
inline constexpr int kMaxSessions = 15;  // bits of a slot's mask, clocks of instances included; kRunning has one more

std::uint16_t deadline_state(const Layout& layout, const std::uint8_t* w, int slot);

// A free slot, now running; -1 when all are taken.
int take_deadline(const Layout& layout, std::uint8_t* w);

// Whether `session` (-1: an observer outside of any transaction) sees the deadline as still ahead.
bool deadline_ahead(const Layout& layout, const std::uint8_t* w, int slot, int session);

// The deadline passes: its cells become "passed", unless open transactions still see it ahead.
void pass_deadline(const Plan& plan, std::uint8_t* w, int slot);

// The clock of one instance, which was behind, comes to the deadline that has passed for others.
void pass_deadline_for(const Plan& plan, std::uint8_t* w, int slot, int clock);

// A transaction of `session` ended: deadlines that only it saw ahead are passed for all.
void forget_session_time(const Plan& plan, std::uint8_t* w, int session);

}  // namespace oncecheck

// Sequences, serial and AUTO_INCREMENT columns: numbers are handed out at once and never come back, whatever happens to the
// transaction (PostgreSQL manual 9.17; MySQL manual, "AUTO_INCREMENT Handling in InnoDB").
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// The next number of a sequence. `given`: a value that stands for itself unless it is NULL or 0; it moves the sequence on.
// A statement that waits has taken its number before the wait: when it goes on, it gets the same one.
// InnoDB gives an INSERT of several rows as many numbers at once (Context::numbers_wanted).
Val next_value(Context& ctx, int sequence, const Val& given);

// Node::src of a NextVal that an UPDATE assigns: the value stands for itself, and moves the sequence on once the row has
// been changed (move_sequence).
inline constexpr std::uint8_t kAssigned = 1;
void move_sequence(Context& ctx, int sequence, const Val& value);

// The row (or the statement) that took the number is done with.
void forget_number(const Plan& plan, std::uint8_t* w, int session);

// InnoDB: the next row of the INSERT takes the number behind, or the same one when the row before did not need it after all
// (handler::restore_auto_increment).
void pass_number_on(const Plan& plan, std::uint8_t* w, int session, bool used);

}  // namespace oncecheck

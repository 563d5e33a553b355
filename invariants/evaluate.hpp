// Evaluating compiled promises on worlds. Shared by the checker, the simulator and replay.
#pragma once

#include <string>
#include <vector>

#include "model/step/relation.hpp"

namespace oncecheck {

// AlwaysEmpty and FinallyEmpty: whether the promise's query finds a row in this world. For FinallyEmpty the caller makes
// sure that the world is at rest. Sets `limit` when the model cannot tell.
bool breaks(const Program& program, const Invariant& invariant, const std::uint8_t* world, Workspace& workspace, Limit& limit);

// Whether the promise judges steps.
inline bool judges_steps(const Invariant& invariant) { return invariant.step_expr != kNoExpr; }

// Whether the event, one that `enabled` gave for the world `before`, takes a committed record (matched by primary key) where it
// must not. It looks at what the event leaves behind before the canonical form renames values. Overwrites workspace.world.
bool step_breaks(const Program& program, const Invariant& invariant, const std::uint8_t* before, const Event& event,
                 Workspace& workspace, Limit& limit);

// Whether nothing that the promise looks at differs between two worlds: it then holds in both or in none.
bool same_reads(const Invariant& invariant, const std::uint8_t* a, const std::uint8_t* b);

// A row of a query, for people.
std::string row_words(const Program& program, const Rows& rows, int row);

// What the query found, for people: one line a row.
std::vector<std::string> findings(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                  Workspace& workspace);

}  // namespace oncecheck

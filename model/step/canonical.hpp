// The canonical form of a world: equal situations have equal bytes. Message bags and row versions are sorted, fresh values
// and deadlines are numbered by first appearance, and deadlines that nothing names any more are given back.
#pragma once

#include "model/step/relation.hpp"

namespace oncecheck {
// `seen` (may be null) takes the new numbers of fresh values, so that a story can go on calling them by their first name.
void make_canonical(const Program& program, std::uint8_t* world, Observation* seen = nullptr);
}  // namespace oncecheck

// The canonical form of PostgreSQL tables.
#pragma once

#include <cstdint>

#include "model/step/relation.hpp"

namespace oncecheck {

// Slots in byte order, current versions first, free ones last; whatever names a slot follows: the versions that it replaced,
// sessions that wait for its row. A statement in its middle that may go through several rows finds its place again by their
// order: as long as there is one, versions only move up into free slots, in the order that they have.
void sort_postgres_table(const Program& program, int table, std::uint8_t* w);

}  // namespace oncecheck

// Which rows a scan visits (AccessPath). The WHERE is tested on top of it.
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Whether the row lies in one of the ranges; always, for a full scan. Evaluates the bounds by ctx.
bool in_ranges(Context& ctx, const TableLayout& table, const AccessPath& access, const std::uint8_t* version);

// Whether it visits one row at most: all columns of a unique index have one value.
bool one_row_at_most(const TableLayout& table, const AccessPath& access);

}  // namespace oncecheck

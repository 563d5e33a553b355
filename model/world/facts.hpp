// The recorded facts that promises are judged by, as tables: what clients were told and which effects stand (DESIGN 4).
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Columns of each fact table, in order. Names as a scenario writes them: facts.told(client, identity, outcome), ... foreign_releases: one row
// for each redis in which a task deleted a key that another task, still running, had set.
const std::vector<std::string>& fact_columns(FactTable table);

// All rows of a fact table, in ctx.scratch.
Rows fact_rows(Context& ctx, FactTable table);

}  // namespace oncecheck

// The recorded facts that promises are judged by, as tables: what clients were told and which effects stand (DESIGN 4).
#pragma once

#include "model/world/context.hpp"

namespace oncecheck {

// Columns of each fact table, in order. Names as a scenario writes them: facts.told(client, identity, outcome), ...
const std::vector<std::string>& fact_columns(FactTable table);

// All rows of a fact table, in ctx.scratch.
Rows fact_rows(Context& ctx, FactTable table);

}  // namespace oncecheck

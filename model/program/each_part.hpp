// Walking over parts by name, for the units that read them.
#pragma once

#include <string_view>

#include <fmt/format.h>

#include "model/program/node_reader.hpp"

namespace oncecheck {

// Calls `read` for each member of a section, or of an object within a part, that is an object with a proper name.
template <class Read>
void for_each_part(const JsonNode& parent, std::string_view section, std::string_view what, NodeReader& reader,
                   Read read) {
  const JsonNode* parts = parent.find(section);
  if (parts == nullptr || !reader.is_object(*parts, fmt::format("{} by name", section))) {
    return;
  }
  for (const JsonNode& part : parts->children) {
    reader.check_part_name(part, what);
    if (reader.is_object(part, what)) read(part);
  }
}

}  // namespace oncecheck

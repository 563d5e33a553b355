// The JSON Schema in pieces, each in a file of its own: schema.cpp puts them together. It shows a scenario as an editor
// does, before parameters and patches, so "${name}" may stand for any value.
#pragma once

#include <string_view>

namespace oncecheck::schema_text {

extern const std::string_view kFile;      // the file and its sections; ends within the outermost object
// Members of "$defs", each piece ending with a comma but the last:
extern const std::string_view kParts;     // values of databases, redis, providers, services, clients
extern const std::string_view kSteps;     // the steps of handlers
extern const std::string_view kPromises;  // faults, invariants, expectations; @BUILTINS@ stands for names
extern const std::string_view kPatch;     // variants: any part may be missing, and null deletes

}  // namespace oncecheck::schema_text

// Type names of the SQL subset.
#pragma once

#include <string>

#include "model/program/sql_context.hpp"

namespace oncecheck::sql {

enum class TypeUse { Column, Cast, ArrayCast };

// The canonical name of a TypeName node: "integer", "bigint", "smallint", "numeric", "text", "boolean", "timestamptz",
// "uuid", "jsonb", "interval", and for columns also "serial" and "bigserial". Throws SqlError for every other type.
// A length or precision, as in varchar(20), is accepted for a column, where it only limits what can be stored, and
// refused for a cast, which would cut or round its value.
std::string read_type(const ReadContext& context, const Json& type_name, TypeUse use);

}  // namespace oncecheck::sql

#include "model/program/sql_types.hpp"

#include <algorithm>

namespace oncecheck::sql {

namespace {

struct TypeName {
  std::string_view written;  // PostgreSQL's internal name
  std::string_view canonical;
};

constexpr TypeName kTypes[] = {
    {"int4", "integer"},          {"integer", "integer"},   {"int", "integer"},
    {"int8", "bigint"},           {"bigint", "bigint"},     {"int2", "smallint"},
    {"smallint", "smallint"},     {"numeric", "numeric"},   {"decimal", "numeric"},
    {"varchar", "text"},          {"bpchar", "text"},       {"text", "text"},
    {"bool", "boolean"},          {"boolean", "boolean"},   {"timestamptz", "timestamptz"},
    {"timestamp", "timestamptz"}, {"uuid", "uuid"},         {"json", "jsonb"},
    {"jsonb", "jsonb"},           {"interval", "interval"},
};

constexpr TypeName kSerials[] = {
    {"serial", "serial"},  {"serial4", "serial"},      {"smallserial", "serial"},
    {"serial2", "serial"}, {"bigserial", "bigserial"}, {"serial8", "bigserial"},
};

// As the rewriter of MySQL's CREATE TABLE writes them.
constexpr TypeName kMysqlIntegers[] = {
    {"tinyint", "tinyint"},
    {"mediumint", "mediumint"},
    {"tinyint unsigned", "tinyint unsigned"},
    {"smallint unsigned", "smallint unsigned"},
    {"mediumint unsigned", "mediumint unsigned"},
    {"integer unsigned", "integer unsigned"},
    {"bigint unsigned", "bigint unsigned"},
};

constexpr std::string_view kSupported =
    "use integer, bigint, smallint, numeric, text, varchar, boolean, timestamptz, interval, uuid or jsonb";

template <std::size_t N>
std::string_view canonical(const TypeName (&types)[N], std::string_view written) {
  const auto found =
      std::find_if(std::begin(types), std::end(types), [&](const TypeName& t) { return t.written == written; });
  return found == std::end(types) ? "" : found->canonical;
}

}  // namespace

std::string read_type(const ReadContext& context, const Json& type_name, TypeUse use) {
  context.check_fields("TypeName", type_name, {"names", "typmods", "typemod", "arrayBounds"});
  const int location = ReadContext::location_of(type_name);
  std::vector<std::string> names = context.names(type_name, "names");
  if (names.size() == 2 && names[0] == "pg_catalog") names.erase(names.begin());
  std::string shown;
  for (const std::string& part : names) shown += (shown.empty() ? "" : ".") + part;
  std::string_view type;
  if (names.size() == 1) {
    type = canonical(kTypes, shown);
    if (type.empty() && use == TypeUse::Column) type = canonical(kSerials, shown);
    if (type.empty() && use == TypeUse::Column && context.sql().mysql()) type = canonical(kMysqlIntegers, shown);
  }
  if (ReadContext::list(type_name, "arrayBounds").size() != (use == TypeUse::ArrayCast ? 1 : 0)) {
    context.refuse("an array of " + (type.empty() ? shown : std::string(type)), location, "use a table of its own");
  }
  if (type.empty()) context.refuse("type " + shown, location, kSupported);
  // A bare char is char(1), with a length that the user did not write.
  if (use != TypeUse::Column && !ReadContext::list(type_name, "typmods").empty()) {
    context.refuse("a cast to " + shown + "(n)", location,
                   "it would cut or round the value, cast to " + std::string(type));
  }
  return std::string(type);
}

}  // namespace oncecheck::sql

// What each built-in promise may be told in a scenario: {"use": NAME, PARAMETER: value, ...}. One table for the reader, the
// published schema, the compiler (promise_template.hpp) and `oncecheck list invariants`.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace oncecheck {

enum class ParamKind {
  Table,    // "DATABASE.TABLE", or "TABLE" where one database has it
  Column,   // a column of the table that `of` names
  Values,   // values of the column that `of` names: one, or a list
  Keys,     // keys of a Redis: one, or a list
  Edges,    // [[FROM, TO], ...] of the column that `of` names; TO null: the record is deleted
  Source,   // "PROVIDER" or "PROVIDER.OPERATION"
  Systems,  // a list of sources and tables, two or more
  Queue,    // the name of a queue
  Local,    // a field or a local of the programs that change the table, as `:name` without the colon
};

// Required: but a column of an optional table only where that is given.
enum class ParamNeed { Required, Optional, Default };

struct PromiseParam {
  std::string name;
  ParamKind kind = ParamKind::Table;
  std::string of;        // Column: a Table parameter; Values, Edges: a Column parameter
  ParamNeed need = ParamNeed::Required;
  std::string fallback;  // Default; "" for a Column: the first one of the table
  std::string meaning;
};

struct PromiseSignature {
  std::string name;
  std::string alias;  // "" for none
  std::vector<PromiseParam> params;
  // Groups of parameters that go together; where there are any, one group at least must be there.
  std::vector<std::vector<std::string>> groups;
};

// In the order in which documents list them.
const std::vector<PromiseSignature>& promise_signatures();

// Of a canonical name, or null.
const PromiseSignature* find_signature(const std::string& name);
const PromiseParam* find_param(const PromiseSignature& signature, const std::string& name);

// Whether the scenario must give it: a column of an optional table only where it gives the table.
bool asked_for(const PromiseSignature& signature, const PromiseParam& param, const std::function<bool(const std::string&)>& given);

// "DATABASE.TABLE" and so on: what a value of this kind looks like, for messages and for the schema.
std::string form_of(ParamKind kind);
bool is_list(ParamKind kind);

}  // namespace oncecheck

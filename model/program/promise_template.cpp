#include "model/program/promise_template.hpp"

#include <algorithm>

namespace oncecheck {

namespace {

// {systems:any o.identity}: some of them has something for it. Without "any": not all have the same.
const std::string kAny = "any ";

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::string literal(const Scalar& value) {
  switch (value.kind) {
    case Scalar::Kind::Null: return "NULL";
    case Scalar::Kind::Bool: return value.boolean ? "TRUE" : "FALSE";
    case Scalar::Kind::Int: return std::to_string(value.integer);
    case Scalar::Kind::String: return quoted(value.string);
  }
  return "NULL";
}

std::string name_in_sql(const std::string& name) { return "\"" + name + "\""; }

std::string is_value(const std::string& column, const Scalar& value) {
  return value.kind == Scalar::Kind::Null ? column + " IS NULL" : column + " = " + literal(value);
}

}  // namespace

PromiseTemplate::PromiseTemplate(CompileState& state, const InvariantSpec& spec)
    : state_(state), spec_(spec), signature_(*find_signature(spec.builtin)) {
  const std::size_t before = state_.errors.reported();
  for (const PromiseParam& p : signature_.params) {
    if (p.kind == ParamKind::Table) resolve_table(p);
  }
  for (const PromiseParam& p : signature_.params) {
    if (p.kind == ParamKind::Column) resolve_column(p);
  }
  for (const PromiseParam& p : signature_.params) {
    const std::vector<Scalar>* values = option(p.name);
    if (values == nullptr) continue;
    if (p.kind == ParamKind::Local) check_local(values->front());
    if (p.kind == ParamKind::Queue) check_queue(values->front());
    if (p.kind == ParamKind::Source) source(values->front(), "");
    if (p.kind == ParamKind::Systems) systems(*values, "");
  }
  failed_ = state_.errors.reported() != before;
}

const std::vector<Scalar>* PromiseTemplate::option(const std::string& name) const {
  const auto it = spec_.options.find(name);
  return it == spec_.options.end() ? nullptr : &it->second;
}

int PromiseTemplate::table(const std::string& param) const {
  const auto it = tables_.find(param);
  return it == tables_.end() ? -1 : it->second;
}

void PromiseTemplate::resolve_table(const PromiseParam& param) {
  const std::vector<Scalar>* written = option(param.name);
  if (written == nullptr && param.need != ParamNeed::Default) return;
  const std::string name = written != nullptr ? written->front().string : param.fallback;
  const Origin at = written != nullptr ? written->front().at : spec_.at;
  const int table = find_table(name);
  if (table >= 0) {
    tables_[param.name] = table;
    return;
  }
  if (written == nullptr) {
    state_.errors.add(at, spec_.builtin + " needs a table \"" + name + "\": name yours with {\"use\": \"" + spec_.builtin +
                              "\", \"" + param.name + "\": \"DATABASE.TABLE\"}");
    return;
  }
  const bool several = table == -2;
  state_.errors.add(at, "\"" + param.name + "\" names " + (several ? "a table that several databases have" : "the unknown table") + " \"" +
                            name + "\"" + (several ? ": write DATABASE.TABLE" : ""),
                    several ? "" : nearest_name(name, table_names()));
}

// As CompileState::find_table, with the name of a database before it or not.
int PromiseTemplate::find_table(const std::string& name) const {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return state_.find_table(-1, name);
  const int db = state_.find_database(name.substr(0, dot));
  return db < 0 ? -1 : state_.find_table(db, name.substr(dot + 1));
}

std::vector<std::string> PromiseTemplate::table_names() const {
  std::vector<std::string> out;
  for (std::size_t t = 0; t < state_.tables.size(); ++t) out.push_back(full_name(static_cast<int>(t)));
  return out;
}

std::string PromiseTemplate::full_name(int table) const {
  const auto t = static_cast<std::size_t>(table);
  return state_.tables[t].db + "." + state_.program.plan.layout.tables[t].name;
}

void PromiseTemplate::resolve_column(const PromiseParam& param) {
  const std::vector<Scalar>* written = option(param.name);
  const int table = this->table(param.of);
  if (table < 0) {
    // A mistake about the table has been told; without one the column belongs to nothing.
    if (written != nullptr && option(param.of) == nullptr) {
      state_.errors.add(written->front().at, "\"" + param.name + "\" is a column of \"" + param.of + "\", which is not given");
    }
    return;
  }
  const auto& columns = state_.program.plan.layout.tables[static_cast<std::size_t>(table)].columns;
  if (written == nullptr) {
    if (param.need != ParamNeed::Default) return;
    const std::string name = param.fallback.empty() ? columns.front() : param.fallback;
    if (std::find(columns.begin(), columns.end(), name) != columns.end()) columns_[param.name] = name;
    return;  // it is missed only where something asks for it
  }
  const std::string& name = written->front().string;
  if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
    state_.errors.add(written->front().at,
                      "\"" + param.name + "\" names the unknown column \"" + name + "\" of \"" + full_name(table) + "\"",
                      nearest_name(name, columns));
    return;
  }
  columns_[param.name] = name;
}

void PromiseTemplate::check_local(const Scalar& written) {
  std::vector<std::string> known;
  for (const LocalNames& names : state_.names) {
    if (names.find(written.string) >= 0) return;
    for (const std::string& cell : names.cells()) {
      if (!cell.empty()) known.push_back(cell);
    }
  }
  state_.errors.add(written.at, "no program uses a local \":" + written.string + "\"", nearest_name(written.string, known));
}

void PromiseTemplate::check_queue(const Scalar& written) {
  std::vector<std::string> known;
  for (const auto& [name, queue] : state_.scenario.queues) known.push_back(name);
  if (std::find(known.begin(), known.end(), written.string) != known.end()) return;
  state_.errors.add(written.at, "there is no queue \"" + written.string + "\"", nearest_name(written.string, known));
}

// The condition that an effect comes from there; "" where there is no such provider.
std::string PromiseTemplate::source(const Scalar& written, const std::string& alias, bool report) {
  const std::size_t dot = written.string.find('.');
  const std::string name = written.string.substr(0, dot);
  std::vector<std::string> known;
  for (const auto& [provider, spec] : state_.scenario.providers) {
    known.push_back(provider);
    if (provider != name) continue;
    const std::string from = alias + ".source = " + quoted(name);
    if (dot == std::string::npos) return from;
    const std::string wanted = written.string.substr(dot + 1);
    std::vector<std::string> operations;
    for (const auto& [operation, unused] : spec.operations) operations.push_back(operation);
    if (std::find(operations.begin(), operations.end(), wanted) != operations.end()) {
      return from + " AND " + alias + ".operation = " + quoted(wanted);
    }
    if (report) {
      state_.errors.add(written.at, "provider \"" + name + "\" has no operation \"" + wanted + "\"", nearest_name(wanted, operations));
    }
    return "";
  }
  if (report) state_.errors.add(written.at, "there is no provider \"" + name + "\"", nearest_name(name, known));
  return "";
}

// How many rows, or effects that stand, there are for the identity. The column that names the operation is the one that
// "effects" of the database names, else the first.
std::string PromiseTemplate::count_of(const Scalar& system, const std::string& identity) {
  const int table = find_table(system.string);
  if (table >= 0) {
    const auto t = static_cast<std::size_t>(table);
    const TableLayout& layout = state_.program.plan.layout.tables[t];
    std::string column = layout.columns.front();
    for (const EffectTable& e : state_.scenario.databases[static_cast<std::size_t>(layout.db)].second.effects) {
      if (e.table.value == layout.name && !e.identity.empty()) column = e.identity;
    }
    return "(SELECT count(*) FROM " + full_name(table) + " s WHERE identity_of(s." + name_in_sql(column) + ") = " + identity + ")";
  }
  const std::string from = source(system, "s", false);
  if (!from.empty()) return "(SELECT count(*) FROM facts.effects s WHERE s.standing AND s.identity = " + identity + " AND " + from + ")";
  std::vector<std::string> known = table_names();
  for (const auto& [provider, spec] : state_.scenario.providers) {
    known.push_back(provider);
    for (const auto& [operation, unused] : spec.operations) known.push_back(provider + "." + operation);
  }
  state_.errors.add(system.at, "there is no table, provider or operation \"" + system.string + "\"", nearest_name(system.string, known));
  return "0";
}

std::string PromiseTemplate::systems(const std::vector<Scalar>& written, const std::string& argument) {
  std::string out, before;
  const bool any = argument.compare(0, kAny.size(), kAny) == 0;
  const std::string identity = any ? argument.substr(kAny.size()) : argument;
  for (const Scalar& system : written) {
    const std::string count = count_of(system, identity);
    if (any) {
      out += (out.empty() ? "(" : " OR ") + count + " > 0";
      continue;
    }
    if (!before.empty()) out += (out.empty() ? "(" : " OR ") + before + " <> " + count;
    before = count;
  }
  return out + ")";
}

std::string PromiseTemplate::column_of(const PromiseParam& param) {
  const auto it = columns_.find(param.of);
  if (it != columns_.end()) return it->second;
  state_.errors.add(spec_.at, spec_.builtin + " needs \"" + param.of + "\": the column with the values of \"" + param.name + "\"");
  return "";
}

// The text for one placeholder. `known` turns false where the scenario gives no value.
std::string PromiseTemplate::expand(const std::string& placeholder, bool& known) {
  const std::size_t colon = placeholder.find(':');
  const std::string name = placeholder.substr(0, colon);
  const std::string argument = colon == std::string::npos ? "" : placeholder.substr(colon + 1);
  const PromiseParam* param = find_param(signature_, name);
  CHECK_THAT(param != nullptr);
  const std::vector<Scalar>* values = option(name);
  switch (param->kind) {
    case ParamKind::Table:
      known = known && table(name) >= 0;
      return table(name) >= 0 ? full_name(table(name)) : "";
    case ParamKind::Column: {
      const auto it = columns_.find(name);
      known = known && it != columns_.end();
      return it != columns_.end() ? name_in_sql(it->second) : "";
    }
    default: break;
  }
  if (values == nullptr) {
    known = known && param->kind != ParamKind::Keys && (is_list(param->kind) || param->kind == ParamKind::Source);
    return param->kind == ParamKind::Edges || param->kind == ParamKind::Keys ? "FALSE" : "TRUE";
  }
  switch (param->kind) {
    case ParamKind::Values:
    case ParamKind::Keys: {
      const std::string column = param->kind == ParamKind::Keys ? "key" : column_of(*param);
      std::string list;
      for (const Scalar& v : *values) list += (list.empty() ? "" : ", ") + literal(v);
      return argument + "." + name_in_sql(column) + " IN (" + list + ")";
    }
    case ParamKind::Edges: {
      const std::size_t arrow = argument.find('>');
      const std::string column = name_in_sql(column_of(*param));
      std::string out;
      for (std::size_t i = 0; i + 1 < values->size(); i += 2) {
        out += (out.empty() ? "(" : " OR (") + is_value(argument.substr(0, arrow) + "." + column, (*values)[i]) + " AND " +
               is_value(argument.substr(arrow + 1) + "." + column, (*values)[i + 1]) + ")";
      }
      return out;
    }
    case ParamKind::Source: return source(values->front(), argument);
    case ParamKind::Systems: return systems(*values, argument);
    case ParamKind::Queue: return quoted(values->front().string);
    default: return "ACTOR." + name_in_sql(values->front().string);
  }
}

std::string PromiseTemplate::filled(const std::string& text) {
  if (failed_) return "";
  const std::size_t before = state_.errors.reported();
  std::string out, group;
  bool in_group = false, known = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& to = in_group ? group : out;
    if (text[i] == '[') {
      in_group = true;
      known = true;
      group.clear();
    } else if (text[i] == ']') {
      in_group = false;
      if (known) out += group;
    } else if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      to += expand(text.substr(i + 1, end - i - 1), known);
      i = end;
    } else {
      to += text[i];
    }
  }
  return state_.errors.reported() == before ? out : "";
}

}  // namespace oncecheck

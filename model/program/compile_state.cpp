#include "model/program/compile_state.hpp"

#include <algorithm>

namespace oncecheck {

const char* sql_type_name(SqlType type) {
  switch (type) {
    case SqlType::Any: return "any";
    case SqlType::Literal: return "text literal";
    case SqlType::Bool: return "boolean";
    case SqlType::Int: return "integer";
    case SqlType::Text: return "text";
    case SqlType::Instant: return "timestamptz";
    case SqlType::Interval: return "interval";
    case SqlType::Decimal: return "decimal";
  }
  return "any";
}

SqlType sql_type_of(const std::string& written) {
  if (written == "integer" || written == "bigint" || written == "smallint" || written == "numeric" ||
      written == "serial" || written == "bigserial") {
    return SqlType::Int;
  }
  if (written == "tinyint" || written == "mediumint" || written.ends_with(" unsigned")) return SqlType::Int;
  if (written == "text" || written == "uuid" || written == "jsonb") return SqlType::Text;
  if (written == "boolean") return SqlType::Bool;
  if (written == "timestamptz") return SqlType::Instant;
  if (written == "interval") return SqlType::Interval;
  return SqlType::Any;
}

Width width_of(const std::string& written, Engine engine) {
  if (is_innodb(engine)) return written.ends_with(" unsigned") ? Width::Unsigned : Width::Unknown;
  if (written == "integer" || written == "smallint" || written == "serial") return Width::Int4;
  return written == "numeric" ? Width::Numeric : Width::Unknown;
}

ColumnLimit limit_of(const std::string& written, SqlType type, int length) {
  ColumnLimit limit;
  if (type == SqlType::Text) {
    limit.kind = ColumnLimit::Kind::Text;
    limit.length = length;
  }
  if (type != SqlType::Int) return limit;
  limit.kind = ColumnLimit::Kind::Int;
  const std::string name = written.substr(0, written.find(' '));
  const int bits = name == "tinyint" || name == "boolean"   ? 8
                   : name == "smallint"                     ? 16
                   : name == "mediumint"                    ? 24
                   : name == "integer" || name == "serial" ? 32
                                                            : 64;
  const bool positive = name != written;
  // The model's numbers end where those of 64 bits with a sign do.
  const int shift = bits == 64 ? 63 : positive ? bits : bits - 1;
  limit.high = shift == 63 ? INT64_MAX : (1ll << shift) - 1;
  limit.low = positive ? 0 : -limit.high - 1;
  return limit;
}

void LocalNames::declare(const std::string& name, const std::vector<std::string>& fields) {
  auto& known = fields_[name];
  for (const std::string& f : fields) {
    if (std::find(known.begin(), known.end(), f) == known.end()) known.push_back(f);
  }
}

const std::vector<std::string>* LocalNames::fields(const std::string& name) const {
  auto it = fields_.find(name);
  return it == fields_.end() ? nullptr : &it->second;
}

std::vector<std::string> LocalNames::names() const {
  std::vector<std::string> all;
  for (const auto& [name, fields] : fields_) {
    for (const std::string& f : fields) all.push_back(f.empty() ? name : name + "." + f);
  }
  return all;
}

int LocalNames::take(const std::string& dotted) {
  auto [it, fresh] = cell_of_.try_emplace(dotted, static_cast<int>(cells_.size()));
  if (fresh) cells_.push_back(dotted);
  return it->second;
}

int LocalNames::find(const std::string& dotted) const {
  auto it = cell_of_.find(dotted);
  return it == cell_of_.end() ? -1 : it->second;
}

int LocalNames::take_hidden(const std::string& what) {
  cells_.push_back("(" + what + ")");
  return static_cast<int>(cells_.size()) - 1;
}

int CompileState::intern(const std::string& text) {
  auto [it, fresh] = text_index.try_emplace(text, static_cast<int>(texts.size()));
  if (fresh) texts.push_back(text);
  return it->second;
}

ExprId CompileState::add(Node node) {
  program.plan.code.nodes.push_back(node);
  return static_cast<ExprId>(program.plan.code.nodes.size()) - 1;
}

ExprId CompileState::constant(Val v) {
  Node n;
  n.val = v;
  return add(n);
}

ExprId CompileState::local(int cell) {
  Node n;
  n.op = Op::Local;
  n.a = cell;
  return add(n);
}

ExprId CompileState::with_args(Op op, const std::vector<ExprId>& args) {
  Node n;
  n.op = op;
  n.args = static_cast<std::int32_t>(program.plan.code.args.size());
  n.b = static_cast<std::int32_t>(args.size());
  program.plan.code.args.insert(program.plan.code.args.end(), args.begin(), args.end());
  return add(n);
}

void CompileState::sql_error(const Text& text, int location, const std::string& message, const std::string& suggestion) {
  std::string where;
  if (location >= 0 && location < static_cast<int>(text.value.size())) {
    // Whole words around the place, so that the user finds it in a long statement.
    const auto from = static_cast<std::size_t>(location);
    std::string near = text.value.substr(from, 24);
    if (from + 24 < text.value.size()) near += "...";
    where = " (character " + std::to_string(location + 1) + " of the SQL, near \"" + near + "\")";
  }
  errors.add(text.at, message + where, suggestion);
}

Isolation isolation_of(const std::string& written, Engine engine) {
  if (written == "serializable") return Isolation::Serializable;
  if (written == "repeatable read") return Isolation::RepeatableRead;
  // PostgreSQL treats READ UNCOMMITTED as READ COMMITTED (manual 13.2).
  const bool dirty = written == "read uncommitted" && is_innodb(engine);
  return dirty ? Isolation::ReadUncommitted : Isolation::ReadCommitted;
}

Engine CompileState::engine(int db) const {
  if (db < 0) return Engine::Postgres;
  const std::string& name = scenario.databases[static_cast<std::size_t>(db)].second.engine.value;
  return name == "postgres" ? Engine::Postgres : name == "mysql" ? Engine::MySql : Engine::MariaDb;
}

sql::Dialect CompileState::dialect(int db) const {
  const Engine e = engine(db);
  return e == Engine::Postgres ? sql::Dialect::Postgres : e == Engine::MySql ? sql::Dialect::MySql : sql::Dialect::MariaDb;
}

Isolation CompileState::default_isolation(int db) const {
  return isolation_of(scenario.databases[static_cast<std::size_t>(db)].second.isolation.value, engine(db));
}

int CompileState::find_database(const std::string& name) const {
  for (std::size_t i = 0; i < scenario.databases.size(); ++i) {
    if (scenario.databases[i].first == name) return static_cast<int>(i);
  }
  return -1;
}

int CompileState::find_table(int db, const std::string& name) const {
  int found = -1;
  for (std::size_t t = 0; t < program.plan.layout.tables.size(); ++t) {
    const TableLayout& table = program.plan.layout.tables[t];
    if (table.name != name || (db >= 0 && table.db != db)) continue;
    if (found >= 0) return -2;
    found = static_cast<int>(t);
  }
  return found;
}

}  // namespace oncecheck

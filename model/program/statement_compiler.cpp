#include "model/program/statement_compiler.hpp"

#include <algorithm>

#include "model/program/access_path.hpp"
#include "model/world/code_walk.hpp"
#include "model/program/lock_call_compiler.hpp"
#include "model/program/other_tables.hpp"
#include "model/program/session_compiler.hpp"
#include "model/program/statement_builder.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

StatementBuilder::StatementBuilder(CompileState& state, const Text& text, LocalNames* names, int db,
                                   std::vector<SqlStatement>& parts)
    : state_(state), text_(text), names_(names), db_(db), parts_(parts), exprs_(state, text, names, db) {
  exprs_.parts = this;
  out_.statement.db = db;
  out_.statement.text = text.value;
}

CompiledStatement StatementBuilder::compile(const sql::Statement& s, const Commons& visible) {
  using K = sql::StatementKind;
  base_.common = visible;
  if (s.refused) {
    refused_by_server(ErrorClass::SyntaxError, s.refused->location, s.refused->message);
    if (!state_.options.run_refused) return std::move(out_);
  }
  switch (s.kind) {
    case K::Select: select(*s.select); break;
    case K::Insert: insert(*s.insert); break;
    case K::Update: update(*s.update); break;
    case K::Delete: remove(*s.del); break;
    case K::CreateTable:
    case K::CreateIndex:
    case K::CreateSequence: error(s.location, "tables are created in \"schema\", not by a step"); break;
    default: compile_session_statement(exprs_, s, db_, st()); break;
  }
  if (s.no_result) {
    st().no_result = true;
    out_.columns.clear();
    out_.types.clear();
  }
  check_size(s.location);
  const bool writes = st().kind == SqlKind::Insert || st().kind == SqlKind::Update || st().kind == SqlKind::Delete;
  st().reads_first = writes && st().query >= 0;
  st().reads_by_index = st().access.index >= 0;
  auto by_index = [&](const Query& q) {
    for (const Source& s : q.sources) st().reads_by_index = st().reads_by_index || s.access.index >= 0;
  };
  auto query = [&](const Query& q) {
    st().reads_first = writes;
    by_index(q);
  };
  const auto any_node = [](const Node&) {};
  each_expr(st(), [&](ExprId e) { walk_expr(state_.program.plan.code, e, any_node, query); });
  if (st().kind == SqlKind::Update) {
    auto target = [&](const Query& q) {
      for (const Source& s : q.sources) {
        const bool reads = s.kind == Source::Kind::Table && s.index == st().table;
        st().reads_target = st().reads_target || reads;
      }
    };
    each_expr(st(), [&](ExprId e) { walk_expr(state_.program.plan.code, e, any_node, target); });
  }
  walk_query(state_.program.plan.code, st().query, any_node, by_index);
  return std::move(out_);
}

void StatementBuilder::refused_by_server(ErrorClass error_class, int location, const std::string& message) {
  if (!state_.options.run_refused) error(location, message);
  if (st().refused == ErrorClass::None) st().refused = error_class;
}

// exec_sql keeps a result row in 40 values and the place in a VALUES list in a byte.
void StatementBuilder::check_size(int location) {
  if (st().targets.size() > 30) error(location, "a result of the subset has at most 30 columns");
  if (st().rows.size() > 60) error(location, "an INSERT of the subset has at most 60 rows");
}

PartRef StatementBuilder::add_part(CompiledStatement part, int location) {
  if (part.statement.kind == SqlKind::Nothing) return {};
  if (parts_.size() == static_cast<std::size_t>(kMaxParts)) {
    error(location, "a statement of the subset has at most " + std::to_string(kMaxParts) +
                        " parts (tables of WITH that write, subqueries with FOR UPDATE)");
    return {};
  }
  parts_.push_back(std::move(part.statement));
  return {static_cast<int>(parts_.size()) - 1, std::move(part.columns), std::move(part.types)};
}

PartRef StatementBuilder::select_part(const sql::Select& select, const Commons& visible) {
  StatementBuilder part(state_, text_, names_, db_, parts_);
  part.base_.common = visible;
  if (!part.select_lock(select)) {
    error(select.location,
          "FOR UPDATE/SHARE is supported on one table, with WHERE, ORDER BY and LIMIT (not on a join or on groups)");
    return {};
  }
  if (select.offset) error(select.location, "OFFSET of a subquery with FOR UPDATE/SHARE is outside the SQL subset");
  part.check_size(select.location);
  return add_part(std::move(part.out_), select.location);
}

PartRef StatementBuilder::write_part(const sql::Statement& statement, const Commons& visible) {
  StatementBuilder part(state_, text_, names_, db_, parts_);
  CompiledStatement compiled = part.compile(statement, visible);
  if (compiled.statement.refused != ErrorClass::None) st().refused = compiled.statement.refused;
  return add_part(std::move(compiled), statement.location);
}

bool StatementBuilder::find_target(const std::string& schema, const std::string& name, int location) {
  const std::string& db_name = state_.scenario.databases[static_cast<std::size_t>(db_)].first;
  if (!schema.empty() && schema != db_name) {
    error(location, "this statement runs on database \"" + db_name + "\" and cannot name a table of \"" + schema + "\"");
    return false;
  }
  st().table = state_.find_table(db_, name);
  if (st().table >= 0) return true;
  std::vector<std::string> known;
  for (const TableLayout& t : state_.program.plan.layout.tables) known.push_back(t.name);
  error(location, "unknown table \"" + name + "\"", nearest_name(name, known));
  return false;
}

Scope StatementBuilder::target_scope(const std::string& name, const std::string& alias) {
  Scope scope = base_;
  scope.entries.push_back({alias.empty() ? name : alias, info().db, name, table().columns, info().types, 0});
  exprs_.next_src = std::max(exprs_.next_src, 1);
  return scope;
}

int StatementBuilder::column(const std::string& name, int location) {
  const auto& columns = table().columns;
  const auto it = std::find(columns.begin(), columns.end(), name);
  if (it != columns.end()) return static_cast<int>(it - columns.begin());
  error(location, "unknown column \"" + name + "\" of table \"" + table().name + "\"", nearest_name(name, columns));
  return -1;
}

void StatementBuilder::returning(const std::vector<sql::Target>& targets, const Scope& scope) {
  for (const sql::Target& t : targets) {
    if (t.expr.kind != sql::ExprKind::Star) {
      const Typed e = exprs_.compile_output(t.expr, scope);
      st().targets.push_back(e.id);
      out_.columns.push_back(target_name(t));
      out_.types.push_back(e.type);
      continue;
    }
    for (std::size_t c = 0; c < table().columns.size(); ++c) {
      Node n;
      n.op = Op::Column;
      n.a = static_cast<std::int32_t>(c);
      st().targets.push_back(state_.add(n));
      out_.columns.push_back(table().columns[c]);
      out_.types.push_back(info().types[c]);
    }
  }
}

void StatementBuilder::order_and_limit(const std::vector<sql::OrderItem>& order, const std::shared_ptr<sql::Expr>& limit,
                                       const Scope& scope) {
  for (const sql::OrderItem& item : order) {
    // NULL is larger than every value for PostgreSQL, smaller for MySQL.
    const bool nulls_first = item.nulls_first.value_or(item.descending != mysql());
    st().order.push_back({exprs_.compile(item.expr, scope).id, item.descending, nulls_first});
  }
  if (limit) st().limit = exprs_.compile_as(*limit, Scope{}, SqlType::Int, "LIMIT");
}

void StatementBuilder::choose_path() {
  const bool write = st().kind == SqlKind::Update || st().kind == SqlKind::Delete;
  const TableScan scan{st().table, 0, 0, {st().where}, &st().order, write, st().targets};
  st().access = choose_access(state_, scan);
  st().covering = covering_access(state_, scan, st().access);
}

void StatementBuilder::select(const sql::Select& s) {
  if (compile_lock_call(exprs_, s, st(), out_.columns)) {
    out_.types.assign(out_.columns.size(), SqlType::Any);
    return;
  }
  if (s.locking && select_lock(s)) return;
  QueryCompiler query(exprs_);
  st().query = query.compile(s, &base_);
  out_.columns = query.columns();
  out_.types = query.types();
  if (st().query >= 0) kind(SqlKind::Select);
}

// A SELECT ... FOR UPDATE of one table. False when it is another kind of SELECT.
bool StatementBuilder::select_lock(const sql::Select& s) {
  if (const auto alone = locked_table_alone(state_, s, db_)) return select_lock(*alone);
  const bool adds_up = std::any_of(s.targets.begin(), s.targets.end(), [](const sql::Target& t) { return has_aggregate(t.expr); });
  if (s.from.size() != 1 || s.from[0].kind != sql::FromKind::Table || adds_up || !s.group_by.empty() || s.having ||
      s.distinct || !s.distinct_on.empty() || s.op != sql::SetOp::None || !s.values.empty()) {
    return false;
  }
  const sql::FromItem& from = s.from[0];
  auto is_common = [&](const auto& all, auto name) {
    return from.schema.empty() && std::any_of(all.begin(), all.end(), [&](const auto& c) { return name(c) == from.table; });
  };
  if (is_common(s.with, [](const sql::CommonTable& c) { return c.name; }) ||
      is_common(base_.common, [](const auto& c) { return c->name; })) {
    return false;
  }
  add_commons(exprs_, s.with, base_);
  if (!find_target(from.schema, from.table, from.location)) return true;
  const std::string& shown = from.alias.empty() ? from.table : from.alias;
  for (const std::string& name : s.locking->of) {
    if (name != shown) error(s.location, "FOR UPDATE/SHARE OF names \"" + name + "\", which is not in FROM", shown);
  }
  const Scope scope = target_scope(from.table, from.alias);
  if (s.where) st().where = exprs_.compile_as(*s.where, scope, SqlType::Bool, "WHERE");
  returning(s.targets, scope);
  std::vector<sql::OrderItem> order = s.order_by;
  for (sql::OrderItem& item : order) item.expr = *output_named(item.expr, s.targets, exprs_);
  order_and_limit(order, s.limit, scope);
  if (s.offset) st().offset = exprs_.compile_as(*s.offset, Scope{}, SqlType::Int, "OFFSET");
  switch (s.locking->strength) {
    case sql::LockStrength::KeyShare: st().lock = RowLock::KeyShare; break;
    case sql::LockStrength::Share: st().lock = RowLock::Share; break;
    case sql::LockStrength::NoKeyUpdate: st().lock = RowLock::NoKeyUpdate; break;
    case sql::LockStrength::Update: st().lock = RowLock::Update; break;
  }
  if (mysql() && (st().lock == RowLock::KeyShare || st().lock == RowLock::NoKeyUpdate)) {
    error(s.location, "FOR KEY SHARE and FOR NO KEY UPDATE are PostgreSQL's: write FOR SHARE or FOR UPDATE");
  }
  if (s.locking->wait == sql::LockWait::NoWait) st().policy = LockPolicy::NoWait;
  if (s.locking->wait == sql::LockWait::SkipLocked) st().policy = LockPolicy::SkipLocked;
  choose_path();
  kind(SqlKind::SelectLock);
  return true;
}

CompiledStatement compile_statement(CompileState& state, const Text& text, const sql::Statement& statement,
                                    LocalNames* names, int db) {
  std::vector<SqlStatement> parts;
  CompiledStatement out = StatementBuilder(state, text, names, db, parts).compile(statement, {});
  out.statement.columns = out.columns;
  for (const SqlStatement& part : parts) out.statement.reads_by_index = out.statement.reads_by_index || part.reads_by_index;
  out.statement.parts = std::move(parts);
  const bool writes = out.statement.kind == SqlKind::Insert || out.statement.kind == SqlKind::Update || out.statement.kind == SqlKind::Delete;
  out.statement.reads_first = out.statement.reads_first || (writes && !out.statement.parts.empty());
  return out;
}

}  // namespace oncecheck

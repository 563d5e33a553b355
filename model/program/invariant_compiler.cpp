#include "model/program/invariant_compiler.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "model/program/premise.hpp"
#include "model/program/promise_template.hpp"
#include "model/program/query_compiler.hpp"
#include "model/program/sql_parser.hpp"
#include "model/world/code_walk.hpp"

namespace oncecheck {

namespace {

class InvariantReader {
 public:
  InvariantReader(CompileState& state, const std::vector<Promise>& promises, Invariant& out)
      : state_(state), promises_(promises), out_(out), has_premise_(out.spec.premise.has_value()) {}

  void read() {
    InvariantSpec& spec = out_.spec;
    if (spec.kind == InvariantKind::Builtin) {
      builtin();
    } else if (spec.kind == InvariantKind::NeverStep) {
      never_step();
    } else {
      query(spec.sql);
    }
    if (spec.premise) {
      if (const auto written = select(*spec.premise, "a premise is a SELECT: a row that it finds is something to judge")) {
        out_.premises = {compiled(*spec.premise, *written)};
      }
    }
  }

 private:
  void query(const Text& text) {
    const auto promise = select(text, "an invariant is a SELECT: a row that it finds is a violation");
    if (!promise) return;
    out_.query = compiled(text, *promise);
    if (has_premise_ || out_.query < 0) return;
    sql::Select premise = premise_of(*promise, out_.spec.kind == InvariantKind::EventuallyEmpty);
    if (derived(text, premise)) return;
    premise.where = nullptr;
    derived(text, premise);
  }

  std::optional<sql::Select> select(const Text& text, const char* wanted) {
    try {
      const sql::Statement s = sql::parse_statement(text.value);
      if (s.kind == sql::StatementKind::Select && !s.select->locking) return *s.select;
      state_.sql_error(text, 0, wanted);
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
    }
    return std::nullopt;
  }

  // Whether a premise that was read off the promise makes sense without what was left out of it.
  bool derived(const Text& text, const sql::Select& premise) {
    const DiagnosticLog before = state_.errors;
    const QueryId query = compiled(text, premise);
    const bool fits = state_.errors.reported() == before.reported() && query >= 0;
    if (fits) out_.premises = {query};
    state_.errors = before;
    return fits;
  }

  QueryId compiled(const Text& text, const sql::Select& select) {
    try {
      ExprCompiler exprs(state_, text, nullptr, -1);
      return QueryCompiler(exprs).compile(select, nullptr);
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
      return -1;
    }
  }

  void builtin() {
    InvariantSpec& spec = out_.spec;
    const auto& all = promises_;
    const auto it = std::find_if(all.begin(), all.end(), [&](const Promise& p) { return spec.builtin == p.name; });
    if (it == all.end()) {
      std::vector<std::string> known;
      for (const Promise& p : all) known.push_back(p.name);
      state_.errors.add(spec.at, "unknown promise \"" + spec.builtin + "\"", nearest_name(spec.builtin, known));
      return;
    }
    spec.kind = it->kind;
    if (spec.kind == InvariantKind::Answered) {  // not a query: it is about clients
      for (const auto& [name, client] : state_.scenario.clients) {
        if (client.instant) {
          state_.errors.add(spec.at, "\"" + spec.builtin + "\" follows answers on their way, and \"network\": \"instant\" of \"" + name + "\" has none");
        }
      }
      return;
    }
    PromiseTemplate filled(state_, spec);
    spec.sql = {filled.filled(it->sql), spec.at};
    const Text step = {it->kind == InvariantKind::NeverStep ? spec.sql.value : filled.filled(it->step), spec.at};
    if (spec.sql.value.empty()) return;  // a mistake has been told
    const std::vector<std::string> premises = parts_of(filled.filled(it->premise));
    has_premise_ = !premises.empty();
    if (it->kind != InvariantKind::NeverStep) query(spec.sql);
    if (!step.value.empty()) never_step(step, filled.table(it->table));
    for (const std::string& part : premises) {
      const Text premise = {part, spec.at};
      if (const auto given = select(premise, "a SELECT")) out_.premises.push_back(compiled(premise, *given));
    }
  }

  // What stands between semicolons; a part in which a parameter has no value is empty, and left out.
  static std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t end = std::min(text.find(';', from), text.size());
      if (text.find_first_not_of(' ', from) < end) out.push_back(text.substr(from, end - from));
      from = end + 1;
    }
    return out;
  }

  void never_step() {
    const std::string& written = out_.spec.table;
    const std::size_t dot = written.find('.');
    const int db = dot == std::string::npos ? -1 : state_.find_database(written.substr(0, dot));
    const int table = state_.find_table(db, dot == std::string::npos ? written : written.substr(dot + 1));
    if (table < 0) {
      std::vector<std::string> known;
      for (const TableLayout& t : state_.program.plan.layout.tables) known.push_back(t.name);
      state_.errors.add(out_.spec.at, "\"table\" of a never_step names the unknown table \"" + written + "\"", nearest_name(written, known));
      return;
    }
    never_step(out_.spec.sql, table);
  }

  void never_step(const Text& text, int number) {
    out_.table = number;
    const TableLayout& table = state_.program.plan.layout.tables[static_cast<std::size_t>(number)];
    const bool keyed = std::any_of(table.indexes.begin(), table.indexes.end(), [](const Index& i) { return i.primary; });
    if (!keyed) {
      state_.errors.add(out_.spec.at, std::string(out_.spec.builtin.empty() ? "never_step" : out_.spec.builtin) + " compares a record with itself before a step: table \"" + table.name + "\" needs a PRIMARY KEY");
      return;
    }
    try {
      const sql::Expr e = sql::parse_expression(text.value);
      ExprCompiler exprs(state_, text, nullptr, -1);
      exprs.next_src = 3;
      const auto& types = state_.tables[static_cast<std::size_t>(out_.table)].types;
      Scope scope;
      scope.entries.push_back({"old", "", "", table.columns, types, 0});
      scope.entries.push_back({"new", "", "", table.columns, types, 1});
      const std::vector<std::string> locals = all_locals();
      if (!locals.empty()) scope.entries.push_back({"actor", "", "", locals, std::vector<SqlType>(locals.size(), SqlType::Any), 2, true});
      out_.step_expr = exprs.compile_as(e, scope, SqlType::Bool, "never_step");
      find_actor(locals);
      if (out_.query < 0 && !has_premise_) {
        const std::string& database = state_.scenario.databases[static_cast<std::size_t>(table.db)].first;
        out_.premises = {compiled(text, premise_of_step(e, database, table.name))};
      }
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
    }
  }

  // What programs keep in cells, by name; each once.
  std::vector<std::string> all_locals() const {
    std::set<std::string> out;
    for (const LocalNames& names : state_.names) {
      for (const std::string& cell : names.cells()) {
        if (names.find(cell) >= 0) out.insert(cell);
      }
    }
    return {out.begin(), out.end()};
  }

  // Where the programs keep what the expression says of ACTOR. Those cells are never dead.
  void find_actor(const std::vector<std::string>& locals) {
    bool named = false;
    std::vector<bool> used(locals.size(), false);
    walk_expr(state_.program.plan.code, out_.step_expr, [&](const Node& n) {
      if (n.op != Op::Column || n.src != 2) return;
      used[static_cast<std::size_t>(n.a)] = named = true;
    }, [](const Query&) {});
    if (!named) return;
    for (std::size_t c = 0; c < locals.size(); ++c) {
      out_.actor_cells.emplace_back();
      for (std::size_t b = 0; b < state_.names.size(); ++b) {
        const int cell = used[c] ? state_.names[b].find(locals[c]) : -1;
        out_.actor_cells.back().push_back(cell);
        if (cell >= 0) state_.program.kept_cells[b].push_back(cell);
      }
    }
  }

  CompileState& state_;
  const std::vector<Promise>& promises_;
  Invariant& out_;
  bool has_premise_ = false;  // the promise comes with one; else it is taken from the promise itself
};

}  // namespace

void compile_invariants(CompileState& state, const std::vector<Promise>& promises) {
  state.program.kept_cells.assign(state.program.bodies.size(), {});
  for (const InvariantSpec& spec : state.scenario.invariants) {
    Invariant invariant;
    invariant.spec = spec;
    InvariantReader(state, promises, invariant).read();
    const auto it = state.scenario.expect.find(spec.name);
    if (it != state.scenario.expect.end()) {
      invariant.expected = it->second;
    } else if (state.scenario.has_expect && state.scenario.expect_all != Expectation::Violated) {
      invariant.expected = Expectation::Holds;
    }
    state.program.invariants.push_back(std::move(invariant));
  }
}

}  // namespace oncecheck

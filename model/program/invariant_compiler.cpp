#include "model/program/invariant_compiler.hpp"

#include <algorithm>

#include "model/program/query_compiler.hpp"
#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

class InvariantReader {
 public:
  InvariantReader(CompileState& state, const std::vector<Promise>& promises, Invariant& out)
      : state_(state), promises_(promises), out_(out) {}

  void read() {
    InvariantSpec& spec = out_.spec;
    if (spec.kind == InvariantKind::Builtin) {
      builtin();
    } else if (spec.kind == InvariantKind::NeverStep) {
      never_step(spec.sql);
    } else {
      query(spec.sql);
    }
  }

 private:
  void query(const Text& text) {
    try {
      const sql::Statement s = sql::parse_statement(text.value);
      if (s.kind != sql::StatementKind::Select || s.select->locking) {
        state_.sql_error(text, 0, "an invariant is a SELECT: a row that it finds is a violation");
        return;
      }
      ExprCompiler exprs(state_, text, nullptr, -1);
      QueryCompiler compiler(exprs);
      out_.query = compiler.compile(*s.select, nullptr);
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
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
    spec.sql = {it->sql, spec.at};
    if (spec.kind == InvariantKind::Answered) return;  // not a query: it is about clients
    if (spec.builtin == "ledger-matches-provider" && !fill_ledger(spec)) return;
    if (spec.builtin == "no-stuck-intent" && !fill_open(spec)) return;
    query(spec.sql);
  }

  // Records of a table that are open, or keys of a Redis that are locks.
  bool fill_open(InvariantSpec& spec) {
    const auto option = [&](const char* name) {
      const auto it = spec.options.find(name);
      return it == spec.options.end() ? std::string() : it->second.value;
    };
    const std::string records = option("records"), open = option("open"), locks = option("locks");
    if (locks.empty() == (records.empty() && open.empty()) || records.empty() != open.empty()) {
      state_.errors.add(spec.at, "no-stuck-intent needs to know what must end: {\"use\": \"no-stuck-intent\", \"records\": \"DATABASE.TABLE\", "
                                 "\"open\": \"state = 'PROCESSING'\"}, or \"locks\": \"key = 'lock'\" for keys of a Redis");
      return false;
    }
    std::string from = "facts.redis_keys", identity = "redis, key";
    if (locks.empty()) {
      const int t = table_of(spec, records, "records");
      if (t < 0) return false;
      from = full_name(t);
      identity = column_of(spec, t);
      if (identity.empty()) return false;
    }
    replace(spec.sql.value, "%RECORDS%", from);
    replace(spec.sql.value, "%IDENTITY%", identity);
    replace(spec.sql.value, "%OPEN%", locks.empty() ? open : locks);
    return true;
  }

  // "DATABASE.TABLE" or "TABLE", or -1.
  int find_written(const std::string& written) const {
    const std::size_t dot = written.find('.');
    const int db = dot == std::string::npos ? -1 : state_.find_database(written.substr(0, dot));
    if (dot != std::string::npos && db < 0) return -1;
    return state_.find_table(db, dot == std::string::npos ? written : written.substr(dot + 1));
  }

  // The table that an option names, or -1 after a report.
  int table_of(const InvariantSpec& spec, const std::string& written, const std::string& option) {
    const int t = find_written(written);
    if (t >= 0) return t;
    state_.errors.add(spec.at, "\"" + option + "\" names the unknown table \"" + written + "\"", nearest_name(written, table_names()));
    return -1;
  }

  std::vector<std::string> table_names() const {
    std::vector<std::string> out;
    for (const TableLayout& t : state_.program.plan.layout.tables) out.push_back(t.name);
    return out;
  }

  std::string full_name(int t) const {
    return state_.tables[static_cast<std::size_t>(t)].db + "." + state_.program.plan.layout.tables[static_cast<std::size_t>(t)].name;
  }

  // The column that "identity" names, by default the first; "" after a report.
  std::string column_of(const InvariantSpec& spec, int t) {
    const TableLayout& layout = state_.program.plan.layout.tables[static_cast<std::size_t>(t)];
    const std::string column = spec.options.count("identity") ? spec.options.at("identity").value : layout.columns[0];
    if (std::find(layout.columns.begin(), layout.columns.end(), column) != layout.columns.end()) return column;
    state_.errors.add(spec.at, "\"identity\" names the unknown column \"" + column + "\" of \"" + layout.name + "\"",
                      nearest_name(column, layout.columns));
    return "";
  }

  // By default the ledger is the one table called so, and its first column says which operation a row is for.
  bool fill_ledger(InvariantSpec& spec) {
    std::string table = spec.options.count("ledger") ? spec.options.at("ledger").value : "ledger";
    const int t = find_written(table);
    if (t < 0) {
      state_.errors.add(spec.at, "ledger-matches-provider needs a table \"" + table +
                                     "\": name yours with {\"use\": \"ledger-matches-provider\", \"ledger\": \"DATABASE.TABLE\", \"identity\": \"COLUMN\"}");
      return false;
    }
    const std::string column = column_of(spec, t);
    if (column.empty()) return false;
    replace(spec.sql.value, "%LEDGER%", full_name(t));
    replace(spec.sql.value, "%IDENTITY%", column);
    return true;
  }

  static void replace(std::string& text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
      text.replace(at, what.size(), by);
    }
  }

  void never_step(const Text& text) {
    const std::string& written = out_.spec.table;
    out_.table = find_written(written);
    if (out_.table < 0) {
      state_.errors.add(out_.spec.at, "\"table\" of a never_step names the unknown table \"" + written + "\"", nearest_name(written, table_names()));
      return;
    }
    const TableLayout& table = state_.program.plan.layout.tables[static_cast<std::size_t>(out_.table)];
    const bool keyed = std::any_of(table.indexes.begin(), table.indexes.end(), [](const Index& i) { return i.primary; });
    if (!keyed) {
      state_.errors.add(out_.spec.at, "never_step compares a record with itself before a step: table \"" + table.name + "\" needs a PRIMARY KEY");
      return;
    }
    try {
      const sql::Expr e = sql::parse_expression(text.value);
      ExprCompiler exprs(state_, text, nullptr, -1);
      exprs.next_src = 2;
      const auto& types = state_.tables[static_cast<std::size_t>(out_.table)].types;
      Scope scope;
      scope.entries.push_back({"old", "", "", table.columns, types, 0});
      scope.entries.push_back({"new", "", "", table.columns, types, 1});
      out_.step_expr = exprs.compile_as(e, scope, SqlType::Bool, "never_step");
    } catch (const sql::SqlError& e) {
      state_.sql_error(text, e.location, e.what());
    }
  }

  CompileState& state_;
  const std::vector<Promise>& promises_;
  Invariant& out_;
};

}  // namespace

void compile_invariants(CompileState& state, const std::vector<Promise>& promises) {
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

#include "model/program/session_compiler.hpp"

#include <algorithm>
#include <charconv>

#include "model/program/sql_parser.hpp"

namespace oncecheck {

namespace {

// Settings that change no outcome of the model.
constexpr std::string_view kHarmless[] = {
    "application_name", "client_encoding", "client_min_messages", "datestyle", "extra_float_digits", "jit",
    "log_statement", "search_path", "timezone", "work_mem",
    "character_set_client", "character_set_connection", "character_set_results", "collation_connection",
    "interactive_timeout", "lock_wait_timeout", "names", "net_read_timeout", "net_write_timeout", "time_zone"};

// Settings that end a session or a transaction that does nothing.
constexpr std::string_view kIdle[] = {"wait_timeout", "idle_in_transaction_session_timeout", "idle_session_timeout",
                                      "idle_transaction_timeout"};

template <std::size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class SessionCompiler {
 public:
  SessionCompiler(ExprCompiler& exprs, const sql::Statement& s, int db, SqlStatement& out)
      : exprs_(exprs), state_(exprs.state()), s_(s), db_(db), out_(out) {}

  bool compile() {
    using K = sql::StatementKind;
    switch (s_.kind) {
      case K::Begin: begin(); return true;
      case K::Commit: out_.kind = SqlKind::Commit; return true;
      case K::Rollback: out_.kind = SqlKind::Rollback; return true;
      case K::Savepoint: savepoint(SqlKind::Savepoint); return true;
      case K::RollbackTo: savepoint(SqlKind::RollbackTo); return true;
      case K::Release: savepoint(SqlKind::Release); return true;
      case K::Set: set(); return true;
      default: return false;
    }
  }

 private:
  void error(const std::string& message) { exprs_.error(s_.location, message); }
  bool innodb() const { return is_innodb(state_.engine(db_)); }

  void begin() {
    out_.kind = SqlKind::Begin;
    out_.read_only = s_.read_only;
    out_.snapshot_now = s_.consistent_snapshot;
    if (!s_.isolation.empty()) {
      out_.isolation = isolation_of(s_.isolation, state_.engine(db_));
      if (innodb()) {
        error("MySQL has no isolation level behind BEGIN: write SET TRANSACTION ISOLATION LEVEL as a step before it");
      }
    }
    const Isolation level = out_.isolation.value_or(state_.default_isolation(db_));
    if (s_.deferrable && s_.read_only && level == Isolation::Serializable) {
      error("SERIALIZABLE READ ONLY DEFERRABLE is outside the SQL subset: the wait for a safe snapshot is not modelled");
    }
  }

  void savepoint(SqlKind kind) {
    out_.kind = kind;
    auto& names = state_.program.plan.layout.savepoint_names;
    const auto it = std::find(names.begin(), names.end(), s_.name);
    out_.savepoint = static_cast<int>(it - names.begin());
    if (it == names.end()) names.push_back(s_.name);
  }

  void set() {
    const std::string& name = s_.name;
    if (name == "session_isolation") {
      out_.kind = SqlKind::SetSessionIsolation;
      out_.isolation = isolation_of(s_.value, state_.engine(db_));
    } else if (name == "autocommit" && innodb()) {
      out_.kind = SqlKind::SetAutocommit;
      out_.switch_on = is_on();
    } else if (name == "transaction_isolation") {
      out_.kind = SqlKind::SetIsolation;
      out_.isolation = isolation_of(s_.value, state_.engine(db_));
    } else if (name == "lock_timeout" && !innodb()) {
      timeout(ErrorClass::LockTimeout, 1000);
    } else if (name == "statement_timeout" && !innodb()) {
      timeout(ErrorClass::StatementTimeout, 1000);
    } else if (name == "innodb_lock_wait_timeout" && innodb()) {
      timeout(ErrorClass::LockTimeout, 1'000'000);
    } else if (name == "max_statement_time" && state_.engine(db_) == Engine::MariaDb) {
      timeout(ErrorClass::StatementTimeout, 1'000'000);
    } else if (name == "max_execution_time" && state_.engine(db_) == Engine::MySql) {
      timeout(ErrorClass::StatementTimeout, 1000);
    } else if (name == "innodb_snapshot_isolation" && state_.engine(db_) == Engine::MariaDb) {
      snapshot_isolation();
    } else if (name == "sql_mode" && innodb()) {
      // Without it, what does not fit is cut instead of refused.
      if (s_.value.find("STRICT_") == std::string::npos) error("SET sql_mode without STRICT_TRANS_TABLES is outside the SQL subset");
    } else if (contains(kIdle, name) && !state_.options.run_refused) {
      error("SET " + name + " is outside the SQL subset: no session idles for so long that the server ends it");
    } else if (contains(kIdle, name)) {
      timeout(ErrorClass::ConnectionLost, name == "wait_timeout" || innodb() ? 1'000'000 : 1000);
      out_.kind = SqlKind::Nothing;
    } else if (!contains(kHarmless, name)) {
      error("SET " + name + " is outside the SQL subset");
    }
  }

  // `unit`: microseconds of a number without a unit.
  void timeout(ErrorClass ends_with, std::int64_t unit) {
    out_.kind = SqlKind::SetLockTimeout;
    out_.timeout_error = ends_with;
    out_.local = s_.local;
    const std::string& text = s_.value;
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc{} && end == text.data() + text.size() && number >= 0 && number < (1ll << 40)) {
      out_.timeout = number * unit;
    } else if (const auto microseconds = sql::parse_interval(text)) {
      out_.timeout = *microseconds;
    } else {
      error("SET " + s_.name + " takes a time such as '2s', not '" + text + "'");
    }
    out_.switch_on = out_.timeout > 0;
  }

  void snapshot_isolation() {
    // One flag for the database: the sessions of a scenario run the same service.
    if (is_on()) state_.snapshot_isolation.insert(db_);
  }

  bool is_on() {
    const std::string value = s_.value;
    const bool on = value == "1" || value == "on" || value == "ON" || value == "true";
    if (!on && value != "0" && value != "off" && value != "OFF" && value != "false") {
      error("SET " + s_.name + " takes ON or OFF, not '" + value + "'");
    }
    return on;
  }

  ExprCompiler& exprs_;
  CompileState& state_;
  const sql::Statement& s_;
  int db_;
  SqlStatement& out_;
};

}  // namespace

bool compile_session_statement(ExprCompiler& exprs, const sql::Statement& statement, int db, SqlStatement& out) {
  return SessionCompiler(exprs, statement, db, out).compile();
}

}  // namespace oncecheck

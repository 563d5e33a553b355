#include "model/program/sql_session_reader.hpp"

namespace oncecheck::sql {

namespace {

// A constant as the text of a setting.
std::string setting_text(const Reader& reader, const Json& node) {
  const NodeView value = reader.view(node);
  if (value.type != "A_Const")
    reader.refuse("this value of SET", Reader::first_location(node), "use a number or a string");
  if (const Json* text = Reader::find(value.body, "sval")) return Reader::text(*text, "sval");
  if (const Json* decimal = Reader::find(value.body, "fval")) return Reader::text(*decimal, "fval");
  if (const Json* number = Reader::find(value.body, "ival")) {
    const Json* positive = Reader::find(*number, "ival");
    return std::to_string(positive != nullptr ? positive->get<std::int64_t>()
                                              : integer_at(reader.sql(), Reader::location_of(value.body)));
  }
  reader.refuse("this value of SET", Reader::first_location(node), "use a number or a string");
}

// The options of BEGIN: ISOLATION LEVEL, READ ONLY/WRITE, [NOT] DEFERRABLE.
void read_options(const Reader& reader, const Json& options, Statement& statement) {
  std::vector<std::string> seen;
  for (const Json& node : options) {
    const NodeView option = reader.view(node);
    if (option.type != "DefElem") reader.refuse_node(node);
    reader.check_fields("DefElem", option.body, {"defname", "arg"});
    const std::string name = Reader::text(option.body, "defname");
    const int location = Reader::location_of(option.body);
    for (const std::string& before : seen) {
      if (before == name) reader.fail("this transaction mode is given twice", location);
    }
    seen.push_back(name);
    const std::string value = setting_text(reader, option.body.at("arg"));
    if (name == "transaction_isolation") {
      statement.isolation = value;
    } else if (name == "transaction_read_only") {
      statement.read_only = value == "1";
    } else if (name == "transaction_deferrable") {
      // For MySQL the rewriter has put this mode where WITH CONSISTENT SNAPSHOT was.
      (reader.sql().mysql() ? statement.consistent_snapshot : statement.deferrable) = value == "1";
    } else {
      reader.refuse("the transaction mode " + name, location);
    }
  }
}

}  // namespace

Statement read_transaction(const Reader& reader, const Json& body, int location) {
  reader.check_fields("TransactionStmt", body, {"kind", "options", "savepoint_name", "gid"});
  Statement statement;
  statement.location = reader.original(location);
  const std::string kind = Reader::text(body, "kind");
  if (kind == "TRANS_STMT_BEGIN" || kind == "TRANS_STMT_START") {
    statement.kind = StatementKind::Begin;
  } else if (kind == "TRANS_STMT_COMMIT") {
    statement.kind = StatementKind::Commit;
  } else if (kind == "TRANS_STMT_ROLLBACK") {
    statement.kind = StatementKind::Rollback;
  } else if (kind == "TRANS_STMT_SAVEPOINT") {
    statement.kind = StatementKind::Savepoint;
  } else if (kind == "TRANS_STMT_ROLLBACK_TO") {
    statement.kind = StatementKind::RollbackTo;
  } else if (kind == "TRANS_STMT_RELEASE") {
    statement.kind = StatementKind::Release;
  } else {
    reader.refuse("two-phase commit (PREPARE TRANSACTION, COMMIT PREPARED)", location);
  }
  statement.name = Reader::text(body, "savepoint_name");
  read_options(reader, Reader::list(body, "options"), statement);
  return statement;
}

Statement read_set(const Reader& reader, const Json& body, int location) {
  reader.check_fields("VariableSetStmt", body, {"kind", "name", "args", "is_local"});
  Statement statement;
  statement.kind = StatementKind::Set;
  statement.location = reader.original(location);
  statement.name = Reader::text(body, "name");
  statement.local = Reader::flag(body, "is_local");
  const std::string kind = Reader::text(body, "kind");
  const Json& args = Reader::list(body, "args");
  const bool session = statement.name == "SESSION CHARACTERISTICS";
  if (kind == "VAR_SET_MULTI" && (session || statement.name == "TRANSACTION")) {
    Statement modes;
    read_options(reader, args, modes);
    if (args.size() != 1 || modes.isolation.empty()) {
      reader.refuse("SET " + statement.name + " with READ ONLY, READ WRITE or DEFERRABLE", location, "write them behind BEGIN");
    }
    statement.name = session ? "session_isolation" : "transaction_isolation";
    statement.value = modes.isolation;
    return statement;
  }
  if (kind == "VAR_SET_MULTI") reader.refuse("SET " + statement.name, location);
  if ((kind == "VAR_RESET" || kind == "VAR_SET_DEFAULT") && (statement.name == "lock_timeout" || statement.name == "statement_timeout")) {
    statement.value = "0";  // the server's default: none
    return statement;
  }
  if (kind == "VAR_RESET" || kind == "VAR_RESET_ALL") reader.refuse("RESET", location, "lock_timeout and statement_timeout can be reset");
  if (kind == "VAR_SET_DEFAULT") reader.refuse("SET ... TO DEFAULT", location, "give a value");
  if (kind != "VAR_SET_VALUE") reader.refuse("SET ... FROM CURRENT", location, "give a value");
  if (args.size() != 1) reader.refuse("SET with a list of values", location);
  statement.value = setting_text(reader, args.front());
  return statement;
}

}  // namespace oncecheck::sql

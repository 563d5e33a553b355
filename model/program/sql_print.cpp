// Printing statements.
#include "model/program/sql_print.hpp"

namespace oncecheck::sql {

namespace {

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name_text(name);
  return text;
}

std::string names_in_parentheses(const std::vector<std::string>& names) { return "(" + names_text(names) + ")"; }

std::string list_text(const std::vector<Expr>& all) {
  std::string text;
  for (const Expr& e : all) text += (text.empty() ? "" : ", ") + to_string(e);
  return text;
}

std::string table_text(const std::string& schema, const std::string& table, const std::string& alias = "") {
  return (schema.empty() ? "" : name_text(schema) + ".") + name_text(table) +
         (alias.empty() ? "" : " AS " + name_text(alias));
}

std::string targets_text(const std::vector<Target>& targets) {
  std::string text;
  for (const Target& t : targets) {
    text += (text.empty() ? "" : ", ") + to_string(t.expr) + (t.alias.empty() ? "" : " AS " + name_text(t.alias));
  }
  return text;
}

std::string with_text(const std::vector<CommonTable>& with) {
  if (with.empty()) return "";
  std::string text;
  for (const CommonTable& c : with) {
    text += (text.empty() ? "WITH " : ", ") + name_text(c.name);
    if (!c.columns.empty()) text += " " + names_in_parentheses(c.columns);
    text += " AS (" + (c.statement == nullptr ? "" : to_string(*c.statement)) + ")";
  }
  return text + " ";
}

std::string item_text(const FromItem& item);

std::string join_text(const FromItem& item) {
  const FromItem& right = item.sides[1];
  const bool nested = right.kind != FromKind::Table && right.kind != FromKind::Subselect;
  const char* word = item.kind == FromKind::LeftJoin    ? " LEFT JOIN "
                     : item.kind == FromKind::CrossJoin ? " CROSS JOIN "
                                                        : " JOIN ";
  std::string text = item_text(item.sides[0]) + word + (nested ? "(" + item_text(right) + ")" : item_text(right));
  if (item.on) text += " ON " + to_string(*item.on);
  if (!item.using_columns.empty()) text += " USING " + names_in_parentheses(item.using_columns);
  return text;
}

std::string item_text(const FromItem& item) {
  switch (item.kind) {
    case FromKind::Table: return table_text(item.schema, item.table, item.alias);
    case FromKind::Subselect:
      return "(" + (item.select == nullptr ? "" : to_string(*item.select)) + ")" +
             (item.alias.empty() ? "" : " AS " + name_text(item.alias));
    case FromKind::InnerJoin:
    case FromKind::LeftJoin:
    case FromKind::CrossJoin: return join_text(item);
  }
  return "";
}

std::string from_text(const char* word, const std::vector<FromItem>& items) {
  std::string text;
  for (const FromItem& item : items) text += (text.empty() ? word : ", ") + item_text(item);
  return text;
}

std::string clause_text(const char* word, const std::shared_ptr<Expr>& e) { return e ? word + to_string(*e) : ""; }

std::string order_text(const std::vector<OrderItem>& order) {
  std::string text;
  for (const OrderItem& item : order) {
    text += (text.empty() ? " ORDER BY " : ", ") + to_string(item.expr) + (item.descending ? " DESC" : "");
    if (item.nulls_first) text += *item.nulls_first ? " NULLS FIRST" : " NULLS LAST";
  }
  return text;
}

std::string rows_text(const std::vector<std::vector<Expr>>& rows) {
  std::string text;
  for (const auto& row : rows) text += (text.empty() ? "VALUES (" : ", (") + list_text(row) + ")";
  return text;
}

std::string locking_text(const Locking& locking) {
  std::string text;
  switch (locking.strength) {
    case LockStrength::KeyShare: text = " FOR KEY SHARE"; break;
    case LockStrength::Share: text = " FOR SHARE"; break;
    case LockStrength::NoKeyUpdate: text = " FOR NO KEY UPDATE"; break;
    case LockStrength::Update: text = " FOR UPDATE"; break;
  }
  if (!locking.of.empty()) text += " OF " + names_text(locking.of);
  if (locking.wait == LockWait::NoWait) text += " NOWAIT";
  if (locking.wait == LockWait::SkipLocked) text += " SKIP LOCKED";
  return text;
}

const char* set_op_text(SetOp op) {
  switch (op) {
    case SetOp::None: break;
    case SetOp::Union: return " UNION ";
    case SetOp::UnionAll: return " UNION ALL ";
    case SetOp::Intersect: return " INTERSECT ";
    case SetOp::Except: return " EXCEPT ";
  }
  return " ";
}

std::string core_text(const Select& s) {
  if (s.op != SetOp::None) return "(" + to_string(*s.left) + ")" + set_op_text(s.op) + "(" + to_string(*s.right) + ")";
  if (!s.values.empty()) return rows_text(s.values);
  std::string text = s.distinct ? "SELECT DISTINCT" : "SELECT";
  for (std::size_t i = 0; i < s.distinct_on.size(); ++i) text += (i == 0 ? " DISTINCT ON (" : ", ") + to_string(s.distinct_on[i]);
  if (!s.distinct_on.empty()) text += ")";
  if (!s.targets.empty()) text += " " + targets_text(s.targets);
  text += from_text(" FROM ", s.from) + clause_text(" WHERE ", s.where);
  if (!s.group_by.empty()) text += " GROUP BY " + list_text(s.group_by);
  return text + clause_text(" HAVING ", s.having);
}

std::string assignments_text(const std::vector<Assignment>& set) {
  std::string text;
  for (const Assignment& a : set) {
    text += (text.empty() ? "" : ", ") + name_text(a.column) + " = " + to_string(a.value);
  }
  return text;
}

std::string returning_text(const std::vector<Target>& returning) {
  return returning.empty() ? "" : " RETURNING " + targets_text(returning);
}

std::string conflict_text(const OnConflict& c) {
  if (c.action == ConflictAction::None) return "";
  std::string text = " ON CONFLICT";
  if (!c.constraint.empty()) text += " ON CONSTRAINT " + name_text(c.constraint);
  if (!c.columns.empty()) text += " " + names_in_parentheses(c.columns) + clause_text(" WHERE ", c.target_where);
  if (c.action == ConflictAction::Nothing) return text + " DO NOTHING";
  return text + " DO UPDATE SET " + assignments_text(c.set) + clause_text(" WHERE ", c.where);
}

std::string insert_text(const Insert& s) {
  std::string text = with_text(s.with) + "INSERT INTO " + table_text(s.schema, s.table, s.alias);
  if (!s.columns.empty()) text += " " + names_in_parentheses(s.columns);
  text += " " + (s.default_values ? "DEFAULT VALUES" : s.select ? to_string(*s.select) : rows_text(s.rows));
  return text + conflict_text(s.on_conflict) + returning_text(s.returning);
}

std::string update_text(const Update& s) {
  return with_text(s.with) + "UPDATE " + table_text(s.schema, s.table, s.alias) + " SET " + assignments_text(s.set) +
         from_text(" FROM ", s.from) + clause_text(" WHERE ", s.where) + order_text(s.order_by) +
         clause_text(" LIMIT ", s.limit) + returning_text(s.returning);
}

std::string delete_text(const Delete& s) {
  return with_text(s.with) + "DELETE FROM " + table_text(s.schema, s.table, s.alias) +
         from_text(" USING ", s.using_items) + clause_text(" WHERE ", s.where) + order_text(s.order_by) +
         clause_text(" LIMIT ", s.limit) + returning_text(s.returning);
}

const char* action_text(ParentAction action) {
  switch (action) {
    case ParentAction::NoAction: break;
    case ParentAction::Restrict: return "RESTRICT";
    case ParentAction::Cascade: return "CASCADE";
    case ParentAction::SetNull: return "SET NULL";
  }
  return "";
}

// Of a column or of a table constraint.
template <class Reference>
std::string references_text(const Reference& r) {
  std::string text = " REFERENCES " + name_text(r.references_table);
  if (!r.references_columns.empty()) text += " " + names_in_parentheses(r.references_columns);
  if (r.on_delete != ParentAction::NoAction) text += std::string(" ON DELETE ") + action_text(r.on_delete);
  if (r.on_update != ParentAction::NoAction) text += std::string(" ON UPDATE ") + action_text(r.on_update);
  return text;
}

std::string column_text(const ColumnDef& c) {
  std::string text = name_text(c.name) + " " + c.type;
  if (c.identity) text += " GENERATED BY DEFAULT AS IDENTITY";
  if (c.not_null) text += " NOT NULL";
  if (c.primary_key) text += " PRIMARY KEY";
  if (c.unique) text += " UNIQUE";
  if (c.default_value) text += " DEFAULT (" + to_string(*c.default_value) + ")";
  if (c.check) text += " CHECK (" + to_string(*c.check) + ")";
  if (!c.references_table.empty()) text += references_text(c);
  return text;
}

std::string constraint_text(const TableConstraint& c) {
  const std::string text = c.name.empty() ? "" : "CONSTRAINT " + name_text(c.name) + " ";
  switch (c.kind) {
    case ConstraintKind::PrimaryKey: return text + "PRIMARY KEY " + names_in_parentheses(c.columns);
    case ConstraintKind::Unique: return text + "UNIQUE " + names_in_parentheses(c.columns);
    case ConstraintKind::ForeignKey:
      return text + "FOREIGN KEY " + names_in_parentheses(c.columns) + references_text(c);
    case ConstraintKind::PlainIndex: return "KEY " + name_text(c.name) + " " + names_in_parentheses(c.columns);
    case ConstraintKind::Check: return text + "CHECK (" + (c.check ? to_string(*c.check) : "") + ")";
  }
  return text;
}

std::string create_table_text(const CreateTable& c) {
  std::string parts;
  for (const ColumnDef& column : c.columns) parts += (parts.empty() ? "" : ", ") + column_text(column);
  for (const TableConstraint& constraint : c.constraints) {
    parts += (parts.empty() ? "" : ", ") + constraint_text(constraint);
  }
  return std::string("CREATE TABLE ") + (c.if_not_exists ? "IF NOT EXISTS " : "") + table_text(c.schema, c.table) +
         " (" + parts + ")";
}

std::string create_index_text(const CreateIndex& c) {
  return std::string(c.unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX ") +
         (c.name.empty() ? "" : name_text(c.name) + " ") + "ON " + table_text(c.schema, c.table) + " " +
         names_in_parentheses(c.columns) + clause_text(" WHERE ", c.where);
}

std::string begin_text(const Statement& s) {
  std::string text = "BEGIN";
  const char* comma = "";
  const auto add = [&](const std::string& mode) {
    text += comma + (" " + mode);
    comma = ",";
  };
  if (!s.isolation.empty()) add("ISOLATION LEVEL " + s.isolation);
  if (s.read_only) add("READ ONLY");
  if (s.deferrable) add("DEFERRABLE");
  if (s.consistent_snapshot) add("WITH CONSISTENT SNAPSHOT");
  return text;
}

std::string set_text(const Statement& s) {
  // A setting may have two parts, as in app.user: each is a name.
  std::string name;
  std::size_t from = 0;
  while (from <= s.name.size()) {
    const std::size_t dot = std::min(s.name.find('.', from), s.name.size());
    name += (from == 0 ? "" : ".") + name_text(s.name.substr(from, dot - from));
    from = dot + 1;
  }
  return std::string("SET ") + (s.local ? "LOCAL " : "") + name + " = " + literal_text(s.value);
}

}  // namespace

std::string to_string(const Select& s) {
  std::string text = with_text(s.with) + core_text(s) + order_text(s.order_by);
  text += clause_text(" LIMIT ", s.limit) + clause_text(" OFFSET ", s.offset);
  if (s.locking) text += locking_text(*s.locking);
  return text;
}

std::string to_string(const Statement& s) {
  switch (s.kind) {
    case StatementKind::Begin: return begin_text(s);
    case StatementKind::Commit: return "COMMIT";
    case StatementKind::Rollback: return "ROLLBACK";
    case StatementKind::Savepoint: return "SAVEPOINT " + name_text(s.name);
    case StatementKind::RollbackTo: return "ROLLBACK TO " + name_text(s.name);
    case StatementKind::Release: return "RELEASE " + name_text(s.name);
    case StatementKind::Set: return set_text(s);
    case StatementKind::Select: return s.select ? to_string(*s.select) : "";
    case StatementKind::Insert: return s.insert ? insert_text(*s.insert) : "";
    case StatementKind::Update: return s.update ? update_text(*s.update) : "";
    case StatementKind::Delete: return s.del ? delete_text(*s.del) : "";
    case StatementKind::CreateTable: return s.create_table ? create_table_text(*s.create_table) : "";
    case StatementKind::CreateIndex: return s.create_index ? create_index_text(*s.create_index) : "";
    case StatementKind::CreateSequence: return "CREATE SEQUENCE " + name_text(s.name);
  }
  return "";
}

}  // namespace oncecheck::sql

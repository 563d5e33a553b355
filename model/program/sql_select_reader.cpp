// Reader: SELECT, VALUES, set operations, FROM and WITH.
#include <algorithm>

#include "model/program/sql_reader.hpp"

namespace oncecheck::sql {

namespace {

bool is_null_constant(const Json& node) {
  const Json* constant = ReadContext::find(node, "A_Const");
  return constant != nullptr && ReadContext::flag(*constant, "isnull");
}

SetOp set_op(const std::string& op, bool all) {
  if (op == "SETOP_UNION") return all ? SetOp::UnionAll : SetOp::Union;
  return op == "SETOP_INTERSECT" ? SetOp::Intersect : SetOp::Except;
}

}  // namespace

std::shared_ptr<Select> Reader::read_select(const Json& body, int location) {
  const Level level(*this, 1, location);
  check_fields("SelectStmt", body,
               {"distinctClause", "targetList", "fromClause", "whereClause", "groupClause", "havingClause",
                "valuesLists", "sortClause", "limitOffset", "limitCount", "limitOption", "lockingClause", "withClause",
                "op", "all", "larg", "rarg"});
  auto select = std::make_shared<Select>();
  count_nodes(1, location);
  select->location = original(location);
  select->with = read_with(body);
  if (text(body, "op") != "SETOP_NONE") {
    read_set_operation(body, *select, location);
  } else if (find(body, "valuesLists") != nullptr) {
    select->values = read_rows(list(body, "valuesLists"), false);
  } else {
    const Json& distinct = list(body, "distinctClause");
    // Plain DISTINCT is a list of one empty node.
    select->distinct = !distinct.empty() && distinct.front().empty();
    if (!distinct.empty() && !distinct.front().empty()) select->distinct_on = read_exprs(distinct);
    select->targets = read_targets(list(body, "targetList"));
    select->from = read_from(list(body, "fromClause"));
    select->where = read_optional_expr(body, "whereClause");
    select->group_by = read_exprs(list(body, "groupClause"));
    select->having = read_optional_expr(body, "havingClause");
  }
  read_order_and_limit(body, *select);
  if (find(body, "lockingClause") != nullptr) select->locking = read_locking(body, *select);
  return select;
}

void Reader::read_set_operation(const Json& body, Select& select, int location) {
  const std::string op = text(body, "op");
  const bool all = flag(body, "all");
  if (all && op != "SETOP_UNION") {
    const char* word = op == "SETOP_INTERSECT" ? "intersect" : "except";
    const std::string name = op == "SETOP_INTERSECT" ? "INTERSECT ALL" : "EXCEPT ALL";
    refuse(name, word_near(word, first_location(body.at("larg"))));
  }
  select.op = set_op(op, all);
  const auto side = [&](const char* field) {
    const Json& one = body.at(field);
    const int at = first_location(one);
    return read_select(one, at < 0 ? location : at);
  };
  select.left = side("larg");
  select.right = side("rarg");
}

void Reader::read_order_and_limit(const Json& body, Select& select) {
  for (const Json& node : list(body, "sortClause")) {
    const NodeView sort = view(node);
    if (sort.type != "SortBy") refuse_node(node);
    check_fields("SortBy", sort.body, {"node", "sortby_dir", "sortby_nulls"});
    OrderItem item;
    item.expr = read_expr(sort.body.at("node"));
    item.descending = text(sort.body, "sortby_dir") == "SORTBY_DESC";
    const std::string nulls = text(sort.body, "sortby_nulls");
    if (nulls != "SORTBY_NULLS_DEFAULT") item.nulls_first = nulls == "SORTBY_NULLS_FIRST";
    select.order_by.push_back(std::move(item));
  }
  if (text(body, "limitOption") == "LIMIT_OPTION_WITH_TIES") {
    refuse("FETCH FIRST ... WITH TIES", word_near("ties", first_location(body.at("limitCount"))), "use LIMIT");
  }
  select.limit = read_limit(body, "limitCount");
  select.offset = read_limit(body, "limitOffset");
}

// LIMIT ALL is LIMIT NULL: none.
std::shared_ptr<Expr> Reader::read_limit(const Json& body, const char* field) {
  const Json* count = find(body, field);
  return count == nullptr || is_null_constant(*count) ? nullptr : read_optional_expr(body, field);
}

Locking Reader::read_locking(const Json& body, const Select& select) {
  const Json& clauses = list(body, "lockingClause");
  // LockingClause has no place of its own: the word FOR behind what was read last, which is at least behind FROM.
  const int from = first_location(find(body, "fromClause") != nullptr ? body.at("fromClause") : body);
  const int location = word_near("for", from);
  if (clauses.size() != 1) refuse("more than one FOR UPDATE/SHARE", location, "write one, without OF for all tables");
  if (select.op != SetOp::None || !select.values.empty()) {
    refuse("FOR UPDATE/SHARE of a UNION or VALUES", location, "lock the rows in a SELECT of their own");
  }
  const NodeView clause = view(clauses.front());
  if (clause.type != "LockingClause") refuse_node(clauses.front());
  check_fields("LockingClause", clause.body, {"lockedRels", "strength", "waitPolicy"});
  Locking locking;
  const std::string strength = text(clause.body, "strength");
  locking.strength = strength == "LCS_FORUPDATE"        ? LockStrength::Update
                     : strength == "LCS_FORNOKEYUPDATE" ? LockStrength::NoKeyUpdate
                     : strength == "LCS_FORSHARE"       ? LockStrength::Share
                                                        : LockStrength::KeyShare;
  const std::string wait = text(clause.body, "waitPolicy");
  locking.wait = wait == "LockWaitSkip"    ? LockWait::SkipLocked
                 : wait == "LockWaitError" ? LockWait::NoWait
                                           : LockWait::Block;
  for (const Json& node : list(clause.body, "lockedRels")) {
    const NodeView table = view(node);
    if (table.type != "RangeVar") refuse_node(node);
    std::string schema, name;
    read_table(table.body, schema, name, nullptr);
    if (!schema.empty()) {
      fail("FOR UPDATE/SHARE OF takes the name or alias of a table in FROM, without its database",
           location_of(table.body));
    }
    locking.of.push_back(name);
  }
  return locking;
}

std::vector<CommonTable> Reader::read_with(const Json& body) {
  std::vector<CommonTable> all;
  const Json* with = find(body, "withClause");
  if (with == nullptr) return all;
  check_fields("WithClause", *with, {"ctes"});
  for (const Json& node : list(*with, "ctes")) {
    const NodeView common = view(node);
    if (common.type != "CommonTableExpr") refuse_node(node);
    const int location = location_of(common.body);
    check_fields("CommonTableExpr", common.body, {"ctename", "aliascolnames", "ctematerialized", "ctequery"});
    if (text(common.body, "ctematerialized") != "CTEMaterializeDefault") {
      refuse("[NOT] MATERIALIZED", word_near("materialized", location), "leave it out, it does not change the result");
    }
    CommonTable table;
    table.name = text(common.body, "ctename");
    table.columns = names(common.body, "aliascolnames");
    table.statement = std::make_shared<Statement>(read_query_statement(common.body.at("ctequery"), location));
    all.push_back(std::move(table));
  }
  return all;
}

std::vector<Target> Reader::read_targets(const Json& nodes) {
  std::vector<Target> targets;
  for (const Json& node : nodes) {
    const NodeView item = view(node);
    if (item.type != "ResTarget") refuse_node(node);
    check_fields("ResTarget", item.body, {"name", "val"});
    Target target;
    target.alias = text(item.body, "name");
    const NodeView value = view(item.body.at("val"));
    target.expr = value.type == "ColumnRef" ? read_column(value.body, true) : read_expr(item.body.at("val"));
    targets.push_back(std::move(target));
  }
  return targets;
}

std::vector<FromItem> Reader::read_from(const Json& nodes) {
  std::vector<FromItem> items;
  for (const Json& node : nodes) items.push_back(read_from_item(node));
  return items;
}

FromItem Reader::read_from_item(const Json& node) {
  const NodeView item = view(node);
  const bool join = item.type == "JoinExpr";
  const int location = first_location(join ? item.body.at("rarg") : item.body);
  const Level level(*this, 1, location);
  count_nodes(1, location);
  if (join) return read_join(item.body);
  if (item.type == "RangeSubselect") return read_subselect_item(item.body);
  if (item.type != "RangeVar") refuse_node(node);
  FromItem table;
  table.location = original(location);
  read_table(item.body, table.schema, table.table, &table.alias);
  return table;
}

void Reader::read_table(const Json& body, std::string& schema, std::string& table, std::string* alias) {
  check_fields("RangeVar", body, {"schemaname", "relname", "inh", "relpersistence", "alias"});
  const int location = location_of(body);
  if (!flag(body, "inh")) refuse("ONLY before a table", word_before("only", location), "leave it out");
  const std::string persistence = text(body, "relpersistence");
  if (persistence == "t") refuse("a temporary table or sequence", word_before("create", location));
  if (persistence == "u") refuse("UNLOGGED", word_before("unlogged", location), "leave it out");
  schema = text(body, "schemaname");
  table = text(body, "relname");
  if (find(body, "alias") == nullptr) return;
  if (alias == nullptr) refuse("an alias here", location);
  *alias = read_alias(body, "alias");
}

std::string Reader::read_alias(const Json& body, const char* field) {
  const Json* alias = find(body, field);
  if (alias == nullptr) return "";
  if (find(*alias, "colnames") != nullptr) {
    refuse("a list of column names behind an alias", first_location(body), "rename the columns with AS");
  }
  check_fields("Alias", *alias, {"aliasname"});
  return text(*alias, "aliasname");
}

FromItem Reader::read_subselect_item(const Json& body) {
  check_fields("RangeSubselect", body, {"subquery", "alias"});
  const int location = first_location(body.at("subquery"));
  FromItem item;
  item.kind = FromKind::Subselect;
  item.location = original(location);
  item.alias = read_alias(body, "alias");
  const NodeView select = view(body.at("subquery"));
  if (select.type != "SelectStmt") refuse_node(body.at("subquery"));
  item.select = read_select(select.body, location);
  return item;
}

FromItem Reader::read_join(const Json& body) {
  check_fields("JoinExpr", body, {"jointype", "larg", "rarg", "usingClause", "quals"});
  const int right_location = first_location(body.at("rarg"));
  FromItem join;
  join.location = original(right_location);
  join.using_columns = names(body, "usingClause");
  const std::string type = text(body, "jointype");
  const int left_location = first_location(body.at("larg"));
  const bool right = type == "JOIN_RIGHT";  // a LEFT JOIN the other way round
  if (right && view(body.at("larg")).type == "JoinExpr") {
    refuse("RIGHT JOIN behind another join", word_near("right", left_location), "swap the tables and use LEFT JOIN");
  }
  if (type == "JOIN_FULL") refuse("FULL JOIN", word_near("full", left_location));
  if (type != "JOIN_INNER" && type != "JOIN_LEFT" && !right) refuse("this kind of join", right_location);
  const bool joined = !join.using_columns.empty() || find(body, "quals") != nullptr;
  join.kind = type == "JOIN_LEFT" || right ? FromKind::LeftJoin : joined ? FromKind::InnerJoin : FromKind::CrossJoin;
  join.sides.push_back(read_from_item(body.at("larg")));
  join.sides.push_back(read_from_item(body.at("rarg")));
  if (right) std::swap(join.sides[0], join.sides[1]);
  join.swapped = right;
  join.on = read_optional_expr(body, "quals");
  return join;
}

}  // namespace oncecheck::sql

// Reader: INSERT, UPDATE and DELETE.
#include "model/program/mysql_rewrite.hpp"
#include "model/program/sql_reader.hpp"
#include "model/program/sql_refusals.hpp"

namespace oncecheck::sql {

namespace {

// INSERT ... VALUES, and not a query that only begins with VALUES.
bool is_plain_values(const Json& select) {
  if (ReadContext::find(select, "valuesLists") == nullptr) return false;
  for (const char* clause : {"withClause", "sortClause", "limitCount", "limitOffset", "lockingClause"}) {
    if (ReadContext::find(select, clause) != nullptr) return false;
  }
  return true;
}

}  // namespace

Statement Reader::read_query_statement(const Json& node, int location) {
  const NodeView statement = view(node);
  Statement out;
  out.location = original(location);
  if (statement.type == "SelectStmt") {
    out.kind = StatementKind::Select;
    out.select = read_select(statement.body, location);
  } else if (statement.type == "InsertStmt") {
    out.kind = StatementKind::Insert;
    out.insert = read_insert(statement.body);
  } else if (statement.type == "UpdateStmt") {
    out.kind = StatementKind::Update;
    out.update = read_update(statement.body);
  } else if (statement.type == "DeleteStmt") {
    out.kind = StatementKind::Delete;
    out.del = read_delete(statement.body);
  } else {
    refuse(construct_name(statement.type), word_before("merge", first_location(node)));  // only MERGE is left
  }
  return out;
}

std::vector<std::vector<Expr>> Reader::read_rows(const Json& lists, bool defaults) {
  std::vector<std::vector<Expr>> rows;
  for (const Json& node : lists) {
    const NodeView values = view(node);
    if (values.type != "List") refuse_node(node);
    std::vector<Expr> row;
    for (const Json& item : list(values.body, "items")) row.push_back(defaults ? read_value(item) : read_expr(item));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::shared_ptr<Insert> Reader::read_insert(const Json& body) {
  const Json& relation = body.at("relation");
  const int location = location_of(relation);
  const Level level(*this, 1, location);
  check_fields("InsertStmt", body,
               {"relation", "cols", "selectStmt", "onConflictClause", "returningList", "withClause"});
  auto insert = std::make_shared<Insert>();
  insert->location = original(location);
  insert->with = read_with(body);
  read_table(relation, insert->schema, insert->table, &insert->alias);
  for (const Json& node : list(body, "cols")) {
    const NodeView column = view(node);
    if (column.type != "ResTarget") refuse_node(node);
    check_fields("ResTarget", column.body, {"name"});
    insert->columns.push_back(text(column.body, "name"));
  }
  if (const Json* source = find(body, "selectStmt")) {
    const NodeView select = view(*source);
    if (select.type != "SelectStmt") refuse_node(*source);
    if (is_plain_values(select.body)) {
      check_fields("SelectStmt", select.body, {"valuesLists"});
      insert->rows = read_rows(list(select.body, "valuesLists"), true);
    } else {
      const int at = first_location(*source);
      insert->select = read_select(select.body, at < 0 ? location : at);
    }
  } else {
    insert->default_values = true;
    insert->rows.emplace_back();
  }
  insert->on_conflict = read_on_conflict(body);
  insert->returning = read_targets(list(body, "returningList"));
  return insert;
}

OnConflict Reader::read_on_conflict(const Json& body) {
  OnConflict conflict;
  const Json* clause = find(body, "onConflictClause");
  if (clause == nullptr) return conflict;
  check_fields("OnConflictClause", *clause, {"action", "infer", "targetList", "whereClause"});
  conflict.location = original(location_of(*clause));
  conflict.action = text(*clause, "action") == "ONCONFLICT_UPDATE" ? ConflictAction::Update : ConflictAction::Nothing;
  if (const Json* infer = find(*clause, "infer")) {
    check_fields("InferClause", *infer, {"indexElems", "whereClause", "conname"});
    conflict.constraint = text(*infer, "conname");
    for (const Json& node : list(*infer, "indexElems")) {
      const NodeView element = view(node);
      if (element.type != "IndexElem") refuse_node(node);
      if (find(element.body, "expr") != nullptr) {
        refuse("an expression in ON CONFLICT (...)", first_location(node), "name columns");
      }
      check_fields("IndexElem", element.body, {"name"});
      conflict.columns.push_back(text(element.body, "name"));
    }
    conflict.target_where = read_optional_expr(*infer, "whereClause");
  }
  conflict.set = read_assignments(list(*clause, "targetList"));
  conflict.where = read_optional_expr(*clause, "whereClause");
  return conflict;
}

std::vector<Assignment> Reader::read_assignments(const Json& nodes) {
  std::vector<Assignment> all;
  for (const Json& node : nodes) {
    const NodeView target = view(node);
    if (target.type != "ResTarget") refuse_node(node);
    check_fields("ResTarget", target.body, {"name", "val"});
    Assignment assignment;
    const int location = location_of(target.body);
    assignment.column = text(target.body, "name");
    assignment.location = original(location);
    const Json* value = &target.body.at("val");
    const NodeView multiple = view(*value);
    if (multiple.type == "MultiAssignRef") {
      // SET (a, b) = (x, y): the n-th column gets a copy of the whole right side.
      check_fields("MultiAssignRef", multiple.body, {"source", "colno", "ncolumns"});
      const NodeView row = view(multiple.body.at("source"));
      if (row.type == "SubLink") {
        refuse("SET (a, b) = (SELECT ...)", location_of(row.body), "set each column from a subselect of its own");
      }
      const Json& items = list(row.body, "args");
      const std::size_t columns = multiple.body.at("ncolumns").get<std::size_t>();
      if (row.type != "RowExpr" || items.size() != columns) {
        fail("SET (a, b) = (x, y) needs as many values as columns", location);
      }
      value = &items[multiple.body.at("colno").get<std::size_t>() - 1];
    }
    assignment.value = read_value(*value);
    all.push_back(std::move(assignment));
  }
  return all;
}

// ORDER BY and LIMIT of a write, which the rewriter put into a common table.
void Reader::take_order_of_write(std::vector<CommonTable>& with, std::vector<OrderItem>& order,
                                 std::shared_ptr<Expr>& limit) {
  if (!sql().mysql() || with.empty() || with.front().name != kOrderOfWrite) return;
  Select& carrier = *with.front().statement->select;
  if (carrier.offset) refuse("LIMIT a, b of UPDATE or DELETE", word_near("limit", 0));
  order = std::move(carrier.order_by);
  limit = std::move(carrier.limit);
  with.erase(with.begin());
}

std::shared_ptr<Update> Reader::read_update(const Json& body) {
  const Json& relation = body.at("relation");
  const int location = location_of(relation);
  const Level level(*this, 1, location);
  check_fields("UpdateStmt", body,
               {"relation", "targetList", "whereClause", "fromClause", "returningList", "withClause"});
  auto update = std::make_shared<Update>();
  update->location = original(location);
  update->with = read_with(body);
  take_order_of_write(update->with, update->order_by, update->limit);
  read_table(relation, update->schema, update->table, &update->alias);
  update->set = read_assignments(list(body, "targetList"));
  update->from = read_from(list(body, "fromClause"));
  update->where = read_optional_expr(body, "whereClause");
  update->returning = read_targets(list(body, "returningList"));
  return update;
}

std::shared_ptr<Delete> Reader::read_delete(const Json& body) {
  const Json& relation = body.at("relation");
  const int location = location_of(relation);
  const Level level(*this, 1, location);
  check_fields("DeleteStmt", body, {"relation", "usingClause", "whereClause", "returningList", "withClause"});
  auto del = std::make_shared<Delete>();
  del->location = original(location);
  del->with = read_with(body);
  take_order_of_write(del->with, del->order_by, del->limit);
  read_table(relation, del->schema, del->table, &del->alias);
  del->using_items = read_from(list(body, "usingClause"));
  del->where = read_optional_expr(body, "whereClause");
  del->returning = read_targets(list(body, "returningList"));
  return del;
}

}  // namespace oncecheck::sql

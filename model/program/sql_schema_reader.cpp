#include "model/program/sql_schema_reader.hpp"

#include "model/program/mysql_rewrite.hpp"
#include "model/program/sql_types.hpp"

namespace oncecheck::sql {

namespace {

class TableReader {
 public:
  explicit TableReader(Reader& reader) : reader_(reader) {}

  std::shared_ptr<CreateTable> read(const Json& body) {
    reader_.check_fields("CreateStmt", body, {"relation", "tableElts", "if_not_exists"});
    table_ = std::make_shared<CreateTable>();
    const Json& relation = body.at("relation");
    table_->location = reader_.original(Reader::location_of(relation));
    reader_.read_table(relation, table_->schema, table_->table, nullptr);
    table_->if_not_exists = Reader::flag(body, "if_not_exists");
    for (const Json& node : Reader::list(body, "tableElts")) {
      const NodeView element = reader_.view(node);
      if (element.type == "ColumnDef") {
        read_column(element.body);
      } else if (element.type == "Constraint") {
        read_table_constraint(element.body);
      } else {
        reader_.refuse_node(node);
      }
    }
    return std::move(table_);
  }

 private:
  void read_column(const Json& body) {
    reader_.check_fields("ColumnDef", body, {"colname", "typeName", "is_local", "constraints"});
    const int location = Reader::location_of(body);
    reader_.count_nodes(1, location);
    ColumnDef column;
    column.name = Reader::text(body, "colname");
    column.location = reader_.original(location);
    column.type = read_type(reader_, body.at("typeName"), TypeUse::Column);
    if (column.type == "text") column.length = read_length(body.at("typeName"));
    const bool serial = column.type == "serial" || column.type == "bigserial";
    bool nullable = false;
    for (const Json& node : Reader::list(body, "constraints")) {
      const NodeView constraint = reader_.view(node);
      if (constraint.type != "Constraint") reader_.refuse_node(node);
      nullable = nullable || Reader::text(constraint.body, "contype") == "CONSTR_NULL";
      read_column_constraint(column, constraint.body);
    }
    column.not_null = column.not_null || column.identity || serial;
    if (nullable && (column.not_null || column.primary_key)) {
      reader_.fail("column \"" + column.name + "\" is declared NULL and NOT NULL", location);
    }
    table_->columns.push_back(std::move(column));
  }

  // varchar(20); -1 for a type without a length.
  int read_length(const Json& type_name) {
    const Json& modifiers = Reader::list(type_name, "typmods");
    const Json* number = modifiers.size() == 1 ? Reader::find(reader_.view(modifiers.front()).body, "ival") : nullptr;
    const Json* length = number != nullptr ? Reader::find(*number, "ival") : nullptr;
    return length != nullptr && length->is_number_integer() ? length->get<int>() : -1;
  }

  void read_column_constraint(ColumnDef& column, const Json& body) {
    const std::string type = Reader::text(body, "contype");
    const int location = Reader::location_of(body);
    // What PostgreSQL takes for granted, or forgets: the name of a NOT NULL or DEFAULT.
    if (type == "CONSTR_NULL" || type == "CONSTR_ATTR_NOT_DEFERRABLE" || type == "CONSTR_ATTR_IMMEDIATE") return;
    if (type == "CONSTR_NOTNULL") {
      reader_.check_fields("Constraint", body, {"contype", "conname"});
      column.not_null = true;
    } else if (type == "CONSTR_DEFAULT") {
      reader_.check_fields("Constraint", body, {"contype", "conname", "raw_expr"});
      if (column.default_value) reader_.fail("column \"" + column.name + "\" has two DEFAULTs", location);
      column.default_value = reader_.read_optional_expr(body, "raw_expr");
    } else if (type == "CONSTR_IDENTITY") {
      if (Reader::find(body, "options") != nullptr) {
        reader_.refuse("an option of an identity column", Reader::first_location(body.at("options")), "leave it out");
      }
      reader_.check_fields("Constraint", body, {"contype", "conname", "generated_when"});
      column.identity = true;
      column.always = Reader::text(body, "generated_when") == "a";
    } else {
      add_column_constraint(column, read_constraint(body));
    }
  }

  void add_column_constraint(ColumnDef& column, TableConstraint constraint) {
    if (!constraint.name.empty()) {
      // Its name matters to ON CONFLICT ON CONSTRAINT.
      if (constraint.columns.empty() && constraint.kind != ConstraintKind::Check) constraint.columns = {column.name};
      table_->constraints.push_back(std::move(constraint));
      return;
    }
    switch (constraint.kind) {
      case ConstraintKind::PrimaryKey: column.primary_key = true; break;
      case ConstraintKind::Unique: column.unique = true; break;
      case ConstraintKind::PlainIndex: break;  // never behind a column
      case ConstraintKind::Check: add_check(column, std::move(constraint)); break;
      case ConstraintKind::ForeignKey:
        if (!column.references_table.empty()) {
          constraint.columns = {column.name};
          table_->constraints.push_back(std::move(constraint));
        } else {
          column.references_table = std::move(constraint.references_table);
          column.references_columns = std::move(constraint.references_columns);
          column.on_delete = constraint.on_delete;
          column.on_update = constraint.on_update;
        }
        break;
    }
  }

  // A second CHECK of a column has no place there.
  void add_check(ColumnDef& column, TableConstraint constraint) {
    if (column.check) {
      table_->constraints.push_back(std::move(constraint));
    } else {
      column.check = std::move(constraint.check);
    }
  }

  void read_table_constraint(const Json& body) { table_->constraints.push_back(read_constraint(body)); }

  TableConstraint read_constraint(const Json& body) {
    const std::string type = Reader::text(body, "contype");
    const int location = Reader::location_of(body);
    reader_.count_nodes(1, location);
    TableConstraint constraint;
    constraint.location = reader_.original(location);
    constraint.name = Reader::text(body, "conname");
    if (type == "CONSTR_PRIMARY" || type == "CONSTR_UNIQUE") {
      reader_.check_fields("Constraint", body, {"contype", "conname", "keys"});
      constraint.kind = type == "CONSTR_PRIMARY" ? ConstraintKind::PrimaryKey : ConstraintKind::Unique;
      constraint.columns = reader_.names(body, "keys");
      if (reader_.sql().mysql() && constraint.name.starts_with(kPlainIndex)) {
        constraint.kind = ConstraintKind::PlainIndex;
        constraint.name.erase(0, kPlainIndex.size());
      }
    } else if (type == "CONSTR_CHECK") {
      reader_.check_fields("Constraint", body, {"contype", "conname", "raw_expr", "initially_valid"});
      constraint.kind = ConstraintKind::Check;
      constraint.check = reader_.read_optional_expr(body, "raw_expr");
    } else if (type == "CONSTR_FOREIGN") {
      read_foreign_key(body, constraint);
    } else if (type == "CONSTR_GENERATED") {
      reader_.refuse("a generated column", location, "compute the value where it is written");
    } else if (type == "CONSTR_EXCLUSION") {
      reader_.refuse("EXCLUDE", location, "use UNIQUE");
    } else if (type == "CONSTR_ATTR_DEFERRABLE" || type == "CONSTR_ATTR_DEFERRED") {
      reader_.refuse("a DEFERRABLE constraint", location);
    } else {
      reader_.refuse("this constraint", location);
    }
    return constraint;
  }

  void read_foreign_key(const Json& body, TableConstraint& constraint) {
    const int location = Reader::location_of(body);
    reader_.check_fields("Constraint", body,
                         {"contype", "conname", "pktable", "fk_attrs", "pk_attrs", "fk_matchtype", "fk_upd_action",
                          "fk_del_action", "initially_valid", "fk_del_set_cols", "skip_validation"});
    constraint.kind = ConstraintKind::ForeignKey;
    std::string schema;
    reader_.read_table(body.at("pktable"), schema, constraint.references_table, nullptr);
    if (!schema.empty()) {
      reader_.refuse("a foreign key into a named schema", Reader::location_of(body.at("pktable")),
                     "tables refer to tables of their own database");
    }
    constraint.columns = reader_.names(body, "fk_attrs");
    constraint.references_columns = reader_.names(body, "pk_attrs");
    if (Reader::text(body, "fk_matchtype") != "s") {
      reader_.refuse("MATCH FULL", reader_.word_near("match", location), "leave it out");
    }
    constraint.on_delete = read_action("ON DELETE", Reader::text(body, "fk_del_action"), location);
    constraint.on_update = read_action("ON UPDATE", Reader::text(body, "fk_upd_action"), location);
    if (Reader::flag(body, "skip_validation")) reader_.refuse("NOT VALID", location);
  }

  ParentAction read_action(const std::string& event, const std::string& action, int location) {
    if (action == "c") return ParentAction::Cascade;
    if (action == "n") return ParentAction::SetNull;
    if (action == "r") return ParentAction::Restrict;
    if (action != "d") return ParentAction::NoAction;
    const std::string word = event == "ON DELETE" ? "delete" : "update";
    reader_.refuse(event + " SET DEFAULT", reader_.word_near(word, location),
                   "CASCADE, SET NULL, RESTRICT and NO ACTION are supported");
  }

  Reader& reader_;
  std::shared_ptr<CreateTable> table_;
};

}  // namespace

std::shared_ptr<CreateTable> read_create_table(Reader& reader, const Json& body) {
  return TableReader(reader).read(body);
}

std::shared_ptr<CreateIndex> read_create_index(Reader& reader, const Json& body) {
  reader.check_fields("IndexStmt", body,
                      {"idxname", "relation", "accessMethod", "indexParams", "whereClause", "unique"});
  auto index = std::make_shared<CreateIndex>();
  const Json& relation = body.at("relation");
  const int location = Reader::location_of(relation);
  reader.count_nodes(1, location);
  index->location = reader.original(location);
  reader.read_table(relation, index->schema, index->table, nullptr);
  index->name = Reader::text(body, "idxname");
  index->unique = Reader::flag(body, "unique");
  const std::string method = Reader::text(body, "accessMethod");
  if (method != "btree") {
    reader.refuse("USING " + method, reader.word_near("using", location), "leave it out, the model has no use for it");
  }
  for (const Json& node : Reader::list(body, "indexParams")) {
    const NodeView element = reader.view(node);
    if (element.type != "IndexElem") reader.refuse_node(node);
    // ASC is the default.
    if (Reader::text(element.body, "ordering") == "SORTBY_ASC") {
      reader.check_fields("IndexElem", element.body, {"name", "ordering"});
    } else {
      reader.check_fields("IndexElem", element.body, {"name"});
    }
    index->columns.push_back(Reader::text(element.body, "name"));
  }
  index->where = reader.read_optional_expr(body, "whereClause");
  return index;
}

std::string read_create_sequence(Reader& reader, const Json& body) {
  reader.check_fields("CreateSeqStmt", body, {"sequence"});
  std::string schema, name;
  const Json& sequence = body.at("sequence");
  reader.read_table(sequence, schema, name, nullptr);
  if (!schema.empty()) {
    reader.refuse("a sequence in a named schema", Reader::location_of(sequence), "write its name alone");
  }
  return name;
}

}  // namespace oncecheck::sql

// CREATE TABLE, CREATE INDEX and CREATE SEQUENCE from the parse tree.
#pragma once

#include <memory>

#include "model/program/sql_reader.hpp"

namespace oncecheck::sql {

// A column's constraint with a name of its own becomes a table constraint. Serial and identity columns are NOT NULL.
std::shared_ptr<CreateTable> read_create_table(Reader& reader, const Json& body);
std::shared_ptr<CreateIndex> read_create_index(Reader& reader, const Json& body);
// The name of the sequence.
std::string read_create_sequence(Reader& reader, const Json& body);

}  // namespace oncecheck::sql

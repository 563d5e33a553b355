// Transaction control and SET from the parse tree.
#pragma once

#include "model/program/sql_reader.hpp"

namespace oncecheck::sql {

// BEGIN, COMMIT, ROLLBACK, SAVEPOINT, ROLLBACK TO and RELEASE. `location` is where the statement begins, an offset into
// the rewritten text.
Statement read_transaction(const Reader& reader, const Json& body, int location);

// SET [LOCAL] name = value. SET TRANSACTION ISOLATION LEVEL x is SET transaction_isolation = 'x'.
Statement read_set(const Reader& reader, const Json& body, int location);

}  // namespace oncecheck::sql

#include "sim/conform/error_codes.hpp"

#include <sstream>

namespace oncecheck {

namespace {

// Codes with blanks between them, the usual one first. A class without codes is one that this engine never reports.
struct Row {
  ErrorClass error;
  const char* postgres;
  const char* mariadb;
  const char* mysql;
};

const Row kRows[] = {
    {ErrorClass::UniqueViolation, "23505", "1062", "1062"},
    {ErrorClass::NotNullViolation, "23502", "1048 1364", "1048 1364"},
    {ErrorClass::ForeignKeyViolation, "23503", "1452 1451", "1452 1451"},
    {ErrorClass::CheckViolation, "23514", "4025", "3819"},
    // MariaDB 1020: innodb_snapshot_isolation.
    {ErrorClass::SerializationFailure, "40001", "1020", ""},
    // MySQL 3058: a cycle of GET_LOCK.
    {ErrorClass::Deadlock, "40P01", "1213", "1213 3058"},
    {ErrorClass::LockTimeout, "55P03", "1205", "1205"},
    // MariaDB has no code of its own for NOWAIT.
    {ErrorClass::LockNotAvailable, "55P03", "1205", "3572"},
    {ErrorClass::StatementTimeout, "57014", "1317 1969", "1317 3024"},
    {ErrorClass::InFailedTransaction, "25P02", "", ""},
    // What the client sees of a lost connection depends on when it looks.
    {ErrorClass::ConnectionLost, "CONN_LOST 57P01 25P03", "CONN_LOST 1927", "CONN_LOST 4031"},
    {ErrorClass::CardinalityViolation, "21000", "1242", "1242"},
    {ErrorClass::NoSuchSavepoint, "3B001", "1305", "1305"},
    {ErrorClass::NoActiveTransaction, "25P01", "", ""},
    {ErrorClass::ReadOnlyTransaction, "25006", "1792", "1792"},
    {ErrorClass::SyntaxError, "42601", "1064", "1064"},
    {ErrorClass::UpdateTableUsed, "", "", "1093"},
    {ErrorClass::ColumnCount, "42601", "1136", "1136"},
    {ErrorClass::ColumnTwice, "42701", "1110", "1110"},
    {ErrorClass::DivisionByZero, "22012", "1365", "1365"},
    {ErrorClass::OutOfRange, "22003", "1264 1690", "1264 1690"},
    {ErrorClass::TextTooLong, "22001", "1406", "1406"},
    {ErrorClass::GeneratedAlways, "428C9", "", ""},
    {ErrorClass::NegativeLimit, "2201W 2201X", "", ""},
    // No AUTO_INCREMENT number could be read; SET TRANSACTION inside a transaction.
    {ErrorClass::Other, "", "1467 1568", "1568"},
};

const char* codes_of(Engine engine, ErrorClass error) {
  for (const Row& row : kRows) {
    if (row.error == error) return engine == Engine::Postgres ? row.postgres : engine == Engine::MariaDb ? row.mariadb : row.mysql;
  }
  return "";
}

}  // namespace

bool is_code_of(Engine engine, ErrorClass error, const std::string& code) {
  if (error == ErrorClass::None) return code.empty();
  std::istringstream codes(codes_of(engine, error));
  for (std::string one; codes >> one;) {
    if (one == code) return true;
  }
  return false;
}

std::string usual_code(Engine engine, ErrorClass error) {
  std::istringstream codes(codes_of(engine, error));
  std::string first;
  codes >> first;
  return first;
}

}  // namespace oncecheck

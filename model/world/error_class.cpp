#include "model/world/plan.hpp"

namespace oncecheck {

const char* error_class_name(ErrorClass e) {
  switch (e) {
    case ErrorClass::None: return "none";
    case ErrorClass::UniqueViolation: return "unique_violation";
    case ErrorClass::NotNullViolation: return "not_null_violation";
    case ErrorClass::ForeignKeyViolation: return "fk_violation";
    case ErrorClass::CheckViolation: return "check_violation";
    case ErrorClass::SerializationFailure: return "serialization_failure";
    case ErrorClass::Deadlock: return "deadlock";
    case ErrorClass::LockTimeout: return "lock_timeout";
    case ErrorClass::LockNotAvailable: return "lock_not_available";
    case ErrorClass::StatementTimeout: return "statement_timeout";
    case ErrorClass::InFailedTransaction: return "in_failed_transaction";
    case ErrorClass::ConnectionLost: return "connection_lost";
    case ErrorClass::CardinalityViolation: return "cardinality_violation";
    case ErrorClass::NoSuchSavepoint: return "no_such_savepoint";
    case ErrorClass::NoActiveTransaction: return "no_active_transaction";
    case ErrorClass::ReadOnlyTransaction: return "read_only_transaction";
    case ErrorClass::SyntaxError: return "syntax_error";
    case ErrorClass::UpdateTableUsed: return "update_table_used";
    case ErrorClass::ColumnCount: return "column_count";
    case ErrorClass::ColumnTwice: return "column_named_twice";
    case ErrorClass::DivisionByZero: return "division_by_zero";
    case ErrorClass::OutOfRange: return "number_out_of_range";
    case ErrorClass::TextTooLong: return "text_too_long";
    case ErrorClass::GeneratedAlways: return "generated_always";
    case ErrorClass::NegativeLimit: return "negative_limit";
    case ErrorClass::NoReplicas: return "noreplicas";
    case ErrorClass::OutOfMemory: return "oom";
    case ErrorClass::NotAnInteger: return "not_an_integer";
    case ErrorClass::ReadOnlyReplica: return "readonly";
    case ErrorClass::ExecAborted: return "execabort";
    case ErrorClass::MasterDown: return "masterdown";
    case ErrorClass::Unblocked: return "unblocked";
    case ErrorClass::Other: return "other";
  }
  return "other";
}

bool is_other(ErrorClass e) {
  const bool named = e == ErrorClass::NoReplicas || e == ErrorClass::NotAnInteger || e == ErrorClass::ExecAborted;
  return e >= ErrorClass::SyntaxError && !named;
}

}  // namespace oncecheck

#include "model/world/plan.hpp"

namespace oncecheck {

const char* error_class_name(ErrorClass e) {
  switch (e) {
    case ErrorClass::None: return "none";
    case ErrorClass::UniqueViolation: return "unique_violation";
    case ErrorClass::NotNullViolation: return "not_null_violation";
    case ErrorClass::SerializationFailure: return "serialization_failure";
    case ErrorClass::Deadlock: return "deadlock";
    case ErrorClass::LockTimeout: return "lock_timeout";
    case ErrorClass::LockNotAvailable: return "lock_not_available";
    case ErrorClass::InFailedTransaction: return "in_failed_transaction";
    case ErrorClass::Other: return "other";
  }
  return "other";
}

}  // namespace oncecheck

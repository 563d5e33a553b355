// Kinds of the steps of a scan (RowCursor::Step::kind). Internal to innodb_access.cpp and innodb_scan.cpp.
#pragma once

namespace oncecheck {

enum StepKind : int {
  kStepRow,      // a record of the range
  kStepPoint,    // a record with the only key of a unique search: the search ends with it if it is alive
  kStepGap,      // only the gap before the record, which ends the range
  kStepBeyond,   // the record behind the range
  kStepBefore,   // a record before the range, which a backward scan reads as a row: the first that is alive ends the scan
  kStepVersion,  // a version to read without a lock
};

}  // namespace oncecheck

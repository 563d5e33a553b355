// Recorded vectors against the model. A vector *agrees* when the model allows exactly the recorded outcome under the recorded
// order of steps; it is *allowed* when that outcome is one of several that the model explores; *unsupported* when it uses what
// the model refuses; else a *mismatch*.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/conform/driver.hpp"

namespace oncecheck {

enum class ConformVerdict { Agree, Allowed, Unsupported, Mismatch };
inline constexpr int kConformVerdicts = 4;
const char* conform_verdict_name(ConformVerdict v);

struct RecordingResult {
  ConformVerdict verdict = ConformVerdict::Agree;
  std::string reason;                   // Unsupported: what the model refuses, and where
  std::vector<Divergence> divergences;  // what the model gives besides the record, or instead of it
};

struct ConformResult {
  Vector vector;
  ConformVerdict verdict = ConformVerdict::Agree;
  std::string reason;
  std::vector<RecordingResult> recordings;  // as Vector::recordings
};

ConformResult conform(Vector vector);

struct ConformOptions {
  std::string engine;  // only vectors whose engine begins so; "": all
  int threads = 0;               // 0: one a core. The report is the same for any number
};

struct ConformReport {
  std::vector<ConformResult> results;  // in the order of the files
  std::vector<Diagnostic> mistakes;    // in files that are vectors but not well-formed
  int not_vectors = 0;                 // files passed over
  std::array<int, kConformVerdicts> counts{};
};

ConformReport conform_files(const std::vector<std::string>& files, const ConformOptions& options);

}  // namespace oncecheck

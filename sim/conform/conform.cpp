#include "sim/conform/conform.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "sim/conform/redis_driver.hpp"

namespace oncecheck {

namespace {

constexpr int kMostCompilations = 60;

std::string refusal(const ScenarioError& e) {
  const Diagnostic& first = e.diagnostics().front();
  std::string out = first.message;
  if (!first.at.pointer.empty()) out += " (at " + first.at.pointer + ")";
  const std::size_t more = e.diagnostics().size() - 1;
  return more == 0 ? out : out + ", and " + std::to_string(more) + " more";
}

bool add_missing(const DriveResult& r, ExtraValues& extra) {
  bool added = false;
  for (const std::string& text : r.missing_texts) added = extra.texts.insert(text).second || added;
  for (std::int64_t n : r.missing_ints) added = extra.ints.insert(n).second || added;
  return added;
}

RecordingResult conform_recording(const Vector& vector, const Recording& recording) {
  RecordingResult out;
  ExtraValues extra;
  // The domain of values is fixed when a program is compiled; what the vector turns out to need on top is added.
  for (int round = 0; round < kMostCompilations; ++round) {
    VectorProgram program;
    RedisVectorProgram redis;
    try {
      if (vector.redis) {
        redis = compile_redis_vector(vector, extra);
      } else {
        program = compile_vector(vector, recording, extra);
      }
    } catch (const ScenarioError& e) {
      out.verdict = ConformVerdict::Unsupported;
      out.reason = refusal(e);
      return out;
    }
    DriveResult run = vector.redis ? drive_redis(vector, recording, redis) : drive(vector, recording, program, Victims::AsRecorded);
    const bool as_recorded = run.reached;
    if (!vector.redis && !run.reached && run.limit.empty()) {
      std::vector<Divergence> first = std::move(run.divergences);
      run = drive(vector, recording, program, Victims::Any);
      if (!run.reached && run.limit.empty()) run.divergences = std::move(first);
    }
    if (!run.limit.empty()) {
      if (add_missing(run, extra)) continue;
      out.verdict = ConformVerdict::Unsupported;
      out.reason = run.limit;
      return out;
    }
    out.verdict = !run.reached                                   ? ConformVerdict::Mismatch
                  : as_recorded && run.divergences.empty() ? ConformVerdict::Agree
                                                           : ConformVerdict::Allowed;
    out.divergences = std::move(run.divergences);
    return out;
  }
  out.verdict = ConformVerdict::Unsupported;
  out.reason = "its values do not come to an end";
  return out;
}

}  // namespace

const char* conform_verdict_name(ConformVerdict v) {
  switch (v) {
    case ConformVerdict::Agree: return "agree";
    case ConformVerdict::Allowed: return "allowed";
    case ConformVerdict::Unsupported: return "unsupported";
    case ConformVerdict::Mismatch: return "mismatch";
  }
  return "?";
}

ConformResult conform(Vector vector) {
  ConformResult out;
  for (const Recording& recording : vector.recordings) {
    RecordingResult one = conform_recording(vector, recording);
    // The worst of them; the enumeration ascends.
    if (one.verdict > out.verdict) {
      out.verdict = one.verdict;
      out.reason = one.reason;
    }
    out.recordings.push_back(std::move(one));
  }
  // Each of several recorded outcomes is one that the model may give.
  if (vector.recordings.size() > 1) out.verdict = std::max(out.verdict, ConformVerdict::Allowed);
  out.vector = std::move(vector);
  return out;
}

ConformReport conform_files(const std::vector<std::string>& files, const ConformOptions& options) {
  struct Slot {
    std::optional<ConformResult> result;
    std::vector<Diagnostic> mistakes;
    std::exception_ptr bug;
    bool is_vector = true;
  };
  std::vector<Slot> slots(files.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next.fetch_add(1); i < files.size(); i = next.fetch_add(1)) {
      Slot& slot = slots[i];
      try {
        std::optional<Vector> vector = read_vector(files[i]);
        slot.is_vector = vector.has_value();
        if (vector && vector->engine_name.starts_with(options.engine)) slot.result = conform(std::move(*vector));
      } catch (const ScenarioError& e) {
        slot.mistakes = e.diagnostics();
      } catch (...) {
        slot.bug = std::current_exception();  // it must not leave the thread
      }
    }
  };
  const int threads = options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  for (int t = 1; t < threads; ++t) pool.emplace_back(work);
  work();
  for (std::thread& t : pool) t.join();

  ConformReport report;
  for (Slot& slot : slots) {
    if (slot.bug) std::rethrow_exception(slot.bug);
    if (!slot.is_vector) ++report.not_vectors;
    report.mistakes.insert(report.mistakes.end(), slot.mistakes.begin(), slot.mistakes.end());
    if (!slot.result) continue;
    ++report.counts[static_cast<std::size_t>(slot.result->verdict)];
    report.results.push_back(std::move(*slot.result));
  }
  return report;
}

}  // namespace oncecheck

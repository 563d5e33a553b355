#include "reports/conform_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "reports/version.hpp"
#include "sim/conform/redis_vector.hpp"

namespace oncecheck {

namespace {

using Counts = std::array<int, kConformVerdicts>;

const char* operation_name(VectorOp op) {
  switch (op) {
    case VectorOp::Sql: return "";
    case VectorOp::Sleep: return "sleep";
    case VectorOp::Terminate: return "terminate";
    case VectorOp::Cancel: return "cancel";
    case VectorOp::DropClient: return "drop the client of";
    case VectorOp::Reconnect: return "reconnect";
    case VectorOp::Pause: return "pause";
    case VectorOp::Resume: return "resume";
    case VectorOp::Redis: return "";
  }
  return "?";
}

std::string step_text(const Vector& v, const VectorStep& s) {
  if (s.op == VectorOp::Redis) return s.sql;
  if (s.op == VectorOp::Sleep) return fmt::format("sleep {} ms", s.milliseconds);
  const std::string& session = v.sessions[static_cast<std::size_t>(s.session)];
  return s.op == VectorOp::Sql ? session + ": " + s.sql : fmt::format("{} {}", operation_name(s.op), session);
}

std::string tables_text(const Divergence& d) {
  std::string out;
  for (const Divergence::Line& line : d.lines) {
    out += fmt::format("      expected at the end: {}\n      got at the end:      {}\n", line.expected, line.got);
  }
  return out;
}

// The steps up to the one at which the model leaves the record, then expected against got.
std::string mismatch_text(const ConformResult& r, std::size_t number) {
  const Vector& v = r.vector;
  const Recording& recording = v.recordings[number];
  const RecordingResult& result = r.recordings[number];
  if (result.divergences.empty()) return "";
  // The path that follows the record longest tells most.
  const Divergence& d = result.divergences.front();
  std::string out;
  const int count = static_cast<int>(recording.steps.size());
  for (int i = 0; i <= std::min(d.step, count - 1); ++i) {
    const auto at = static_cast<std::size_t>(i);
    out += fmt::format("    {:>2} {}\n", i, step_text(v, recording.steps[at]));
    const auto line = std::find_if(d.lines.begin(), d.lines.end(), [&](const auto& l) { return l.step == i; });
    if (line == d.lines.end()) {
      const RecordedOutcome& o = recording.outcomes[at];
      out += fmt::format("         {}\n", v.redis ? describe_redis(o.result, o.error, i, o.until) : describe(o, i));
      continue;
    }
    out += fmt::format("         expected: {}\n         got:      {}\n", line->expected, line->got);
    for (const Divergence& other : result.divergences) {
      if (&other == &d || other.step != d.step) continue;
      for (const auto& l : other.lines) {
        if (l.step == i && l.got != line->got) out += fmt::format("         or:       {}\n", l.got);
      }
    }
  }
  return out + (d.step == count ? tables_text(d) : "");
}

std::string head(const ConformResult& r) {
  if (r.vector.redis) return fmt::format("{} {}  ({}, {})\n", conform_verdict_name(r.verdict), r.vector.name, r.vector.engine_name, r.vector.topic);
  const bool one_level = std::all_of(r.vector.isolation.begin(), r.vector.isolation.end(),
                                     [&](Isolation i) { return i == r.vector.isolation.front(); });
  return fmt::format("{} {}  ({}, {}, {})\n", conform_verdict_name(r.verdict), r.vector.name, r.vector.engine_name,
                     one_level && !r.vector.isolation.empty() ? isolation_name(r.vector.isolation.front()) : "mixed levels", r.vector.topic);
}

std::string row(const std::string& engine, const std::string& topic, const Counts& c) {
  return fmt::format("  {:<14} {:<16} {:>6} {:>8} {:>12} {:>9}\n", engine, topic, c[0], c[1], c[2], c[3]);
}

std::string table(const ConformReport& report) {
  std::map<std::pair<std::string, std::string>, Counts> topics;
  std::map<std::string, Counts> engines;
  for (const ConformResult& r : report.results) {
    const auto verdict = static_cast<std::size_t>(r.verdict);
    ++topics[{r.vector.engine_name, r.vector.topic}][verdict];
    ++engines[r.vector.engine_name][verdict];
  }
  std::string out = fmt::format("  {:<14} {:<16} {:>6} {:>8} {:>12} {:>9}\n", "engine", "topic", "agree", "allowed", "unsupported", "mismatch");
  for (const auto& [name, total] : engines) {
    for (const auto& [key, counts] : topics) {
      if (key.first == name) out += row(name, key.second, counts);
    }
    out += row(name, "all", total);
  }
  return out;
}

nlohmann::ordered_json divergence_json(const Divergence& d) {
  nlohmann::ordered_json j;
  j["step"] = d.step;
  j["differences"] = nlohmann::ordered_json::array();
  for (const Divergence::Line& line : d.lines) {
    nlohmann::ordered_json l;
    if (line.step >= 0) l["step"] = line.step;
    l["expected"] = line.expected;
    l["got"] = line.got;
    j["differences"].push_back(std::move(l));
  }
  return j;
}

}  // namespace

std::string to_text(const ConformReport& report, const ConformText& options) {
  std::string out;
  for (const ConformResult& r : report.results) {
    for (std::size_t i = 0; i < r.recordings.size(); ++i) {
      const RecordingResult& one = r.recordings[i];
      const bool differs = one.verdict == ConformVerdict::Mismatch || (options.verbose && one.verdict == ConformVerdict::Allowed);
      if (!differs || one.divergences.empty()) continue;
      out += head(r);
      if (r.vector.alternatives) out += fmt::format("    alternative {} of {}\n", i + 1, r.recordings.size());
      if (one.verdict == ConformVerdict::Allowed) out += "    the record, or else\n";
      out += mismatch_text(r, i) + "\n";
    }
  }
  bool any = false;
  for (const ConformResult& r : report.results) {
    if (r.verdict != ConformVerdict::Unsupported) continue;
    out += fmt::format("unsupported {}: {}\n", r.vector.name, r.reason);
    any = true;
  }
  if (any) out += "\n";
  if (!options.quiet && !report.results.empty()) out += table(report) + "\n";
  if (report.not_vectors > 0) out += fmt::format("{} files passed over: no vectors\n", report.not_vectors);
  return out + fmt::format("{} vectors: {} agree, {} allowed, {} unsupported, {} mismatch\n", report.results.size(), report.counts[0],
                           report.counts[1], report.counts[2], report.counts[3]);
}

std::string to_json(const ConformReport& report) {
  nlohmann::ordered_json j;
  j["tool"] = "oncecheck";
  j["version"] = kVersion;
  j["mode"] = "conform";
  for (int v = 0; v < kConformVerdicts; ++v) {
    j["counts"][conform_verdict_name(static_cast<ConformVerdict>(v))] = report.counts[static_cast<std::size_t>(v)];
  }
  j["not_vectors"] = report.not_vectors;
  j["vectors"] = nlohmann::ordered_json::array();
  for (const ConformResult& r : report.results) {
    nlohmann::ordered_json one;
    one["name"] = r.vector.name;
    one["file"] = r.vector.file;
    one["engine"] = r.vector.engine_name;
    one["topic"] = r.vector.topic;
    one["verdict"] = conform_verdict_name(r.verdict);
    if (!r.reason.empty()) one["reason"] = r.reason;
    one["recordings"] = nlohmann::ordered_json::array();
    for (const RecordingResult& recording : r.recordings) {
      nlohmann::ordered_json k;
      k["verdict"] = conform_verdict_name(recording.verdict);
      k["divergences"] = nlohmann::ordered_json::array();
      for (const Divergence& d : recording.divergences) k["divergences"].push_back(divergence_json(d));
      one["recordings"].push_back(std::move(k));
    }
    j["vectors"].push_back(std::move(one));
  }
  return j.dump(2) + "\n";
}

}  // namespace oncecheck
